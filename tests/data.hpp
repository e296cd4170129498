// tests/data.hpp -- the folder of real matrices that may stand beside the project.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

namespace vouch::testing {

/// Path of a data file, or "" where the folder is absent; tests then skip with a message.
/// VOUCH_DATA names another folder.
inline std::string data_file(const std::string& name) {
  const char* elsewhere = std::getenv("VOUCH_DATA");
  const std::filesystem::path path = std::filesystem::path(elsewhere ? elsewhere : VOUCH_TEST_DATA) / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace vouch::testing

#define VOUCH_NEEDS_DATA(path) \
  if ((path).empty()) GTEST_SKIP() << "no data folder beside the project; set VOUCH_DATA to have this test"
