#include <gtest/gtest.h>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/solve/loop/device_memory_check.hpp>

namespace vouch {
namespace {

TEST(device_memory, dense_text_says_what_is_needed_and_what_fits) {
  EXPECT_NO_THROW(check_dense_memory("GPU 0", 784, 7, 16));
  try {
    check_dense_memory("GPU 0", 1000, 8, 16);
    FAIL() << "8 rows of 8 entries of 16 bytes are 1024 bytes";
  } catch (const out_of_memory& e) {
    EXPECT_EQ(e.bytes_asked(), 1024);
    EXPECT_EQ(e.bytes_free(), 1000);
    EXPECT_NE(std::string(e.what()).find("at most 7 rows"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("1.0 KiB asked, 1000 bytes free"), std::string::npos) << e.what();
  }
  EXPECT_THROW(check_dense_memory("GPU 0", std::int64_t{1} << 40, std::int64_t{1} << 40, 24), out_of_memory);
}

TEST(device_memory, sparse_text_says_what_is_needed_and_what_fits) {
  EXPECT_NO_THROW(check_sparse_memory("GPU 1", 1000, 10, 75, 12, 10));
  try {
    check_sparse_memory("GPU 1", 1000, 10, 76, 12, 10);
    FAIL() << "76 entries of 12 bytes and 10 rows of 10 are 1012 bytes";
  } catch (const out_of_memory& e) {
    EXPECT_EQ(e.bytes_asked(), 1012);
    EXPECT_NE(std::string(e.what()).find("at most 75 nonzeros"), std::string::npos) << e.what();
  }
  EXPECT_THROW(check_sparse_memory("GPU 1", 50, 10, 1, 12, 10), out_of_memory);
}

}  // namespace
}  // namespace vouch
