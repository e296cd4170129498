#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/io/vectors.hpp>

namespace vouch {
namespace {

using testing::content_of;
using testing::gzipped;
using testing::temporary_folder;

// An .npy file; the header is taken as it is, without padding.
template <class T>
std::string npy(const std::string& dictionary, const std::vector<T>& elements, char version = 1) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  text += static_cast<char>(dictionary.size());
  text += '\0';
  if (version > 1) text.append(2, '\0');
  text += dictionary;
  const std::size_t start = text.size();
  text.resize(start + elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(text.data() + start, elements.data(), elements.size() * sizeof(T));
  return text;
}

std::string dictionary(const char* type, const char* order, const char* shape) {
  std::string text = "{'descr': '";
  text.append(type)
      .append("', 'fortran_order': ")
      .append(order)
      .append(", 'shape': ")
      .append(shape)
      .append(", }\n");
  return text;
}

class Vectors : public ::testing::Test {
 protected:
  vectors read(const std::string& content, int threads = 2) {
    return read_vectors(device::cpu(threads), folder.file("b", content));
  }
  void expect(const std::string& content, std::int64_t rows, std::int64_t cols,
              const std::vector<double>& values) {
    const vectors b = read(content);
    EXPECT_EQ(b.rows, rows);
    EXPECT_EQ(b.cols, cols);
    EXPECT_EQ(b.values.to_vector(), values);
  }
  std::string complaint(const std::string& content) {
    try {
      read(content);
    } catch (const parse_error& e) {
      return std::string(e.what()).substr(folder.path("b").size());
    }
    return "no error";
  }
  temporary_folder folder;
};

TEST_F(Vectors, ReadsText) {
  expect("1\n-2.5\n3e2", 3, 1, {1, -2.5, 300});
  expect("\n 1 \r\n\t\r\n2\n\n", 2, 1, {1, 2});
  expect("1 2\t3\n4  5 6\n", 2, 3, {1, 4, 2, 5, 3, 6});
  expect(gzipped("7\n8\n"), 2, 1, {7, 8});
  expect("", 0, 1, {});
  expect("\n \n", 0, 1, {});
}

TEST_F(Vectors, SaysWhatIsWrongWithText) {
  EXPECT_EQ(complaint("1\n2\n 3x\n"), ":3:2: expected a number, found '3x'");
  EXPECT_EQ(complaint("1\nnan\n"), ":2:1: NaN is not allowed");
  EXPECT_EQ(complaint("1\n-inf\n"), ":2:1: infinity is not allowed");
  EXPECT_EQ(complaint("1\n1e999\n"), ":2:1: '1e999' overflows double precision");
  EXPECT_EQ(complaint("1\n1e999x\n"), ":2:1: expected a number, found '1e999x'");
  EXPECT_EQ(complaint("1 2\n\n3\n"), ":3: 1 numbers, the rows before have 2");
  EXPECT_EQ(complaint("1,2\n"), ":1:1: expected a number, found '1,2'");
  EXPECT_EQ(complaint(std::string("1\n2\0\n", 5)), ":2:1: expected a number, found '2\\x00'");
  EXPECT_EQ(complaint("1\r2\n"), ":1:1: expected a number, found '1\\x0d2'");
}

TEST_F(Vectors, ReadsLongTextInParallel) {
  std::string text;
  std::vector<double> values;
  for (int k = 0; k < 150000; ++k) {
    text += std::to_string(k) + ".25\n";
    values.push_back(k + 0.25);
  }
  for (const int threads : {1, 2, 5}) EXPECT_EQ(read(text, threads).values.to_vector(), values);
  EXPECT_EQ(complaint(text + "1 2\n"), ":150001: 2 numbers, the rows before have 1");
}

TEST_F(Vectors, ReadsMatrixMarket) {
  expect("%%MatrixMarket matrix array real general\n2 2\n1\n0\n-3\n4\n", 2, 2, {1, 0, -3, 4});
  expect("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", 2, 2, {1, 2, 2, 3});
  expect("%%MatrixMarket matrix coordinate real general\n4 1 3\n3 1 5\n1 1 2\n3 1 1\n", 4, 1, {2, 0, 6, 0});
  EXPECT_EQ(complaint("%MatrixMarket matrix array real general\n1 1\n1\n"),
            ":1:1: expected %%MatrixMarket with two percent signs");
  EXPECT_EQ(complaint("%%MatrixMarket matrix array real general\n1 1\ninf\n"), ":3:1: infinity is not allowed");
}

TEST_F(Vectors, ReadsEveryKindOfNpy) {
  const std::vector<double> f8{1, 2.5, -3, 4, 5, 6};
  expect(npy(dictionary("<f8", "False", "(6,)"), f8), 6, 1, f8);
  expect(npy(dictionary("<f8", "True", "(6,)"), f8, 2), 6, 1, f8);
  expect(npy(dictionary("<f8", "False", "(3, 2)"), f8, 3), 3, 2, {1, -3, 5, 2.5, 4, 6});
  expect(npy(dictionary("<f8", "True", "(3, 2)"), f8), 3, 2, f8);
  expect(npy(dictionary("<f4", "False", "(2,)"), std::vector<float>{0.1f, -2}), 2, 1, {0.1f, -2});
  expect(npy(dictionary("<i8", "False", "(2, 1)"), std::vector<std::int64_t>{-(std::int64_t{1} << 60), 7}), 2,
         1, {-0x1p60, 7});
  expect(npy(dictionary("<i4", "False", "(1, 2)"), std::vector<std::int32_t>{-1, 7}), 1, 2, {-1, 7});
  expect(npy("{\"shape\":(1,),\"descr\":\"<f8\",\"fortran_order\":False}", std::vector<double>{9}), 1, 1, {9});
  expect(npy(dictionary("<f8", "False", "(0,)"), std::vector<double>{}), 0, 1, {});
  expect(gzipped(npy(dictionary("<f8", "False", "(6,)"), f8)), 6, 1, f8);
}

// Megabytes that threads read in pieces: lines short and long, the last piece not full.
TEST_F(Vectors, ReadsLargeNpyInEitherOrder) {
  for (const auto& [rows, cols] :
       {std::pair<std::int64_t, std::int64_t>{401, 1003}, {3, 300001}, {300001, 3}}) {
    std::vector<float> file(static_cast<std::size_t>(rows * cols));
    for (std::size_t k = 0; k < file.size(); ++k) file[k] = static_cast<float>(k) / 8;
    std::vector<double> turned(file.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        turned[static_cast<std::size_t>(j * rows + i)] = file[static_cast<std::size_t>(i * cols + j)];
    const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
    const std::string by_rows = dictionary("<f4", "False", shape.c_str());
    const std::string by_columns = dictionary("<f4", "True", shape.c_str());
    for (const int threads : {1, 2, 5}) {
      EXPECT_EQ(read(npy(by_rows, file), threads).values.to_vector(), turned);
      EXPECT_EQ(read(gzipped(npy(by_rows, file)), threads).values.to_vector(), turned);
      EXPECT_EQ(read(npy(by_columns, file), threads).values.to_vector(),
                std::vector<double>(file.begin(), file.end()));
    }
    // The first one in the file is named.
    file[file.size() - 1] = file[file.size() - 2] = std::numeric_limits<float>::quiet_NaN();
    const std::size_t first = file.size() / 2 + 1;
    file[first] = std::numeric_limits<float>::infinity();
    const auto at = static_cast<std::int64_t>(first);
    EXPECT_EQ(complaint(npy(by_rows, file)),
              ": entry (" + std::to_string(at / cols + 1) + ", " + std::to_string(at % cols + 1) + ") is inf");
    EXPECT_EQ(complaint(npy(by_columns, file)),
              ": entry (" + std::to_string(at % rows + 1) + ", " + std::to_string(at / rows + 1) + ") is inf");
  }
}

// The bytes are spelled out: what numpy.ndarray.tobytes gives for these types.
TEST_F(Vectors, ReadsEveryElementOfNpy) {
  using bytes = std::vector<std::uint8_t>;
  const auto element = [&](const std::string& type, const bytes& stored, double value) {
    expect(npy(dictionary(type.c_str(), "False", "(1,)"), stored), 1, 1, {value});
  };
  element(">f8", {0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A}, 0.1);
  element(">f4", {0xC0, 0x20, 0, 0}, -2.5);
  element("<f2", {0x00, 0x3C}, 1);
  element(">f2", {0xC1, 0x00}, -2.5);
  element("<f2", {0x01, 0x00}, 0x1p-24);
  element("<f2", {0xFF, 0x03}, 1023 * 0x1p-24);
  element("<f2", {0x00, 0x04}, 0x1p-14);
  element("<f2", {0xFF, 0x7B}, 65504);
  element("|i1", {0xFE}, -2);
  element("|u1", {0xFE}, 254);
  element("<i2", {0xFE, 0xFF}, -2);
  element(">u2", {0xFE, 0xFF}, 65279);
  element(">i4", {0xFF, 0xFF, 0xFF, 0xFE}, -2);
  element("<u4", {0xFE, 0xFF, 0xFF, 0xFF}, 4294967294.0);
  element(">i8", {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE}, -2);
  element("<u8", {0, 0, 0, 0, 0, 0, 0, 0x80}, 0x1p63);
  element("|b1", {1}, 1);
  const std::string two_by_two = dictionary(">i2", "False", "(2, 2)");
  expect(npy(two_by_two, bytes{0, 1, 0, 2, 0, 3, 0, 4}), 2, 2, {1, 3, 2, 4});
  EXPECT_EQ(complaint(npy(dictionary("<f2", "False", "(1,)"), bytes{0x00, 0x7C})), ": element 1 is inf");
  EXPECT_EQ(complaint(npy(dictionary("<f2", "False", "(1,)"), bytes{0x01, 0x7C})), ": element 1 is nan");
  EXPECT_EQ(complaint(npy(two_by_two, bytes{0, 1, 0, 2, 0, 3, 0})), ": the .npy file ends early");
}

TEST_F(Vectors, SaysWhatIsWrongWithNpy) {
  const std::vector<double> one{1};
  const std::vector<double> two{1, 2};
  const auto with_header = [&](const std::string& text) { return complaint(npy(text, one)); };
  EXPECT_EQ(complaint("\x93NUMPY\x01"), ": the .npy file ends early");
  EXPECT_EQ(complaint(npy(dictionary("<f8", "False", "(2,)"), one)), ": the .npy file ends early");
  EXPECT_EQ(complaint(gzipped(npy(dictionary("<f8", "False", "(2,)"), one))), ": the .npy file ends early");
  EXPECT_EQ(complaint(npy(dictionary("<f8", "False", "(1,)"), two)),
            ": bytes behind the end of the .npy array");
  EXPECT_EQ(complaint(npy(dictionary("<f8", "False", "(1,)"), one, 4)), ": .npy version 4.0 is not supported");
  for (const std::string type : {"|O", "<c32", "<f16", "<f1", "<U1", "|i4", "<b2", "<M8", "f8", ""})
    EXPECT_EQ(with_header(dictionary(type.c_str(), "False", "(1,)")),
              ": .npy header: elements of type '" + type + "' are not supported");
  EXPECT_EQ(with_header("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}"),
            ": .npy header: structured elements are not supported");
  EXPECT_EQ(with_header(dictionary("<f8", "False", "()")), ": .npy array of 0 dimensions");
  EXPECT_EQ(with_header(dictionary("<f8", "False", "(1, 1, 1)")), ": .npy array of 3 dimensions");
  EXPECT_EQ(with_header(dictionary("<f8", "False", "(-1,)")), ": .npy header: expected a length");
  EXPECT_EQ(with_header(dictionary("<f8", "False", "(9223372036854775807, 9223372036854775807)")),
            ": the .npy file ends early");
  EXPECT_EQ(with_header(dictionary("<f8", "Maybe", "(1,)")), ": .npy header: expected True or False");
  EXPECT_EQ(with_header("{'descr': '<f8', 'shape': (1,)}"),
            ": .npy header: descr, fortran_order or shape is missing");
  EXPECT_EQ(with_header("{'descr': '<f8', 'descr': '<f8'}"), ": .npy header: unexpected key 'descr'");
  EXPECT_EQ(with_header("{'descr': '<f8"), ": .npy header: a string does not end");
  EXPECT_EQ(with_header(dictionary("<f8", "False", "(1,)") + "x"),
            ": .npy header: unexpected text behind the dictionary");
  EXPECT_EQ(complaint(npy(dictionary("<f8", "False", "(2,)"),
                          std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()})),
            ": element 2 is nan");
  const std::vector<double> six{1, 2, 3, 4, std::numeric_limits<double>::infinity(), 6};
  EXPECT_EQ(complaint(npy(dictionary("<f8", "False", "(2, 3)"), six)), ": entry (2, 2) is inf");
  EXPECT_EQ(complaint(npy(dictionary("<f8", "True", "(2, 3)"), six)), ": entry (1, 3) is inf");
}

std::vector<double> random_values(std::int64_t count) {
  std::vector<double> values;
  for (std::uint64_t k = 0; static_cast<std::int64_t>(values.size()) < count; ++k)
    if (const double v = std::bit_cast<double>(random_bits(31, k)); std::isfinite(v)) values.push_back(v);
  return values;
}

TEST_F(Vectors, WritesWhatItReads) {
  for (const char* name : {"x.txt", "x.mtx", "x.npy", "x"})
    for (const auto& [rows, cols] :
         {std::pair<std::int64_t, std::int64_t>{9001, 1}, {1, 1}, {300, 7}, {1, 5}}) {
      std::vector<double> values = random_values(rows * cols);
      values[0] = -0.0;
      write_vectors(folder.path(name), view<const double>(values.data(), rows * cols), rows, cols);
      const vectors x = read_vectors(device::cpu(2), folder.path(name));
      EXPECT_EQ(x.rows, rows) << name;
      EXPECT_EQ(x.cols, cols) << name;
      ASSERT_EQ(x.values.size(), rows * cols) << name;
      EXPECT_EQ(std::memcmp(x.values.data(), values.data(), values.size() * sizeof(double)), 0) << name;
    }
}

TEST_F(Vectors, ReadsTheEmptyVectorThatItWrites) {
  for (const char* name : {"x.txt", "x.mtx", "x.npy", "x"}) {
    write_vectors(folder.path(name), view<const double>(nullptr, 0), 0, 1);
    const vectors x = read_vectors(device::cpu(2), folder.path(name));
    EXPECT_EQ(x.rows, 0) << name;
    EXPECT_EQ(x.cols, 1) << name;
  }
}

TEST_F(Vectors, WritesColumnsOnTheirSides) {
  const std::vector<double> values{0.1, 2, 0.1, 2, 0.3, 0.3};
  const std::vector<text_side> sides{text_side::below, text_side::above};
  write_vectors(folder.path("x.txt"), view<const double>(values.data(), 6), 2, 3, sides);
  EXPECT_EQ(content_of(folder.path("x.txt")),
            "0.1 0.10000000000000001 0.29999999999999998\n2 2 0.29999999999999998\n");
  write_vectors(folder.path("x.mtx"), view<const double>(values.data(), 6), 3, 2, sides);
  EXPECT_EQ(content_of(folder.path("x.mtx")),
            "%%MatrixMarket matrix array real general\n3 2\n0.1\n2\n0.1\n2\n0.3\n0.3\n");
}

TEST_F(Vectors, WritesTheTextOnePlansFor) {
  const std::vector<double> values{1, 0.1, -2, 1e300};
  const view<const double> all(values.data(), 4);
  write_vectors(folder.path("x.txt"), all, 4);
  EXPECT_EQ(content_of(folder.path("x.txt")), "1\n0.1\n-2\n1e+300\n");
  write_vectors(folder.path("x.txt"), all, 2, 2);
  EXPECT_EQ(content_of(folder.path("x.txt")), "1 -2\n0.1 1e+300\n");
  write_vectors(folder.path("x.mtx"), all, 2, 2);
  EXPECT_EQ(content_of(folder.path("x.mtx")),
            "%%MatrixMarket matrix array real general\n2 2\n1\n0.1\n-2\n1e+300\n");
  write_vectors(folder.path("x.npy"), all, 2, 2);
  const std::string text = content_of(folder.path("x.npy"));
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(text.substr(10, 58), "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }");
  EXPECT_EQ(text.size(), 128u + 32u);
  EXPECT_EQ(text[127], '\n');
  // A strided view of every second value.
  write_vectors(folder.path("x.txt"), view<const double>(values.data(), 2, 2), 2);
  EXPECT_EQ(content_of(folder.path("x.txt")), "1\n-2\n");
}

TEST_F(Vectors, RefusesToWriteWhatItCannotRead) {
  const std::vector<double> values{1, std::numeric_limits<double>::infinity()};
  EXPECT_THROW(write_vectors(folder.path("x.txt"), view<const double>(values.data(), 2), 2), value_error);
  EXPECT_THROW(write_vectors(folder.path("x.txt"), view<const double>(values.data(), 1), 2), shape_error);
  EXPECT_THROW(write_vectors(folder.path("none/x.txt"), view<const double>(values.data(), 1), 1), file_error);
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace vouch
