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

}  // namespace
}  // namespace vouch
