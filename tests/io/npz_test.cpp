#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include <npz.hpp>
#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/npz.hpp>

namespace vouch {
namespace {

using testing::npy_file;
using testing::zip_member;
using testing::zip_writer;

const std::vector<double> six{1, 2, 3, 4, 5, std::numeric_limits<double>::quiet_NaN()};

class npz : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) const { return folder_.file("a.npz", bytes); }
  std::string message(const std::string& bytes) const {
    try {
      read_npz(write(bytes));
    } catch (const parse_error& e) {
      const std::string text = e.what();
      return text.substr(text.find("a.npz"));
    }
    return "no error";
  }
  testing::temporary_folder folder_;
};

TEST_F(npz, stored_deflated_and_large_members) {
  for (const bool deflated : {false, true})
    for (const bool large : {false, true})
      for (const char* remark : {"", "a remark PK"}) {
        const auto all =
            read_npz(write(zip_writer().archive({{"first.npy", npy_file("(6,)", six), deflated, large},
                                                 {"t", npy_file("(2, 3)", six), deflated, large},
                                                 {"f.npy", npy_file("(2, 3)", six, true), !deflated, large}},
                                                remark)));
        ASSERT_EQ(all.size(), 3u);
        EXPECT_EQ(all[0].name, "first");
        EXPECT_EQ(all[0].array.shape, (std::vector<std::int64_t>{6}));
        EXPECT_EQ(all[1].name, "t");
        EXPECT_EQ(all[1].array.shape, (std::vector<std::int64_t>{2, 3}));
        for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(all[1].array.values[k], six[k]);
        EXPECT_TRUE(std::isnan(all[1].array.values[5]));
        const std::vector<double> rows{1, 3, 5, 2, 4};  // columns in the file
        for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(all[2].array.values[k], rows[k]);
      }
  EXPECT_TRUE(read_npz(write(zip_writer().archive({}))).empty());
}

TEST_F(npz, what_is_broken_is_named) {
  const std::string good = zip_writer().archive({{"d.npy", npy_file("(6,)", six), true, false}});
  EXPECT_EQ(message(good.substr(0, good.size() - 1)), "a.npz: the zip archive is broken");
  EXPECT_EQ(message("PK\3\4"), "a.npz: the zip archive is broken");
  std::string changed = good;
  changed[60] ^= 1;  // of the data
  EXPECT_NE(message(changed), "no error");
  changed = zip_writer().archive({{"d.npy", npy_file("(6,)", six), false, false}});
  changed[39 + 10 + 118 + 3] ^= 1;  // a digit of the first number
  EXPECT_EQ(message(changed), "a.npz(d.npy): the member is broken: its bytes do not fit its checksum");
  EXPECT_EQ(message(zip_writer().archive({{"x.npy", "text", false, false}})),
            "a.npz(x.npy): this is no .npy array");
  EXPECT_EQ(message(zip_writer().archive({{"x.npy", npy_file("(7,)", six), false, false}})),
            "a.npz(x.npy): the .npy file ends early");
  EXPECT_EQ(message(zip_writer().archive({{"x.npy", npy_file("(1,2,3)", six), false, false}})),
            "a.npz(x.npy): .npy array of 3 dimensions");
}

// No byte of an archive makes the reader do anything but read it or refuse it.
TEST_F(npz, any_byte_may_be_wrong) {
  const std::string good = zip_writer().archive({{"d.npy", npy_file("(6,)", six), true, true}}, "end");
  for (std::size_t k = 0; k < good.size(); ++k)
    for (const int change : {1, 128, 255}) {
      std::string bytes = good;
      bytes[k] = static_cast<char>(bytes[k] ^ change);
      try {
        read_npz(write(bytes));
      } catch (const parse_error&) {
      }
    }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(read_npz(write(good.substr(0, size))), parse_error) << size;
}

}  // namespace
}  // namespace vouch
