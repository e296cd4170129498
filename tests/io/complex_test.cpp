// Complex matrices and vectors from and to files.
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <variant>
#include <vector>

#include <data.hpp>
#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/vectors.hpp>

namespace vouch {
namespace {

using complex = std::complex<double>;

std::vector<complex> dense(const csr<complex>& A) {
  std::vector<complex> all(static_cast<std::size_t>(A.rows * A.cols));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      all[static_cast<std::size_t>(i * A.cols + A.col[k])] = A.val[k];
  return all;
}

class complex_files : public ::testing::Test {
 protected:
  csr<complex> read(const std::string& text) const {
    return read_complex_csr(device::cpu(2), folder_.file("A.mtx", text));
  }
  std::string complaint(const std::string& text) const {
    try {
      read(text);
    } catch (const parse_error& e) {
      return std::string(e.what()).substr(folder_.path("A.mtx").size());
    }
    return "";
  }

  testing::temporary_folder folder_;
};

TEST_F(complex_files, coordinates_of_every_symmetry) {
  const std::string head = "%%MatrixMarket matrix coordinate complex ";
  EXPECT_EQ(dense(read(head + "general\n2 2 3\n1 1 1 2\n2 1 3e0 -4.5\n1 1 10 20\n")),
            (std::vector<complex>{{11, 22}, 0, {3, -4.5}, 0}));
  EXPECT_EQ(dense(read(head + "symmetric\n2 2 2\n2 1 3 -4\n2 2 1 1\n")),
            (std::vector<complex>{0, {3, -4}, {3, -4}, {1, 1}}));
  EXPECT_EQ(dense(read(head + "skew-symmetric\n2 2 1\n2 1 3 -4\n")),
            (std::vector<complex>{0, {-3, 4}, {3, -4}, 0}));
  EXPECT_EQ(dense(read(head + "hermitian\n2 2 2\n2 1 3 -4\n\t2  2 1 0\n")),
            (std::vector<complex>{0, {3, 4}, {3, -4}, 1}));
}

TEST_F(complex_files, arrays) {
  const std::string head = "%%MatrixMarket matrix array complex ";
  EXPECT_EQ(dense(read(head + "general\n2 2\n1 0\n2 -1\n0 0\n4 4\n")),
            (std::vector<complex>{1, 0, {2, -1}, {4, 4}}));
  EXPECT_EQ(dense(read(head + "hermitian\n2 2\n1 0\n2 -1\n4 0\n")),
            (std::vector<complex>{1, {2, 1}, {2, -1}, 4}));
}

TEST_F(complex_files, real_files_are_read_too) {
  EXPECT_EQ(dense(read("%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 7\n")),
            (std::vector<complex>{0, 7, 7, 0}));
}

TEST_F(complex_files, what_is_wrong_is_named) {
  const std::string head = "%%MatrixMarket matrix coordinate complex ";
  EXPECT_EQ(complaint(head + "general\n1 1 1\n1 1 1\n"), ":3:6: the line ends before the imaginary part");
  EXPECT_EQ(complaint(head + "general\n1 1 1\n1 1 1 2 3\n"), ":3:9: unexpected '3' at the end of the line");
  EXPECT_EQ(complaint(head + "general\n1 1 1\n1 1 1 nan\n").substr(0, 6), ":3:7: ");
  EXPECT_EQ(complaint(head + "general\n1 1 1\n1 1 1e999 0\n").substr(0, 6), ":3:5: ");
  EXPECT_EQ(complaint(head + "hermitian\n1 1 1\n1 1 1 2\n"),
            ":3:1: an entry on the diagonal of a hermitian matrix that is not real");
  EXPECT_EQ(complaint(head + "hermitian\n2 2 1\n1 2 1 2\n"),
            ":3:3: an entry above the diagonal of a hermitian matrix");
  EXPECT_EQ(complaint(head + "skew-hermitian\n2 2 1\n1 2 1 2\n"),
            ":1:42: skew-hermitian is no symmetry of the format");
  EXPECT_EQ(complaint("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n"),
            ":1: hermitian is of complex matrices, the field is real");
}

TEST_F(complex_files, what_is_written_reads_back) {
  const csr<complex> A = read(
      "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n1 1 0.1 0\n2 1 1e-300 -3\n3 2 7 "
      "1e300\n3 3 -0.3 0\n");
  for (const symmetry stored_as : {symmetry::general, symmetry::hermitian}) {
    write_matrix_market(folder_.path("B.mtx"), csr_view<const complex>(A), stored_as);
    const csr<complex> B = read_complex_csr(device::cpu(1), folder_.path("B.mtx"));
    EXPECT_EQ(dense(B), dense(A));
  }
  EXPECT_THROW(write_matrix_market(folder_.path("C.mtx"), csr_view<const complex>(A), symmetry::symmetric),
               value_error);
}

TEST_F(complex_files, vectors_of_every_form) {
  const std::vector<complex> values{{1, -2}, {0.1, 1e-300}, {-3, 0}, {0, 4}, {5, 5}, {6, 0.5}};
  const auto x = array<complex>::from(device::cpu(1), values);
  for (const char* name : {"x.mtx", "x.npy", "x.txt"}) {
    write_vectors(folder_.path(name), view<const complex>(x), 3, 2);
    const auto read = read_any_vectors(device::cpu(2), folder_.path(name), true);
    ASSERT_TRUE(std::holds_alternative<complex_vectors>(read)) << name;
    const auto& v = std::get<complex_vectors>(read);
    EXPECT_EQ(v.rows, 3) << name;
    EXPECT_EQ(v.cols, 2) << name;
    EXPECT_EQ(v.values.to_vector(), values) << name;
  }
  EXPECT_THROW(read_vectors(device::cpu(1), folder_.path("x.npy")), parse_error);
  EXPECT_THROW(read_any_vectors(device::cpu(1), folder_.file("odd.txt", "1 2 3\n"), true), parse_error);
}

// As numpy.save() writes np.array([[1+2j, 3-4j]], dtype=...) in C order.
TEST_F(complex_files, arrays_of_numpy_in_single_and_big_endian) {
  const auto npy = [](const std::string& type, const std::string& bytes) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (1, 2), }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + bytes;
  };
  const std::string little("\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\xc0", 16);
  std::string big = little;
  for (std::size_t k = 0; k < big.size(); k += 4) std::reverse(big.data() + k, big.data() + k + 4);
  for (const auto& [type, bytes] : {std::pair{"<c8", little}, std::pair{">c8", big}}) {
    const auto read = read_any_vectors(device::cpu(1), folder_.file("x.npy", npy(type, bytes)));
    ASSERT_TRUE(std::holds_alternative<complex_vectors>(read));
    EXPECT_EQ(std::get<complex_vectors>(read).values.to_vector(), (std::vector<complex>{{1, 2}, {3, -4}}));
  }
  EXPECT_THROW(read_any_vectors(device::cpu(1), folder_.file("h.npy", npy("<c4", little))), parse_error);
}

TEST(complex_collection, real_matrices_have_the_entries_of_their_authors) {
  const std::string path = testing::data_file("matrices/mhd1280b.mtx");
  VOUCH_NEEDS_DATA(path);
  matrix_market_header header;
  const csr<complex> A = read_complex_csr(device::cpu(2), path, &header);
  EXPECT_EQ(header.field, matrix_field::complex);
  EXPECT_EQ(A.rows, 1280);
  EXPECT_EQ(A.nonzeros(), 22778);  // of the SuiteSparse collection
}

}  // namespace
}  // namespace vouch
