#include <data.hpp>

#include <cstdlib>
#include <filesystem>

namespace vouch::testing {

std::string data_file(const std::string& name) {
  const char* elsewhere = std::getenv("VOUCH_DATA");
  const std::filesystem::path path = std::filesystem::path(elsewhere ? elsewhere : VOUCH_TEST_DATA) / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace vouch::testing
