#include "usage.hpp"

#include <vouch/text/nearest_name.hpp>

namespace vouch::cli {

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names,
                         const std::string& valid) {
  const std::string_view meant = nearest_name(typed, names);
  if (meant.empty()) return valid;
  return "did you mean " + std::string(meant) + "?" + (valid.empty() ? "" : " " + valid);
}

std::string either(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k > 0) text += k + 1 == names.size() ? " or " : ", ";
    text += names[k];
  }
  return text;
}

}  // namespace vouch::cli
