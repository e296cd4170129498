// cli/matrix_shape.hpp -- the shape of a matrix on the command line.
#pragma once
#include <string_view>

#include <vouch/reduce/matrix_set.hpp>

namespace vouch::cli {

/// Reads "3x3"; throws usage_error.
set_shape parse_shape(std::string_view option, std::string_view text);

}  // namespace vouch::cli
