#include "outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "common.hpp"
#include "usage.hpp"

namespace vouch::cli {

void check_outputs(std::initializer_list<std::string> paths, const std::string& matrix) {
  std::vector<std::filesystem::path> before;
  for (const std::string& path : paths) {
    check_writable(path);
    if (path.empty() || path.starts_with("/dev/")) continue;
    std::error_code ignored;
    if (std::filesystem::equivalent(path, matrix, ignored))
      throw usage_error(fmt::format("'{}' holds the matrix, and an output would take its place", path));
    const std::filesystem::path plain = std::filesystem::path(path).lexically_normal();
    if (std::find(before.begin(), before.end(), plain) != before.end())
      throw usage_error(fmt::format("two outputs go to the same file '{}'", path));
    before.push_back(plain);
  }
}

}  // namespace vouch::cli
