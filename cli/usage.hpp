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

/// "did you mean X?", where one of the names is close, and what else there is to say.
std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names,
                         const std::string& valid = "");

/// "a, b or c".
std::string either(std::span<const std::string_view> names);

}  // namespace vouch::cli
