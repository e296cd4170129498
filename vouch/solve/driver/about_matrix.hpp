// vouch/solve/driver/about_matrix.hpp -- messages about a matrix with the name that its user gave it; private.
#pragma once
#include <string>

#include <vouch/solve/options.hpp>

namespace vouch {

/// "A.mtx: the matrix is not symmetric"; where it was given no name, what begins with it is not said twice.
inline std::string about_matrix(const solve_options& options, const std::string& message) {
  const std::string& name = options.names.matrix;
  return name == operand_names{}.matrix && message.starts_with(name) ? message : name + ": " + message;
}

}  // namespace vouch
