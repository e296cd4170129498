// cli/outputs.hpp -- the files that a command is to write, before it does anything else.
#pragma once
#include <string>
#include <vector>

namespace vouch::cli {

/// check_writable() of all outputs; names may be "", for none.
///
/// Throws  what that throws
///         usage_error  one is called -; two outputs are one file, or one is a file that is read, under whatever names:
///                      relative, by links, those to nothing too
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs = {});

}  // namespace vouch::cli
