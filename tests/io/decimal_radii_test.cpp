#include <vouch/io/decimal_radii.hpp>

#include <gtest/gtest.h>

#include <string>

#include <temporary.hpp>
#include <vouch/core/error.hpp>

#include "sparse/matrices.hpp"

namespace vouch {
namespace {

constexpr double u = 0x1p-53;

class decimal_radii : public ::testing::Test {
 protected:
  testing::entries matrix(const std::string& text) const {
    return testing::entries_of(read_matrix_radii(device::cpu(2), folder_.file("A.mtx", text)));
  }
  std::vector<double> vector(const std::string& text) const {
    return read_vector_radii(device::cpu(2), folder_.file("b.txt", text)).values.to_vector();
  }
  testing::temporary_folder folder_;
};

TEST_F(decimal_radii, of_sparse_matrices) {
  EXPECT_EQ(matrix("%%MatrixMarket matrix coordinate real general\n%\n2 2 3\n1 1 0.1\n\n1 2 0.5\n2 2 -3e-1\n"),
            (testing::entries{{{0, 0}, 0.1 * u}, {{1, 1}, 0.3 * u}}));
  EXPECT_EQ(matrix("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 0.1\n"),
            (testing::entries{{{0, 1}, 0.1 * u}, {{1, 0}, 0.1 * u}}));
  EXPECT_EQ(matrix("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 0.1\n"),
            (testing::entries{{{0, 1}, 0.1 * u}, {{1, 0}, 0.1 * u}}));
  EXPECT_EQ(matrix("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n"), testing::entries{});
  EXPECT_EQ(matrix("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199254740993\n"),
            (testing::entries{{{0, 0}, 1}}));
  EXPECT_THROW(matrix("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0.1\n1 1 0.2\n"), value_error);
}

TEST_F(decimal_radii, of_dense_matrices) {
  EXPECT_EQ(matrix("%%MatrixMarket matrix array real general\n2 2\n0\n0.1\n0.2\n1\n"),
            (testing::entries{{{0, 1}, 0.2 * u}, {{1, 0}, 0.1 * u}}));
  EXPECT_EQ(matrix("%%MatrixMarket matrix array real symmetric\n2 2\n0.1\n0.2\n1\n"),
            (testing::entries{{{0, 0}, 0.1 * u}, {{0, 1}, 0.2 * u}, {{1, 0}, 0.2 * u}}));
}

TEST_F(decimal_radii, of_vectors) {
  EXPECT_EQ(vector("0.1 1\n\n2 0.2\r\n"), (std::vector<double>{0.1 * u, 0, 0, 0.2 * u}));
  EXPECT_EQ(vector("%%MatrixMarket matrix array real general\n2 1\n0.1\n1\n"),
            (std::vector<double>{0.1 * u, 0}));
  const std::string path = folder_.path("b.npy");
  const std::vector<double> numbers{0.1, 0.2};
  write_vectors(path, {numbers.data(), 2}, 2);
  EXPECT_EQ(read_vector_radii(device::cpu(1), path).values.to_vector(), (std::vector<double>{0, 0}));
  EXPECT_EQ(read_matrix_radii(device::cpu(1), path).nonzeros(), 0);
}

// Integers of 8 bytes: 2^53, 2^53 + 1, 1 - 2^63, 2^62 + 255.
TEST_F(decimal_radii, of_integers_in_arrays_of_numpy) {
  const auto file = [this](const std::string& type, const std::string& shape, bool big_endian) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    std::string bytes = "\x93NUMPY\x01" + std::string(1, '\0') + "v" + std::string(1, '\0') + header + "\n";
    for (const std::uint64_t number :
         {0x0020000000000000u, 0x0020000000000001u, 0x8000000000000001u, 0x40000000000000ffu})
      for (int k = 0; k < 8; ++k) bytes += static_cast<char>(number >> 8 * (big_endian ? 7 - k : k));
    return folder_.file("A.npy", bytes);
  };
  const auto matrix_of = [](const std::string& path) {
    return testing::entries_of(read_matrix_radii(device::cpu(1), path));
  };
  EXPECT_EQ(matrix_of(file("<i8", "(2, 2)", false)),
            (testing::entries{{{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 255}}));
  EXPECT_EQ(matrix_of(file(">u8", "(2, 2)", true)),
            (testing::entries{{{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 255}}));
  EXPECT_EQ(read_vector_radii(device::cpu(1), file("<i8", "(4,)", false)).values.to_vector(),
            (std::vector<double>{0, 1, 1, 255}));
  EXPECT_EQ(matrix_of(file("<f8", "(2, 2)", false)), testing::entries{});
}

}  // namespace
}  // namespace vouch
