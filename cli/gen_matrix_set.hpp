// cli/gen_matrix_set.hpp -- vouch gen matrix-set.
#pragma once
#include <span>

namespace vouch::cli {

/// As cmd_gen, for the arguments that follow "matrix-set".
int gen_matrix_set(std::span<const char* const> arguments);

}  // namespace vouch::cli
