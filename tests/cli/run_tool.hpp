// tests/cli/run_tool.hpp -- runs the built tool as a user would, in a folder of its own.
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace vouch::testing {

struct tool_result {
  int code = -1;
  std::string out;
  std::string err;
};

/// The tool that tests run: the one that was built, or the sanitized one that the environment names.
inline const char* tool() {
  const char* const sanitized = std::getenv("VOUCH_SANITIZED_TOOL");
  return sanitized != nullptr ? sanitized : VOUCH_TOOL;
}
inline bool tool_is_sanitized() {
#ifdef VOUCH_SANITIZED
  return true;
#else
  return std::getenv("VOUCH_SANITIZED_TOOL") != nullptr;
#endif
}

/// A fresh folder, removed at the end of the test, in which the tool runs.
class tool_test : public ::testing::Test {
 protected:
  tool_test() : folder_(make_folder()) {}
  ~tool_test() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string content(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  /// `vouch ARGUMENTS` by the shell, in the folder.
  tool_result run(const std::string& arguments) const {
    const int code = shell("\"$VOUCH\" " + arguments + " > .out 2> .err < /dev/null");
    return {code, content(".out"), content(".err")};
  }
  /// Any command of the shell, in the folder, with the tool as $VOUCH; its exit code.
  int shell(const std::string& command) const {
    const std::string line = "cd '" + folder_.string() + "' && VOUCH='" + tool() + "' && { " + command + "\n}";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Names of the files in the folder but for the tool's output, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (const std::string name = entry.path().filename().string(); name != ".out" && name != ".err")
        names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "vouch-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    return name;
  }
  std::filesystem::path folder_;
};

}  // namespace vouch::testing
