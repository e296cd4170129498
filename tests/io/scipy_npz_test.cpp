#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <npz.hpp>
#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/decimal_radii.hpp>
#include <vouch/io/scipy_npz.hpp>
#include <vouch/io/vectors.hpp>

namespace vouch {
namespace {

using testing::zip_member;
using testing::zip_writer;

// An .npy file of any elements.
template <class T>
std::string array(const char* type, const std::string& shape, const std::vector<T>& elements,
                  const char* order = "False") {
  std::string header =
      std::string("{'descr': '") + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(118 - 1, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
  text += header;
  const std::size_t start = text.size();
  text.resize(start + elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(text.data() + start, elements.data(), elements.size() * sizeof(T));
  return text;
}

using i4 = std::vector<std::int32_t>;
using i8 = std::vector<std::int64_t>;
using f8 = std::vector<double>;

std::string format_of(const std::string& name) {
  return array("|S3", "()", std::vector<char>(name.begin(), name.end()));
}

std::string tuple(std::size_t length) { return "(" + std::to_string(length) + ",)"; }
std::string int32(const i4& elements) { return array("<i4", tuple(elements.size()), elements); }
std::string int64(const i8& elements) { return array("<i8", tuple(elements.size()), elements); }
std::string reals(const f8& elements) { return array("<f8", tuple(elements.size()), elements); }

class ScipyNpz : public ::testing::Test {
 protected:
  using members = std::vector<zip_member>;
  static members matrix(const std::string& format, members arrays, const i8& shape = {3, 4}) {
    arrays.push_back({"format.npy", format_of(format)});
    arrays.push_back({"shape.npy", int64(shape)});
    return arrays;
  }
  csr<double> read(const members& arrays) const {
    return read_csr(device::cpu(2), folder.file("A.npz", zip_writer().archive(arrays)));
  }
  void refuse(const members& arrays, const std::string& complaint) const {
    try {
      read(arrays);
      ADD_FAILURE() << "read, expected " << complaint;
    } catch (const parse_error& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.substr(text.find("A.npz") + 5), complaint);
    }
  }
  // 1 . 2 .
  // . . . 3
  // 4 5 . .
  void expect_sample(const members& arrays) const {
    for (const bool deflated : {false, true}) {
      members all = arrays;
      for (zip_member& m : all) m.deflated = deflated;
      const csr<double> A = read(all);
      EXPECT_EQ(A.rows, 3);
      EXPECT_EQ(A.cols, 4);
      EXPECT_EQ(A.row_ptr.to_vector(), (i8{0, 2, 3, 5}));
      EXPECT_EQ(A.col.to_vector(), (i4{0, 2, 3, 0, 1}));
      EXPECT_EQ(A.val.to_vector(), (f8{1, 2, 3, 4, 5}));
    }
  }
  const testing::temporary_folder folder;
};

TEST_F(ScipyNpz, every_format_by_hand) {
  expect_sample(matrix("csr", {{"data.npy", reals({1, 2, 3, 4, 5})},
                               {"indices.npy", int32({0, 2, 3, 0, 1})},
                               {"indptr.npy", int32({0, 2, 3, 5})}}));
  expect_sample(matrix("csr", {{"data.npy", reals({2, 1, 3, 5, 4})},
                               {"indices.npy", int64({2, 0, 3, 1, 0})},
                               {"indptr.npy", int64({0, 2, 3, 5})}}));
  expect_sample(matrix("csc", {{"data.npy", reals({1, 4, 5, 2, 3})},
                               {"indices.npy", int32({0, 2, 2, 0, 1})},
                               {"indptr.npy", int32({0, 2, 3, 4, 5})}}));
  expect_sample(matrix("coo", {{"data.npy", reals({5, 1, 3, 4, 1, 1})},
                               {"row.npy", int32({2, 0, 1, 2, 0, 0})},
                               {"col.npy", int32({1, 0, 3, 0, 2, 2})}}));
  expect_sample(
      matrix("dia", {{"data.npy", array("<f8", "(4, 4)", f8{4, 0, 9, 9, 0, 5, 0, 9, 1, 0, 0, 9, 9, 0, 2, 3})},
                     {"offsets.npy", int32({-2, -1, 0, 2})}}));
}

TEST_F(ScipyNpz, real_numbers_as_complex_ones) {
  const std::string path =
      folder.file("A.npz", zip_writer().archive(matrix("csr", {{"data.npy", reals({2, -3, 5})},
                                                               {"indices.npy", int32({0, 3, 1})},
                                                               {"indptr.npy", int32({0, 2, 2, 3})}})));
  matrix_market_header header;
  const csr<std::complex<double>> A = read_complex_csr(device::cpu(2), path, &header);
  EXPECT_EQ(header.entries, 3);
  EXPECT_EQ(A.cols, 4);
  EXPECT_EQ(A.row_ptr.to_vector(), (i8{0, 2, 2, 3}));
  EXPECT_EQ(A.col.to_vector(), (i4{0, 3, 1}));
  EXPECT_EQ(A.val.to_vector(), (std::vector<std::complex<double>>{2, -3, 5}));
}

TEST_F(ScipyNpz, blocks_keep_their_zeros) {
  const csr<double> A = read(matrix("bsr", {{"data.npy", array("<f8", "(2, 1, 2)", f8{1, 0, 4, 5})},
                                            {"indices.npy", int32({1, 0})},
                                            {"indptr.npy", int32({0, 1, 1, 2})}}));
  EXPECT_EQ(A.row_ptr.to_vector(), (i8{0, 2, 2, 4}));
  EXPECT_EQ(A.col.to_vector(), (i4{2, 3, 0, 1}));
  EXPECT_EQ(A.val.to_vector(), (f8{1, 0, 4, 5}));
}

TEST_F(ScipyNpz, other_types_of_elements) {
  const members arrays = {
      {"data.npy", array("<i2", "(1,)", std::vector<std::int16_t>{-7})},
      {"indices.npy", array("<u2", "(1,)", std::vector<std::uint16_t>{3})},
      {"indptr.npy", array(">i4", "(2,)", std::vector<unsigned char>{0, 0, 0, 0, 0, 0, 0, 1})}};
  members unicode = arrays;
  unicode.push_back({"format.npy", array("<U3", "()", std::vector<std::uint32_t>{'c', 's', 'r'})});
  unicode.push_back({"shape.npy", int32({1, 4})});
  const csr<double> A = read(unicode);
  EXPECT_EQ(A.col.to_vector(), (i4{3}));
  EXPECT_EQ(A.val.to_vector(), (f8{-7}));
  const vectors dense = read_vectors(device::cpu(), folder.path("A.npz"));
  EXPECT_EQ(dense.values.to_vector(), (f8{0, 0, 0, -7}));
}

TEST_F(ScipyNpz, radii_of_large_integers) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  read(matrix(
      "csr",
      {{"data.npy", int64({2, odd})}, {"indices.npy", int32({0, 1})}, {"indptr.npy", int32({0, 2, 2, 2})}}));
  const csr<double> radii = read_matrix_radii(device::cpu(), folder.path("A.npz"));
  EXPECT_EQ(radii.col.to_vector(), (i4{1}));
  EXPECT_EQ(radii.val.to_vector(), (f8{1}));
}

TEST_F(ScipyNpz, what_is_wrong_is_named) {
  const auto csr_of = [](const std::string& data, const std::string& indices, const std::string& indptr) {
    return matrix("csr", {{"data.npy", data}, {"indices.npy", indices}, {"indptr.npy", indptr}});
  };
  const std::string data = reals({1, 2}), indices = int32({0, 1}), indptr = int32({0, 1, 2, 2});
  refuse(csr_of(data, int32({0, 4}), indptr), "(indices.npy): element 1: index 4 does not lie from 0 to 3");
  refuse(csr_of(data, int32({-1, 4}), indptr), "(indices.npy): element 0: index -1 does not lie from 0 to 3");
  refuse(csr_of(data, array("<u8", "(2,)", std::vector<std::uint64_t>{0, ~0ull}), indptr),
         "(indices.npy): element 1: index -1 does not lie from 0 to 3");
  refuse(csr_of(data, int32({0}), indptr), "(indices.npy): 1 elements, expected 2");
  refuse(csr_of(data, reals({0, 1}), indptr), "(indices.npy): indices must be integers");
  refuse(csr_of(data, indices, int32({0, 2, 1, 2})), "(indptr.npy): element 2: 1 is out of order");
  refuse(csr_of(data, indices, int32({0, 1, 1, 1})), "(indptr.npy): it goes from 0 to 1, expected 0 to 2");
  refuse(csr_of(data, indices, int32({0, 2})), "(indptr.npy): 2 elements, expected 4");
  refuse(csr_of(reals({1, std::numeric_limits<double>::infinity()}), indices, indptr),
         "(data.npy): element 1 is inf");
  refuse(csr_of(array("<c16", "(2,)", f8{1, 2, 3, 4}), indices, indptr),
         "(data.npy): sparse matrices of complex numbers are read from .mtx");
  refuse(csr_of(array("<f8", "(1, 2)", f8{1, 2}), indices, indptr), "(data.npy): 2 dimensions, expected 1");
  refuse(matrix("csr", {{"data.npy", data}}), ": the .npz archive has no array indptr");
  refuse(matrix("lil", {{"data.npy", data}}), "(format.npy): no format that is known");
  refuse(matrix("csr", {{"data.npy", data}}, {3}), "(shape.npy): 1 elements, expected 2");
  refuse(matrix("csr", {{"data.npy", data}}, {3, 1ll << 31}),
         "(shape.npy): rows and columns must be from 0 to 2147483647");
  refuse(matrix("bsr", {{"data.npy", array("<f8", "(1, 2, 2)", f8{1, 0, 4, 5})},
                        {"indices.npy", int32({0})},
                        {"indptr.npy", int32({0, 1})}}),
         "(data.npy): blocks of 2 by 2 do not tile a matrix of 3 by 4");
  refuse({{"dl.npy", data}}, ": the .npz archive holds no sparse matrix: format, shape or data is missing");
}

// Members whose checksums fit whatever stands in them.
TEST_F(ScipyNpz, any_byte_of_a_member_may_be_wrong) {
  const members good = matrix(
      "csr",
      {{"data.npy", reals({1, 2})}, {"indices.npy", int32({0, 1})}, {"indptr.npy", int32({0, 1, 2, 2})}});
  for (std::size_t m = 0; m < good.size(); ++m)
    for (std::size_t k = 0; k < good[m].content.size(); ++k)
      for (const int change : {1, 2, 128, 255}) {
        if (good[m].name == "shape.npy" && k >= 128 + 2) continue;  // millions of rows
        members bad = good;
        bad[m].content[k] = static_cast<char>(bad[m].content[k] ^ change);
        try {
          read(bad);
        } catch (const parse_error&) {
        }
      }
}

// SciPy itself reads such files in python/tests.
TEST_F(ScipyNpz, what_is_written_reads_back) {
  const std::int64_t row_ptr[] = {0, 2, 2, 4};
  const std::int32_t col[] = {0, 3, 1, 2};
  const double val[] = {-0.0, 5e-324, 0.1, -1e308};
  {
    atomic_file file(folder.path("W.npz"));
    write_scipy_npz(file, csr_view<const double>{3, 4, 4, row_ptr, col, val});
    file.commit();
  }
  const csr<double> A = read_csr(device::cpu(2), folder.path("W.npz"));
  EXPECT_EQ(A.rows, 3);
  EXPECT_EQ(A.cols, 4);
  EXPECT_TRUE(std::equal(A.row_ptr.begin(), A.row_ptr.end(), row_ptr, row_ptr + 4));
  EXPECT_TRUE(std::equal(A.col.begin(), A.col.end(), col, col + 4));
  ASSERT_EQ(A.nonzeros(), 4);
  EXPECT_EQ(std::memcmp(A.val.data(), val, sizeof val), 0);

  const double broken[] = {1, 2, 3, std::numeric_limits<double>::infinity()};
  atomic_file file(folder.path("X.npz"));
  EXPECT_THROW(write_scipy_npz(file, csr_view<const double>{3, 4, 4, row_ptr, col, broken}), value_error);
}

}  // namespace
}  // namespace vouch
