// tests/data.hpp -- the folder of real matrices that may stand beside the project.
#pragma once
#include <string>

namespace vouch::testing {

/// Path of a data file, or "" where the folder is absent; tests then skip with a message.
/// VOUCH_DATA names another folder.
std::string data_file(const std::string& name);

}  // namespace vouch::testing

#define VOUCH_NEEDS_DATA(path) \
  if ((path).empty()) GTEST_SKIP() << "no data folder beside the project; set VOUCH_DATA to have this test"
