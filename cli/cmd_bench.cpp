// vouch bench: starts the program of the benchmarks, which is built and installed apart.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>

#include "command.hpp"

namespace vouch::cli {

// Beside this program, else where the shell would find it.
int cmd_bench(std::span<const char* const> arguments) {
  std::vector<std::string> words{"vouch-bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::error_code ignored;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  execv((here / words.front()).c_str(), pointers.data());
  execvp(words.front().c_str(), pointers.data());
  throw file_error(fmt::format("vouch-bench cannot be started: {}", std::strerror(errno)),
                   "the benchmarks are a program of their own: make bench builds it, or cmake with "
                   "-DVOUCH_BENCH=ON; it belongs beside vouch or on the PATH");
}

}  // namespace vouch::cli
