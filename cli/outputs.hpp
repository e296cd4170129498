// cli/outputs.hpp -- the files that a command is to write, before it does anything else.
#pragma once
#include <initializer_list>
#include <string>

namespace vouch::cli {

/// check_writable() of all these files, "" for none.
///
/// Throws  what that throws; usage_error  two of them are one, or one is the matrix that is read
void check_outputs(std::initializer_list<std::string> paths, const std::string& matrix = "");

}  // namespace vouch::cli
