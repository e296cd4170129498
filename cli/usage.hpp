// cli/usage.hpp -- what is said when the command line itself is wrong.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include <vouch/core/error.hpp>

namespace vouch::cli {

/// The command line is wrong. Exit code 2.
class usage_error : public error {
  using error::error;
};

/// The name closest to what was typed, or "" where none is close enough to be what was meant.
///
/// Result  The smallest number of insertions, deletions, replacements and swaps of neighbours, at most one for
///         every three letters; a name that starts with what was typed also counts.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> names);

/// "did you mean X?", or "" where nothing is close.
std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names);

/// "a, b or c".
std::string either(std::span<const std::string_view> names);

}  // namespace vouch::cli
