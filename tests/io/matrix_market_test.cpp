#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/io/matrix_market.hpp>

namespace vouch {
namespace {

using testing::content_of;
using testing::gzipped;
using testing::temporary_folder;
using dense = std::map<std::pair<std::int64_t, std::int64_t>, double>;

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";

// Entries with indices from 1; checks the promises of csr on the way.
dense entries_of(const csr<double>& A) {
  dense entries;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      EXPECT_TRUE(k == A.row_ptr[i] || A.col[k - 1] < A.col[k]);
      entries[{i + 1, A.col[k] + 1}] = A.val[k];
    }
  return entries;
}

class MatrixMarket : public ::testing::Test {
 protected:
  csr<double> read(const std::string& content, matrix_market_header* header = nullptr) {
    return read_csr(device::cpu(2), folder.file("A.mtx", content), header);
  }
  dense entries(const std::string& content) { return entries_of(read(content)); }
  /// The complaint without the path.
  std::string complaint(const std::string& content) {
    try {
      read(content);
    } catch (const parse_error& e) {
      const std::string what = e.what();
      const std::string path = folder.path("A.mtx");
      return what.starts_with(path) ? what.substr(path.size()) : what;
    }
    return "no error";
  }

  temporary_folder folder;
};

TEST_F(MatrixMarket, ReadsCoordinates) {
  matrix_market_header header;
  const csr<double> A = read(real_general + "% a comment\n2 3 3\n2 3 -1.5\n1 1 1e2\n2 1 7\n", &header);
  EXPECT_EQ(A.rows, 2);
  EXPECT_EQ(A.cols, 3);
  EXPECT_EQ(entries_of(A), (dense{{{1, 1}, 100}, {{2, 1}, 7}, {{2, 3}, -1.5}}));
  EXPECT_EQ(header.file, folder.path("A.mtx"));
  EXPECT_EQ(header.format, matrix_format::coordinate);
  EXPECT_EQ(header.field, matrix_field::real);
  EXPECT_EQ(header.stored_as, symmetry::general);
  EXPECT_EQ(header.rows, 2);
  EXPECT_EQ(header.cols, 3);
  EXPECT_EQ(header.entries, 3);
}

TEST_F(MatrixMarket, ReadsAnyLegalSpacing) {
  const dense expected{{{1, 2}, -0.5}, {{2, 1}, 3}};
  EXPECT_EQ(
      entries("%%matrixmarket\tMATRIX  Coordinate REAL\tGeneral\r\n%\r\n\r\n2 2 2\r\n1 2 -.5\r\n2 1 3.\r\n"),
      expected);
  EXPECT_EQ(entries(real_general + "\n  \n%x\n \t 2\t2 2 \n\n  1   2  -5E-1  \n\t\n2\t1\t+3\n\n\n"), expected);
  EXPECT_EQ(entries(real_general + "2 2 2\n1 2 -0.5e+00\n02 +1 3"), expected);
  EXPECT_EQ(entries(real_general + "% 1 2 3\n%%%\n2 2 2\n1 2 -.05e1\r\n2 1 00000000000000000000000003\n"),
            expected);
}

// Numbers that one way of reading leaves to another one: nothing of a line that was begun is left in its entry.
TEST_F(MatrixMarket, ReadsEveryFormOfNumberInItsPlace) {
  const std::vector<std::pair<std::string, double>> numbers{
      {"1e-320", 1e-320}, {"1e+305", 1e305},
      {".5", 0.5},        {"5.", 5},
      {"+2", 2},          {"123456789012345678901234567890", 123456789012345678901234567890.0},
      {"-.25e1", -2.5},   {"1E00002", 100},
      {"2e-05", 2e-05},   {"0.1000000000000000055511151231257827", 0.1}};
  for (const auto& [text, value] : numbers) {
    const std::string line = "1 2 " + text + '\n', other = "7 89 4\n";
    EXPECT_EQ(entries(real_general + "100 100 2\n" + line + other), (dense{{{1, 2}, value}, {{7, 89}, 4}}))
        << text;
    EXPECT_EQ(entries(real_general + "100 100 2\n" + other + line), (dense{{{1, 2}, value}, {{7, 89}, 4}}))
        << text;
  }
}

TEST_F(MatrixMarket, ExpandsSymmetries) {
  const std::string banner = "%%MatrixMarket matrix coordinate real ";
  EXPECT_EQ(entries(banner + "symmetric\n3 3 3\n1 1 2\n3 1 5\n3 2 0\n"),
            (dense{{{1, 1}, 2}, {{1, 3}, 5}, {{3, 1}, 5}, {{2, 3}, 0}, {{3, 2}, 0}}));
  EXPECT_EQ(entries(banner + "skew-symmetric\n3 3 1\n3 1 5\n"), (dense{{{1, 3}, -5}, {{3, 1}, 5}}));
}

TEST_F(MatrixMarket, ReadsPatternsAndIntegers) {
  EXPECT_EQ(entries("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"),
            (dense{{{1, 1}, 1}, {{1, 2}, 1}, {{2, 1}, 1}}));
  EXPECT_EQ(entries("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 -9223372036854775808\n"
                    "2 2 9007199254740993\n"),
            (dense{{{1, 1}, -0x1p63}, {{2, 2}, 9007199254740992.0}}));
}

TEST_F(MatrixMarket, ReadsArrays) {
  EXPECT_EQ(entries("%%MatrixMarket matrix array real general\n2 3\n1\n0\n3\n4\n-0.0\n6\n"),
            (dense{{{1, 1}, 1}, {{1, 2}, 3}, {{2, 2}, 4}, {{2, 3}, 6}}));
  EXPECT_EQ(entries("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
            (dense{{{1, 1}, 1},
                   {{1, 2}, 2},
                   {{1, 3}, 3},
                   {{2, 1}, 2},
                   {{2, 2}, 4},
                   {{2, 3}, 5},
                   {{3, 1}, 3},
                   {{3, 2}, 5},
                   {{3, 3}, 6}}));
  EXPECT_EQ(entries("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
            (dense{{{1, 2}, -1}, {{1, 3}, -2}, {{2, 1}, 1}, {{2, 3}, -3}, {{3, 1}, 2}, {{3, 2}, 3}}));
}

TEST_F(MatrixMarket, ReadsEmptyMatrices) {
  EXPECT_EQ(read(real_general + "0 0 0\n").rows, 0);
  EXPECT_EQ(read(real_general + "3 0 0").nonzeros(), 0);
  EXPECT_EQ(read(real_general + "3 4 0\n\n").cols, 4);
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n0 5\n").cols, 5);
  EXPECT_EQ(read("%%MatrixMarket matrix array real skew-symmetric\n0 0\n").rows, 0);
  EXPECT_EQ(read("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").rows, 1);
}

TEST_F(MatrixMarket, AddsDuplicatesInTheOrderOfTheFile) {
  EXPECT_EQ(entries(real_general + "1 1 3\n1 1 1\n1 1 1e30\n1 1 -1e30\n"), (dense{{{1, 1}, 0}}));
  EXPECT_EQ(entries(real_general + "1 1 3\n1 1 1e30\n1 1 -1e30\n1 1 1\n"), (dense{{{1, 1}, 1}}));
}

TEST_F(MatrixMarket, KeepsCooInTheOrderOfTheFile) {
  const coo A = read_coo(device::cpu(1), folder.file("A.mtx", real_general + "3 3 3\n3 1 0\n1 2 5\n3 1 7\n"));
  EXPECT_EQ(A.row.to_vector(), (std::vector<std::int32_t>{2, 0, 2}));
  EXPECT_EQ(A.col.to_vector(), (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(A.val.to_vector(), (std::vector<double>{0, 5, 7}));
}

TEST_F(MatrixMarket, ReadsTheHeaderAlone) {
  const auto header = read_matrix_market_header(
      folder.file("A.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n4 4\n1\n2\n3\n4\n5\n6\n"));
  EXPECT_EQ(header.format, matrix_format::array);
  EXPECT_EQ(header.field, matrix_field::integer);
  EXPECT_EQ(header.stored_as, symmetry::skew_symmetric);
  EXPECT_EQ(header.entries, 6);
}

TEST_F(MatrixMarket, SaysWhatIsWrongWithABanner) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ":1:1: the file is empty"},
      {"PK\3\4 and more", ": the zip archive is broken"},
      {"\n", ":1:1: expected %%MatrixMarket, found an empty line"},
      {"1 2 3\n", ":1:1: expected %%MatrixMarket, found '1'"},
      {" %%MatrixMarket matrix coordinate real general\n",
       ":1:1: expected %%MatrixMarket, found '%%MatrixMarket'"},
      {"%MatrixMarket matrix coordinate real general\n",
       ":1:1: expected %%MatrixMarket with two percent signs"},
      {"\xef\xbb\xbf%%MatrixMarket matrix\n",
       ":1:1: expected %%MatrixMarket, found '\\xef\\xbb\\xbf%%MatrixMarket'"},
      {"%%MatrixMarket\n", ":1:15: the line ends before the object"},
      {"%%MatrixMarket vector coordinate real general\n", ":1:16: unknown object 'vector'"},
      {"%%MatrixMarket matrix\n", ":1:22: the line ends before the format"},
      {"%%MatrixMarket matrix sparse real general\n", ":1:23: unknown format 'sparse'"},
      {"%%MatrixMarket matrix coordinate double general\n", ":1:34: unknown field 'double'"},
      {"%%MatrixMarket matrix coordinate real hermitian\n",
       ":1: hermitian is of complex matrices, the field is real"},
      {"%%MatrixMarket matrix coordinate real diagonal\n", ":1:39: unknown symmetry 'diagonal'"},
      {"%%MatrixMarket matrix coordinate real general x\n", ":1:47: unexpected 'x' at the end of the line"},
      {"%%MatrixMarket matrix array pattern general\n", ":1: an array cannot have the field pattern"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", ":1: a pattern cannot be skew-symmetric"},
      {"%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 1\r",
       ":1:46: a carriage return inside the line"}};
  for (const auto& [content, expected] : cases) EXPECT_EQ(complaint(content), expected) << content;
}

TEST_F(MatrixMarket, SaysWhatIsWrongWithASizeLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ":1: the file ends before the size line"},
      {"% only\n\n", ":3: the file ends before the size line"},
      {"3 3\n", ":2:4: the line ends before the number of entries"},
      {"3 x 3\n", ":2:3: expected the number of columns, found 'x'"},
      {"3.0 3 3\n", ":2:1: expected the number of rows, found '3.0'"},
      {"-3 3 3\n", ":2:1: the number of rows cannot be negative"},
      {"3 3 3 3\n", ":2:7: unexpected '3' at the end of the line"},
      {"2147483648 3 0\n", ":2:1: the number of rows, 2147483648, exceeds 2147483647"},
      {"3 99999999999999999999 0\n", ":2:3: the number of columns, 99999999999999999999, exceeds 2147483647"},
      {"3 3 9223372036854775807\n1 1 1\n",
       ":2:5: 9223372036854775807 entries declared, the file has room for at most 2"},
      {"3 3 9223372036854775808\n1 1 1\n",
       ":2:5: the number of entries, 9223372036854775808, exceeds 9223372036854775807"}};
  for (const auto& [content, expected] : cases)
    EXPECT_EQ(complaint(real_general + content), expected) << content;
  EXPECT_EQ(complaint("%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n"),
            ":2:3: a symmetric matrix must be square, this is 3 by 4");
  EXPECT_EQ(complaint("%%MatrixMarket matrix array real general\n2147483647 2147483647\n1\n"),
            ":2:1: 4611686014132420609 entries declared, the file has room for at most 2");
}

TEST_F(MatrixMarket, SaysWhatIsWrongWithAnEntry) {
  const std::string nul("1 \0 1\n", 6);
  const std::pair<std::string, std::string> cases[] = {
      {"0 1 1\n", ":3:1: row 0 is below 1"},
      {"1 -1 1\n", ":3:3: column -1 is below 1"},
      {"4 1 1\n", ":3:1: row 4 exceeds 3 rows"},
      {"1 1228046 1\n", ":3:3: column 1228046 exceeds 4 columns"},
      {"18446744073709551617 1 1\n", ":3:1: row 18446744073709551617 exceeds 3 rows"},
      {"1 184467440737095516170000000000000001 1\n",
       ":3:3: column 184467440737095516170000000000000001 exceeds 4 columns"},
      {"-99999999999999999999 1 1\n", ":3:1: row -99999999999999999999 is below 1"},
      {"1.0 1 1\n", ":3:1: expected a row, found '1.0'"},
      {"x\n", ":3:1: expected a row, found 'x'"},
      {"1\n", ":3:2: the line ends before the column"},
      {"1 1\n", ":3:4: the line ends before the value"},
      {"1 1 1 1\n", ":3:7: unexpected '1' at the end of the line"},
      {"1 1 1  %x\n", ":3:8: unexpected '%x' at the end of the line"},
      {"1 1 abc\n", ":3:5: expected a number, found 'abc'"},
      {"1 1 1.5.2\n", ":3:5: expected a number, found '1.5.2'"},
      {"1 1 1d5\n", ":3:5: expected a number, found '1d5'"},
      {"1 1 0x10\n", ":3:5: expected a number, found '0x10'"},
      {"1 1 1,5\n", ":3:5: expected a number, found '1,5'"},
      {"1 1 nan\n", ":3:5: NaN is not allowed"},
      {"1 1 -NaN(7)\n", ":3:5: NaN is not allowed"},
      {"1 1 -INF\n", ":3:5: infinity is not allowed"},
      {"1 1 infinity\n", ":3:5: infinity is not allowed"},
      {"1 1 -1e400\n", ":3:5: '-1e400' overflows double precision"},
      {"% late\n", ":3:1: a comment after the size line"},
      {nul, ":3:3: a NUL byte"},
      {"1 1 1\r2 2 2\n", ":3:6: a carriage return inside the line"},
      {"1 1 1\v\n", ":3:5: expected a number, found '1\\x0b'"},
      {"1;1;1\n", ":3:1: expected a row, found '1;1;1'"}};
  for (const auto& [line, expected] : cases)
    EXPECT_EQ(complaint(real_general + "3 4 1\n" + line), expected) << line;
}

TEST_F(MatrixMarket, LetsSmallNumbersUnderflow) {
  EXPECT_EQ(entries(real_general + "1 2 2\n1 1 1e-400\n1 2 -4e-324\n"),
            (dense{{{1, 1}, 0}, {{1, 2}, -std::numeric_limits<double>::denorm_min()}}));
}

TEST_F(MatrixMarket, WantsIntegersInIntegerFields) {
  const std::string banner = "%%MatrixMarket matrix coordinate integer general\n3 3 1\n";
  EXPECT_EQ(complaint(banner + "1 1 1.0\n"), ":3:5: expected an integer, found '1.0'");
  EXPECT_EQ(complaint(banner + "1 1 1e3\n"), ":3:5: expected an integer, found '1e3'");
  EXPECT_EQ(complaint(banner + "1 1 9223372036854775808\n"),
            ":3:5: '9223372036854775808' overflows 64-bit integers");
  EXPECT_EQ(complaint(banner + "1 1 99999999999999999999999\n"),
            ":3:5: '99999999999999999999999' overflows 64-bit integers");
  EXPECT_EQ(complaint(banner + "1 1 x\n"), ":3:5: expected a number, found 'x'");
}

TEST_F(MatrixMarket, WantsTheLowerTriangle) {
  const std::string banner = "%%MatrixMarket matrix coordinate real ";
  EXPECT_EQ(complaint(banner + "symmetric\n3 3 2\n1 1 1\n1 2 1\n"),
            ":4:3: an entry above the diagonal of a symmetric matrix");
  EXPECT_EQ(complaint(banner + "skew-symmetric\n3 3 1\n1 2 1\n"),
            ":3:3: an entry above the diagonal of a skew-symmetric matrix");
  EXPECT_EQ(complaint(banner + "skew-symmetric\n3 3 1\n2 2 0\n"),
            ":3:3: an entry on the diagonal of a skew-symmetric matrix");
}

TEST_F(MatrixMarket, CountsItsEntries) {
  EXPECT_EQ(complaint(real_general + "3 3 1\n1 1 1\n2 2 2\n"), ":4:1: more than the declared 1 entries");
  EXPECT_EQ(complaint(real_general + "3 3 1\n1 1 1\n\n % x\n"), ":5:2: a comment after the size line");
  EXPECT_EQ(complaint(real_general + "3 3 0\nx\n"), ":3:1: more than the declared 0 entries");
  EXPECT_EQ(complaint(real_general + "3 3 3\n1 1 1.000000\n2 2 2.000000\n"),
            ":4: the file ends after 2 of 3 entries");
  EXPECT_EQ(complaint("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n"),
            ":7:1: more than the declared 4 entries");
  EXPECT_EQ(complaint("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3.000\n"),
            ":5: the file ends after 3 of 4 entries");
  EXPECT_EQ(complaint("%%MatrixMarket matrix array real general\n2 2\n1 2\n3 4\n"),
            ":3:3: unexpected '2' at the end of the line");
}

TEST_F(MatrixMarket, RefusesPathsThatAreNoFiles) {
  EXPECT_THROW(read_csr(device::cpu(1), folder.path("none.mtx")), file_error);
  EXPECT_THROW(read_csr(device::cpu(1), folder.path("")), file_error);
}

// A file of many blocks: value of line k is k, rows come in an order that mixes.
std::string big_file(std::int64_t lines) {
  std::string text = real_general + std::to_string(lines) + " 1000 " + std::to_string(lines) + "\n";
  for (std::int64_t k = 0; k < lines; ++k)
    text += std::to_string(k * 7919 % lines + 1) + " " + std::to_string(k % 1000 + 1) + " " +
            std::to_string(k) + (k % 1000 == 999 ? ".5\r\n\n" : "\n");
  return text;
}

TEST_F(MatrixMarket, ReadsBigFilesInParallel) {
  constexpr std::int64_t lines = 100003;
  const std::string text = big_file(lines);
  for (const std::string& content : {text, gzipped(text)})
    for (const int threads : {1, 2, 5}) {
      const coo A = read_coo(device::cpu(threads), folder.file("A.mtx", content));
      ASSERT_EQ(A.val.size(), lines);
      for (std::int64_t k = 0; k < lines; ++k) {
        ASSERT_EQ(A.row[k], k * 7919 % lines);
        ASSERT_EQ(A.col[k], k % 1000);
        ASSERT_EQ(A.val[k], static_cast<double>(k) + (k % 1000 == 999 ? 0.5 : 0));
      }
    }
}

TEST_F(MatrixMarket, FindsTheFirstErrorOfABigFile) {
  constexpr std::int64_t lines = 100003;
  std::string text = big_file(lines);
  // Three errors in different blocks; the first counts.
  for (const std::size_t near : {std::size_t{600000}, std::size_t{900000}, std::size_t{1300000}}) {
    const std::size_t at = text.find(' ', text.find('\n', near)) + 1;
    text.replace(at, text.find(' ', at) - at, "1001");
    if (near == 600000) text.insert(at - 1, "  ");
  }
  const std::size_t bad = text.find("   1001 ") + 3;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n') + 1;
  const std::size_t column = bad - text.rfind('\n', bad);
  for (const std::string& content : {text, gzipped(text)})
    for (const int threads : {1, 2, 5}) {
      try {
        read_coo(device::cpu(threads), folder.file("A.mtx", content));
        FAIL();
      } catch (const parse_error& e) {
        EXPECT_EQ(e.line(), line);
        EXPECT_EQ(e.column(), static_cast<std::int64_t>(column));
      }
    }
}

TEST_F(MatrixMarket, RefusesATruncatedStream) {
  const std::string packed = gzipped(big_file(50000));
  EXPECT_EQ(complaint(packed.substr(0, packed.size() / 2)), ": the compressed data end early");
}

csr<double> random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed, symmetry kind) {
  std::vector<std::int32_t> row, col;
  std::vector<double> val;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    auto i = static_cast<std::int32_t>(random_bits(seed, 3 * k) % static_cast<std::uint64_t>(rows));
    auto j = static_cast<std::int32_t>(random_bits(seed, 3 * k + 1) % static_cast<std::uint64_t>(cols));
    const double v = std::bit_cast<double>(random_bits(seed, 3 * k + 2));
    if (kind != symmetry::general && i < j) std::swap(i, j);
    if (!std::isfinite(v) || (kind == symmetry::skew_symmetric && i == j)) continue;
    row.push_back(i);
    col.push_back(j);
    val.push_back(k % 50 == 0 ? 0.0 : v);
  }
  const device cpu = device::cpu(1);
  return to_csr(cpu, coo{rows, cols, kind, array<std::int32_t>::from(cpu, row),
                         array<std::int32_t>::from(cpu, col), array<double>::from(cpu, val)});
}

TEST_F(MatrixMarket, WritesWhatItReads) {
  for (const symmetry kind : {symmetry::general, symmetry::symmetric, symmetry::skew_symmetric})
    for (const std::int64_t cols : {200, 90}) {
      if (kind != symmetry::general && cols != 200) continue;
      const csr<double> A = random_matrix(200, cols, 21, kind);
      write_matrix_market(folder.path("B.mtx"), A, kind);
      matrix_market_header header;
      const csr<double> B = read_csr(device::cpu(2), folder.path("B.mtx"), &header);
      EXPECT_EQ(header.stored_as, kind);
      EXPECT_EQ(B.rows, 200);
      EXPECT_EQ(B.cols, cols);
      EXPECT_EQ(A.row_ptr.to_vector(), B.row_ptr.to_vector());
      EXPECT_EQ(A.col.to_vector(), B.col.to_vector());
      EXPECT_EQ(A.val.to_vector(), B.val.to_vector());
      EXPECT_EQ(header.entries == A.nonzeros(), kind == symmetry::general);
    }
}

TEST_F(MatrixMarket, WritesTheTextOnePlansFor) {
  const csr<double> A =
      read("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 0.1\n3 1 -2e30\n3 3 0\n");
  write_matrix_market(folder.path("B.mtx"), A, symmetry::symmetric);
  EXPECT_EQ(content_of(folder.path("B.mtx")),
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 0.1\n3 1 -2e+30\n3 3 0\n");
  write_matrix_market(folder.path("B.mtx"), A);
  EXPECT_EQ(content_of(folder.path("B.mtx")),
            "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 0.1\n1 3 -2e+30\n3 1 -2e+30\n3 3 0\n");
  write_matrix_market(folder.path("C.mtx"),
                      csr<double>{0, 0, array<std::int64_t>::zeros(device::cpu(1), 1), {}, {}});
  EXPECT_EQ(content_of(folder.path("C.mtx")), real_general + "0 0 0\n");
}

TEST_F(MatrixMarket, RefusesToWriteWhatItCannotRead) {
  const auto refused = [&](const csr<double>& A, symmetry stored_as) -> std::string {
    try {
      write_matrix_market(folder.path("B.mtx"), A, stored_as);
    } catch (const error& e) {
      return e.what();
    }
    return "no error";
  };
  csr<double> A = read(real_general + "2 2 3\n1 1 1\n1 2 2\n2 1 3\n");
  EXPECT_EQ(refused(A, symmetry::symmetric), "entry (1, 2) has no symmetric counterpart");
  EXPECT_EQ(refused(A, symmetry::skew_symmetric), "entry (1, 1) has no skew-symmetric counterpart");
  A.val[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused(A, symmetry::general), "entry (2, 1) is not finite");
  EXPECT_EQ(refused(read(real_general + "2 3 0\n"), symmetry::symmetric),
            "a symmetric matrix must be square, this is 2 by 3");
  EXPECT_EQ(folder.files(), 1u);
}

}  // namespace
}  // namespace vouch
