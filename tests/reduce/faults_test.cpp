// Every complaint with its place.
#include <gtest/gtest.h>

#include <vouch/core/error.hpp>
#include <vouch/reduce/matrix_set.hpp>

#include "temporary.hpp"

namespace vouch {
namespace {

std::string complaint(const std::string& text, std::optional<set_shape> shape = {}) {
  const testing::temporary_folder folder;
  const std::string files[] = {folder.file("s", text)};
  try {
    reduce_matrix_sets(device::cpu(2), files, {.operations = {reduction::min}, .shape = shape});
  } catch (const error& e) {
    const std::string what = e.what();
    return what.starts_with(files[0]) ? what.substr(files[0].size() + 1) : what;
  }
  return "";
}

TEST(reduce_faults, the_count) {
  EXPECT_EQ(complaint(""), "1:1: the file is empty");
  EXPECT_EQ(complaint(" \n\n"), "3:1: the file is empty");
  EXPECT_EQ(complaint("***\n1\n"), "1:1: expected the number of matrices, found '***'");
  EXPECT_EQ(complaint("\n 1.5\n"), "2:2: expected the number of matrices, found '1.5'");
  EXPECT_EQ(complaint("-2\n***\n1\n"), "1:1: the number of matrices is negative: '-2'");
  EXPECT_EQ(complaint("0\n"), "1:1: the set is empty");
  EXPECT_EQ(complaint("99999999999999999999\n"), "1:1: '99999999999999999999' is beyond integers of 64 bits");
  EXPECT_EQ(complaint("2 3\n"), "1:3: expected the number of matrices alone on its line, found '3'");
  EXPECT_EQ(complaint("2\n***\n1\n"), "4:1: the file ends after 1 matrix, the first line announces 2");
  EXPECT_EQ(complaint("5\n"), "2:1: the file ends after 0 matrices, the first line announces 5");
  EXPECT_EQ(complaint("1\n***\n1\n***\n2\n"), "4:1: more matrices than the 1 that the first line announces");
}

TEST(reduce_faults, the_structure) {
  EXPECT_EQ(complaint("1\n1 2\n"),
            "2:1: expected a line of three asterisks before the first matrix, found '1'");
  EXPECT_EQ(complaint("2\n**\n1\n***\n2\n"), "2:1: expected three asterisks alone on the line, found '**'");
  EXPECT_EQ(complaint("2\n***\n1\n**** \n2\n"),
            "4:1: expected three asterisks alone on the line, found '**** '");
  EXPECT_EQ(complaint("2\n***\n1\n *** 7\n2\n"),
            "4:2: expected three asterisks alone on the line, found '*** 7'");
  EXPECT_EQ(complaint("2\n***\n1 2\n3 4\n***\n***\n1 2\n3 4\n"), "6:1: matrix 2 has no rows");
  EXPECT_EQ(complaint("2\n***\n1 2\n3 4\n***\n1 2\n***\n"), "7:1: matrix 2 has 1 of 2 rows");
  EXPECT_EQ(complaint("2\n***\n1 2\n3 4\n***\n1 2\n"), "7:1: matrix 2 has 1 of 2 rows");
  EXPECT_EQ(complaint("2\n***\n1 2\n***\n1 2\n\n3 4\n"), "7:1: matrix 2 has more than 1 rows");
  EXPECT_EQ(complaint("1\n***\n1 2\n3\n"), "4:2: row 2 of matrix 1 has 1 number, not 2");
  EXPECT_EQ(complaint("2\n***\n1 2\n***\n1 2 3\n"), "5:5: row 1 of matrix 2 has more than 2 numbers");
}

TEST(reduce_faults, numbers) {
  EXPECT_EQ(complaint("1\n***\n1 x2\n"), "3:3: expected a number, found 'x2'");
  EXPECT_EQ(complaint("1\n***\n1 2x\n"), "3:3: expected a number, found '2x'");
  EXPECT_EQ(complaint("1\n***\n1 NaN\n"), "3:3: NaN is not allowed");
  EXPECT_EQ(complaint("1\n***\n-inf\n"), "3:1: infinity is not allowed");
  EXPECT_EQ(complaint("1\n***\n1 - 2\n"), "3:3: expected a number, found '-'");
  EXPECT_EQ(complaint("1\n***\n1,2\n"), "3:1: expected a number, found '1,2'");
  EXPECT_EQ(complaint("1\n***\n9223372036854775808\n"),
            "3:1: '9223372036854775808' is beyond integers of 64 bits");
  EXPECT_EQ(complaint("1\n***\n1 2e308\n"), "3:3: '2e308' overflows double precision");
  EXPECT_EQ(complaint("1\n***\n5\r6\n"), "3:2: expected a number, found '\\x0d6'");
}

TEST(reduce_faults, a_given_shape) {
  EXPECT_EQ(complaint("1\n***\n1 2\n3 4\n", set_shape{2, 2}), "");
  EXPECT_EQ(complaint("1\n***\n1 2\n3 4\n", set_shape{2, 3}), "3:4: row 1 of matrix 1 has 2 numbers, not 3");
  EXPECT_EQ(complaint("1\n***\n1 2\n3 4\n", set_shape{1, 2}), "4:1: matrix 1 has more than 1 rows");
  EXPECT_EQ(complaint("1\n***\n1 2\n3 4\n", set_shape{30000, 2}), "5:1: matrix 1 has 2 of 30000 rows");
  EXPECT_EQ(complaint("1\n***\n1\n", set_shape{0, 2}), "reduce: no set has matrices of 0 by 2");
}

// The place is found in a late unit of a long file, whoever meets it first.
TEST(reduce_faults, far_into_a_file) {
  std::string text = "300000\n";
  for (int m = 0; m < 300000; ++m) text += "***\n1 2\n3 4\n";
  std::string broken = text;
  broken[text.size() - 2] = 'y';
  broken[text.size() / 2 / 12 * 12 + 12 + 7 + 4] = 'x';
  const std::string line = std::to_string((text.size() / 2 / 12 + 1) * 3 + 3);
  EXPECT_EQ(complaint(broken), line + ":1: expected a number, found 'x'");
  text.replace(0, 6, "299999");
  EXPECT_EQ(complaint(text), "899999:1: more matrices than the 299999 that the first line announces");
}

TEST(reduce_faults, broken_gzip) {
  std::string packed = testing::gzipped("2\n***\n1 2\n***\n3 4\n");
  packed.resize(packed.size() - 9);
  EXPECT_NE(complaint(packed).find("compressed data end early"), std::string::npos) << complaint(packed);
}

}  // namespace
}  // namespace vouch
