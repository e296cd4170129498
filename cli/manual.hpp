// cli/manual.hpp -- the manual page and completions of shells, made of what the commands declare.
#pragma once
#include <string>
#include <string_view>

namespace vouch::cli {

/// man, complete-bash, complete-zsh or complete-fish; throws usage_error.
std::string manual(std::string_view kind);

}  // namespace vouch::cli
