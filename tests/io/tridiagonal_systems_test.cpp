#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <npz.hpp>
#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/tridiagonal_systems.hpp>

namespace vouch {
namespace {

using numbers = std::vector<double>;
using testing::npy_file;

class tridiagonal_file : public ::testing::Test {
 protected:
  tridiagonal_systems read(const std::string& bytes) const {
    return read_tridiagonal_systems(folder_.file("systems", bytes));
  }
  std::string message(const std::string& bytes) const {
    try {
      read(bytes);
    } catch (const parse_error& e) {
      const std::string text = e.what();
      return text.substr(text.find("systems") + 7);
    }
    return "no error";
  }
  testing::temporary_folder folder_;
};

TEST_F(tridiagonal_file, text_has_a_row_a_line) {
  const tridiagonal_systems two = read("# dl d du b\n7 2 1 3\n1 4 8 5  # last of its system\n\n\n0 4 0 8");
  EXPECT_EQ(two.systems, 2);
  EXPECT_EQ(two.offsets, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(two.dl, (numbers{7, 1, 0}));
  EXPECT_EQ(two.d, (numbers{2, 4, 4}));
  EXPECT_EQ(two.du, (numbers{1, 8, 0}));
  EXPECT_EQ(two.b, (numbers{3, 5, 8}));
  EXPECT_EQ(two.nonzeros(), 5);
  EXPECT_EQ(two.shape().rows(0), 2);
  EXPECT_EQ(two.rhs()(1, 0), 8);
  EXPECT_EQ(two.matrices().d, two.d.data());
}

TEST_F(tridiagonal_file, archives_have_one_matrix_or_many) {
  const auto archive = [](const std::string& of_matrix, const numbers& diagonal, const std::string& of_rhs,
                          const numbers& b) {
    std::vector<testing::zip_member> members;
    for (const char* name : {"dl.npy", "d.npy", "du.npy"})
      members.push_back({name, npy_file(of_matrix, diagonal), false, false});
    members.push_back({"b.npy", npy_file(of_rhs, b), true, false});
    return testing::zip_writer().archive(members);
  };
  const tridiagonal_systems many = read(archive("(2, 2)", {1, 2, 3, 4}, "(2, 2)", {5, 6, 7, 8}));
  EXPECT_EQ(many.systems, 2);
  EXPECT_TRUE(many.table && !many.shared && many.offsets.empty());
  EXPECT_EQ(many.rhs()(1, 1), 8);
  EXPECT_EQ(many.nonzeros(), 8);
  const tridiagonal_systems shared = read(archive("(2,)", {1, 2}, "(3, 2)", {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(shared.systems, 3);
  EXPECT_EQ(shared.matrices().shape.systems, 1);
  EXPECT_EQ(shared.shape().systems, 3);
  EXPECT_EQ(message(archive("(2,)", {1, 2}, "(3,)", {1, 2, 3})), ": b is 3, d is 2");
  EXPECT_EQ(message(testing::zip_writer().archive({})), ": there is no array d in it");
}

TEST_F(tridiagonal_file, errors_name_the_place) {
  EXPECT_EQ(message("1 2 3 4\n1 2 3\n"), ":2:6: 3 numbers where a row has 4");
  EXPECT_EQ(message("1 2 3 4 5\n"), ":1:9: more than 4 numbers in a row");
  EXPECT_EQ(message("1 2 nan 4\n"), ":1:5: NaN is not allowed");
  EXPECT_EQ(message("# nothing\n"), ": there is no system in the file");
  EXPECT_THROW(read_tridiagonal_systems("/nowhere/at all"), file_error);
}

}  // namespace
}  // namespace vouch
