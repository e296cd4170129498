#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <campaign.hpp>
#include <data.hpp>
#include <dice.hpp>
#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/io/decimal_radii.hpp>
#include <vouch/io/fortran_format.hpp>
#include <vouch/io/vectors.hpp>

namespace vouch {
namespace {

using testing::gzipped;

// 1 . 2
// . 3 4
// 5 . .
const std::string small =
    "A title of up to 72 characters                                          KEY     \n"
    "             5             1             1             2             1\n"
    "RUA                        3             3             5             0\n"
    "(16I5)          (16I5)          (3E14.6)            (3F10.4)            \n"
    "F                          1             0\n"
    "    1    3    4    6\n"
    "    1    3    2    1    2\n"
    "  0.100000E+01  5.0000D+0000     0.3000+01\n"
    "  0.200000E+01  0.400000E+01\n"
    "    7.0000   -8.0000   9.25E1\n"
    "\n";

class HarwellBoeing : public ::testing::Test {
 protected:
  csr<double> read(const std::string& content, matrix_market_header* header = nullptr) const {
    return read_csr(device::cpu(2), folder.file("A", content), header);
  }
  void expect(const std::string& content, const std::vector<std::int64_t>& row_ptr,
              const std::vector<std::int32_t>& col, const std::vector<double>& val) const {
    const csr<double> A = read(content);
    EXPECT_EQ(A.row_ptr.to_vector(), row_ptr);
    EXPECT_EQ(A.col.to_vector(), col);
    EXPECT_EQ(A.val.to_vector(), val);
  }
  void refuse(const std::string& content, const std::string& complaint) const {
    try {
      read(content);
      ADD_FAILURE() << "read, expected " << complaint;
    } catch (const parse_error& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.substr(text.find("/A:") + 2), complaint);
    }
  }
  // small with one text in place of another.
  static std::string with(const std::string& before, const std::string& after) {
    std::string text = small;
    text.replace(text.find(before), before.size(), after);
    return text;
  }
  const testing::temporary_folder folder;
};

TEST_F(HarwellBoeing, by_hand) {
  expect(small, {0, 2, 4, 5}, {0, 2, 1, 2, 0}, {1, 2, 3, 4, 5});
  expect(gzipped(small), {0, 2, 4, 5}, {0, 2, 1, 2, 0}, {1, 2, 3, 4, 5});
  const vectors b = read_vectors(device::cpu(2), folder.file("b", small));
  EXPECT_EQ(b.rows, 3);
  EXPECT_EQ(b.values.to_vector(), (std::vector<double>{7, -8, 92.5}));
  matrix_market_header header;
  read(small, &header);
  EXPECT_EQ(header.container, "Harwell-Boeing");
  EXPECT_EQ(header.rhs, 1);
  EXPECT_EQ(header.entries, 5);
  EXPECT_EQ(header.stored_as, symmetry::general);
}

TEST_F(HarwellBoeing, windows_lines_and_numbers_without_blanks_between_them) {
  std::string text;
  for (const char c : small) text += c == '\n' ? "\r\n" : std::string(1, c);
  expect(text, {0, 2, 4, 5}, {0, 2, 1, 2, 0}, {1, 2, 3, 4, 5});
  expect("t\n 3 1 1 1\nIRA 2 2 2 0\n(3I1)(2I1)(2I3)\n123\n21\n-17255\n", {0, 1, 2}, {1, 0}, {255, -17});
}

TEST_F(HarwellBoeing, other_columns_than_the_format_says) {
  expect(with("  0.100000E+01  5.0000D+0000     0.3000+01", " 1.0 5.0 3.0"), {0, 2, 4, 5}, {0, 2, 1, 2, 0},
         {1, 2, 3, 4, 5});
  refuse(with("  0.100000E+01  5.0000D+0000     0.3000+01", " 1.0 5.0 3.0 7.0"),
         ":8:2: expected a number, found '1.0 5.0 3.0 7'");
}

TEST_F(HarwellBoeing, symmetric_skew_and_pattern) {
  const auto file = [](const char* type, const char* rows) {
    return std::string("t\n 3 1 1 1\n") + type + " 3 3 3 0\n(4I2)(3I2)(3F4.0)\n 1 3 4 4\n" + rows +
           "\n 1. -2.  3.\n";
  };
  expect(file("rsa", " 1 3 2"), {0, 2, 3, 4}, {0, 2, 1, 0}, {1, -2, 3, -2});
  expect(file("rza", " 2 3 3"), {0, 2, 4, 6}, {1, 2, 0, 2, 0, 1}, {-1, 2, 1, -3, -2, 3});
  expect("t\n 2 1 1 0\nPUA 2 3 3 0\n(4I2)(3I2)\n 1 2 3 4\n 1 2 2\n", {0, 1, 3}, {0, 1, 2}, {1, 1, 1});
  refuse(file("rsa", " 1 3 1"), ":6:5: row 1 of column 2 lies above what is stored of a symmetric matrix");
  refuse(file("rza", " 2 3 2"), ":6:5: row 2 of column 2 lies above what is stored of a symmetric matrix");
}

TEST_F(HarwellBoeing, what_is_wrong_is_said_with_its_place) {
  refuse(with("    1    3    4    6", "    1    3    2    6"), ":6:11: pointer 2 is out of order");
  refuse(with("    1    3    4    6", "    2    3    4    6"), ":6:1: pointer 2 is out of order");
  refuse(with("    1    3    4    6", "    1    3    4    5"), ":6:16: the last pointer is 5, expected 6");
  refuse(with("    1    3    4    6", "    1    3    4    7"), ":6:20: pointer 7 does not lie from 1 to 6");
  refuse(with("    1    3    4    6", "    1    3    4"), ":6:16: number 4 of 4 is missing");
  refuse(with("    1    3    4    6", "    1    3    4    6    7"),
         ":6:25: unexpected '7' behind the numbers of the line");
  refuse(with("    3    2    1    2\n", "    4    2    1    2\n"), ":7:10: row 4 does not lie from 1 to 3");
  refuse(with("    3    2    1    2\n", "    0    2    1    2\n"), ":7:10: row 0 does not lie from 1 to 3");
  refuse(with("    3    2    1    2\n", "    3    2   1x    2\n"), ":7:19: expected a row, found '1x'");
  refuse(with("  0.200000E+01", "           NaN"), ":9:12: NaN is not allowed");
  refuse(with("  0.200000E+01", "  0.200000E999"), ":9:3: '0.200000E999' overflows double precision");
  refuse(with("  0.200000E+01", "             2"),
         ":9:14: '2' has no decimal point or no exponent: readers of the file's format differ on it");
  refuse(with("  0.200000E+01", "  0.2000 00+01"), ":9:3: expected a number, found '0.2000 00+01'");
  refuse(with("RUA  ", "CUA  "), ":3:1: complex matrices are not supported");
  refuse(with("RUA  ", "RUE  "), ":3:1: a matrix of unassembled finite elements is not supported");
  refuse(with("(16I5)  ", "(16X5)  "), ":4:1: the format '(16X5)' is not understood");
  refuse(with("     5             1 ", "     5             2 "),
         ":2: 2 lines of pointers declared, by number and format there are 1");
  refuse(with("           2             1\n", "           2             3\n"),
         ":2: 3 lines of right-hand sides declared, by number and format there are 1");
  refuse(with("             5             0\n", "         50000             0\n"),
         ":3:52: the file has no room for so many");
  refuse(small.substr(0, small.find("  0.200000E+01")), ":8: the file ends after 8 of 10 lines");
  refuse(small + "1\n", ":12:1: more lines than the header declares");
}

TEST_F(HarwellBoeing, right_hand_sides_that_are_not_full_are_passed_over) {
  const std::string sparse = with("\nF     ", "\nM     ");
  expect(sparse, {0, 2, 4, 5}, {0, 2, 1, 2, 0}, {1, 2, 3, 4, 5});
  EXPECT_THROW(read_vectors(device::cpu(), folder.file("b", sparse)), parse_error);
}

TEST_F(HarwellBoeing, starts_and_solutions_are_told_from_right_hand_sides) {
  std::string text = with("\nF     ", "\nFGX   ");
  text.replace(text.find("             2             1\n"), 29, "             2             3\n");
  text.insert(text.size() - 1, "    1.0000    2.0000    3.0000\n    4.0000    5.0000    6.0000\n");
  const vectors b = read_vectors(device::cpu(2), folder.file("b", text));
  EXPECT_EQ(b.values.to_vector(), (std::vector<double>{7, -8, 92.5}));
}

TEST_F(HarwellBoeing, radii_of_decimals) {
  const std::string path = folder.file("A", with("  0.200000E+01", "  0.100000D+00"));
  const csr<double> radii = read_matrix_radii(device::cpu(2), path);  // 0.1 alone is no double
  EXPECT_EQ(radii.row_ptr.to_vector(), (std::vector<std::int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(radii.col.to_vector(), (std::vector<std::int32_t>{2}));
  EXPECT_GE(radii.val[0], 5.551115123125783e-18);
  EXPECT_LE(radii.val[0], 0x1p-56);
  EXPECT_EQ(read_vector_radii(device::cpu(2), path).values.to_vector(), (std::vector<double>{0, 0, 0}));
}

TEST_F(HarwellBoeing, a_published_file_with_right_hand_side) {
  const std::string path = testing::data_file("matrices/big.rua.gz");
  VOUCH_NEEDS_DATA(path);
  matrix_market_header header;
  const csr<double> A = read_csr(device::cpu(2), path, &header);
  EXPECT_EQ(A.rows, 4960);
  EXPECT_EQ(A.nonzeros(), 23884);
  EXPECT_EQ(header.entries, 23884);
  const vectors b = read_vectors(device::cpu(2), path);
  EXPECT_EQ(b.rows, 4960);
  EXPECT_EQ(b.cols, 1);
}

// Written by printf with widths, counts and letters at random, and read back to the same bits by any number of threads.
TEST_F(HarwellBoeing, random_files) {
  for (std::uint64_t seed = 1; seed <= testing::campaign<std::uint64_t>(2000); ++seed) {
    testing::dice d(seed);
    const auto rows = static_cast<std::int64_t>(1 + d.below(60)),
               cols = static_cast<std::int64_t>(1 + d.below(60));
    std::map<std::pair<std::int64_t, std::int64_t>, double> entries;  // by columns
    for (std::uint64_t k = d.below(400); k > 0; --k)
      entries[{static_cast<std::int64_t>(d.below(static_cast<std::uint64_t>(cols))),
               static_cast<std::int64_t>(d.below(static_cast<std::uint64_t>(rows)))}] =
          (static_cast<double>(d.below(2000001)) - 1e6) * std::pow(10.0, static_cast<double>(d.below(40)) - 20);
    const auto per_line = [&d] { return static_cast<std::int64_t>(1 + d.below(9)); };
    const auto put = [](std::string& text, const std::vector<std::string>& words, std::int64_t count) {
      for (std::size_t k = 0; k < words.size(); ++k)
        text +=
            words[k] + ((k + 1) % static_cast<std::size_t>(count) == 0 || k + 1 == words.size() ? "\n" : "");
    };
    const auto lines = [](std::int64_t count, std::int64_t each) { return (count + each - 1) / each; };
    std::vector<std::string> pointers, indices, values;
    const int index_width = static_cast<int>(4 + d.below(4));
    std::int64_t next = 1;
    for (std::int64_t j = 0; j <= cols; ++j) {
      pointers.push_back(string_printf("%*lld", index_width, static_cast<long long>(next)));
      next += std::count_if(entries.begin(), entries.end(), [j](const auto& e) { return e.first.first == j; });
    }
    const bool letter_d = d.one_in(2);
    for (const auto& [place, value] : entries) {
      indices.push_back(string_printf("%*lld", index_width, static_cast<long long>(place.second + 1)));
      values.push_back(string_printf("%25.16E", value));
      if (letter_d) std::replace(values.back().begin(), values.back().end(), 'E', 'D');
    }
    const std::int64_t a = per_line(), b = per_line(), c = per_line(), count = std::ssize(values);
    std::string text =
        string_printf("title\n0 %lld %lld %lld\nrra %lld %lld %lld 0\n(%lldI%d) (%lldi%d)  (1P,%lldD25.16)\n",
                      static_cast<long long>(lines(cols + 1, a)), static_cast<long long>(lines(count, b)),
                      static_cast<long long>(lines(count, c)), static_cast<long long>(rows),
                      static_cast<long long>(cols), static_cast<long long>(count), static_cast<long long>(a),
                      index_width, static_cast<long long>(b), index_width, static_cast<long long>(c));
    put(text, pointers, a);
    put(text, indices, b);
    put(text, values, c);
    for (const int threads : {1, 3}) {
      const csr<double> A = read_csr(device::cpu(threads), folder.file("A", text));
      ASSERT_EQ(A.rows, rows);
      ASSERT_EQ(A.cols, cols);
      ASSERT_EQ(A.nonzeros(), count);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
          ASSERT_EQ(A.val[k], entries.at({A.col[k], i})) << "seed " << seed;
    }
  }
}

TEST(FortranFormat, blanks_mean_nothing_and_punctuation_is_itself) {
  const auto wide = parse_fortran_format(" ( 1 P , 4 E 20 . 12 ) ");
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->per_line, 4);
  EXPECT_EQ(wide->width, 20);
  EXPECT_EQ(wide->decimals, 12);
  EXPECT_EQ(wide->scale, 1);
  const auto integers = parse_fortran_format("(2 6i3)");
  ASSERT_TRUE(integers);
  EXPECT_TRUE(integers->integers);
  EXPECT_EQ(integers->per_line, 26);
  EXPECT_EQ(integers->width, 3);
  for (const char* wrong : {"(26I3I", "H26I3)", "(1PL4E20.12)", "(4E20N12)", "(26I3", "26I3)", "()", ""})
    EXPECT_FALSE(parse_fortran_format(wrong)) << wrong;
}

// Whatever byte is wrong, it is read or refused; cut off anywhere before the last number, it is refused.
TEST_F(HarwellBoeing, any_byte_may_be_wrong) {
  for (std::size_t k = 0; k < small.size(); ++k)
    for (const char c : {'\n', '9', 'x', '(', '\xff'}) {
      std::string text = small;
      text[k] = c;
      try {
        read(text);
      } catch (const parse_error&) {
      }
    }
  const std::size_t whole = small.find("9.25E1") + 1;  // a part of the last number is a number, too
  for (std::size_t size = 1; size < whole; ++size)
    EXPECT_THROW(read(small.substr(0, size)), parse_error) << size;
}

}  // namespace
}  // namespace vouch
