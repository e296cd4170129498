#include "outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vouch/text/file.hpp>

#include "common.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored) || file_behind(a) == file_behind(b);
}

}  // namespace

void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  std::vector<std::string> before;
  for (const std::string& output : outputs) {
    if (output == "-")
      throw usage_error("an output is called '-', which is no file",
                        "/dev/stdout is standard output, ./- a file of that name");
    check_writable(output);
    if (output.empty() || output.starts_with("/dev/")) continue;
    const auto takes_place_of = [&](const std::string& other) {
      return !other.empty() && is_same_file(output, other);
    };
    if (std::any_of(inputs.begin(), inputs.end(), takes_place_of))
      throw usage_error(fmt::format("'{}' is read, and an output would take its place", output),
                        "name another file");
    if (std::any_of(before.begin(), before.end(), takes_place_of))
      throw usage_error(fmt::format("two outputs go to the same file '{}'", output));
    before.push_back(output);
  }
}

}  // namespace vouch::cli
