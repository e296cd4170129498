#include <gtest/gtest.h>

#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/solve/precond/block_jacobi.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/solve/precond/scaling.hpp>

#include "devices.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

template <class T>
class diagonal_preconditioner : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(diagonal_preconditioner, types);

TYPED_TEST(diagonal_preconditioner, jacobi_is_the_inverse_diagonal) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const problem& p : small_problems()) {
      const csr<T> A = to_sparse<T>(dev, p);
      const auto M = make_jacobi(dev, A.all());
      std::vector<T> expected, given(static_cast<std::size_t>(p.n));
      for (std::int32_t i = 0; i < p.n; ++i) expected.push_back(T(1) / static_cast<T>(p.a.at({i, i})));
      copy_bytes(given.data(), device::cpu(1), M->diagonal(), dev, given.size() * sizeof(T));
      EXPECT_EQ(given, expected) << p.name;
      EXPECT_EQ(apply(dev, *M, std::vector<T>(given.size(), T(1))), expected) << p.name;
      EXPECT_EQ(M->name(), "jacobi");
    }
}

TYPED_TEST(diagonal_preconditioner, block_jacobi_is_the_inverse_of_the_blocks) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const problem& p : small_problems())
      for (const std::int64_t b : {1, 2, 3, 7, 32}) {
        const csr<T> A = to_sparse<T>(dev, p);
        dense blocks = to_dense<T>(p);
        for (std::int64_t i = 0; i < p.n; ++i)
          for (std::int64_t j = 0; j < p.n; ++j)
            if (i / b != j / b) blocks(i, j) = 0;
        const auto M = make_block_jacobi(dev, A.all(), b);
        expect_near(matrix_of(dev, *M, p.n), inverse(blocks), 40 * std::numeric_limits<T>::epsilon(),
                    p.name + " " + M->name());
      }
}

TYPED_TEST(diagonal_preconditioner, block_size_follows_the_pattern) {
  using T = TypeParam;
  // Each unknown of a 1D problem becomes b unknowns coupled with one another and with their neighbours'.
  for (const device& dev : devices())
    for (const std::int32_t b : {2, 3, 4, 6, 8}) {
      problem p{"blocks", 10 * b, {}};
      for (std::int32_t i = 0; i < p.n; ++i)
        for (std::int32_t j = 0; j < p.n; ++j)
          if (std::abs(i / b - j / b) <= 1) p.a[{i, j}] = i == j ? 100 : 1;
      EXPECT_EQ(natural_block(dev, to_sparse<T>(dev, p).all()), b);
    }
  for (const device& dev : devices()) {
    EXPECT_EQ(natural_block(dev, to_sparse<T>(dev, poisson(1, 9, 11)).all()), 3);
    EXPECT_EQ(natural_block(dev, to_sparse<T>(dev, {"empty", 0, {}}).all()), 3);
  }
}

// The message names the first bad row, from 1.
template <class Make>
void expect_refused(Make make, const std::string& row) {
  try {
    make();
    FAIL() << "accepted";
  } catch (const value_error& e) {
    EXPECT_NE(std::string(e.what()).find(row), std::string::npos) << e.what();
  }
}

TYPED_TEST(diagonal_preconditioner, bad_diagonals_are_refused_by_row) {
  using T = TypeParam;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const device& dev : devices())
    for (const double bad : {0.0, -2.0, std::nan(""), infinity, -infinity, 0x1p-149}) {
      if (bad == 0x1p-149 && std::is_same_v<T, double>) continue;  // has an inverse there
      problem p = poisson(1, 5, 5);
      p.a[{13, 13}] = p.a[{17, 17}] = bad;
      const csr<T> A = to_sparse<T>(dev, p);
      expect_refused([&] { make_jacobi(dev, A.all()); }, "row 14 ");
      expect_refused([&] { make_block_jacobi(dev, A.all(), 2); }, "row 14 ");
      expect_refused([&] { scale_symmetric(dev, A.all()); }, "row 14 ");
    }
}

TYPED_TEST(diagonal_preconditioner, a_missing_diagonal_entry_is_zero) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    problem p = poisson(1, 5, 5);
    p.a.erase({3, 3});
    const csr<T> A = to_sparse<T>(dev, p);
    expect_refused([&] { make_jacobi(dev, A.all()); }, "row 4 is 0");
  }
}

TYPED_TEST(diagonal_preconditioner, indefinite_blocks_and_wrong_sizes_are_refused) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    problem p = diagonal_matrix(10);
    p.a[{7, 6}] = p.a[{6, 7}] = 100;
    const csr<T> A = to_sparse<T>(dev, p);
    expect_refused([&] { make_block_jacobi(dev, A.all(), 3); }, "rows 7 to 9 ");
    EXPECT_NO_THROW(make_block_jacobi(dev, A.all(), 1));
    EXPECT_THROW(make_block_jacobi(dev, A.all(), 33), value_error);
    EXPECT_THROW(make_block_jacobi(dev, A.all(), -1), value_error);
    csr_view<const T> wide = A.all();
    wide.cols = 11;
    EXPECT_THROW(make_jacobi(dev, wide), shape_error);
  }
}

TYPED_TEST(diagonal_preconditioner, powers_of_two_scale_exactly) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const problem& p : small_problems()) {
      const csr<T> A = to_sparse<T>(dev, p);
      const jacobi_scaling<T> S = scale_symmetric(dev, A.all());
      const csr<T> B = S.matrix.to(device::cpu(1));
      const std::vector<T> scale = S.scale.to_vector();
      for (std::int64_t i = 0; i < p.n; ++i) {
        int exponent = 0;
        const T si = scale[static_cast<std::size_t>(i)];
        EXPECT_EQ(std::frexp(si, &exponent), T(0.5));
        for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k) {
          const T sj = scale[static_cast<std::size_t>(B.col[k])];
          const T a = static_cast<T>(p.a.at({static_cast<std::int32_t>(i), B.col[k]}));
          EXPECT_EQ(B.val[k] / si / sj, a) << p.name;
          EXPECT_TRUE(B.col[k] != i || (B.val[k] >= T(0.5) && B.val[k] <= T(2))) << B.val[k];
        }
      }
    }
}

TYPED_TEST(diagonal_preconditioner, nearest_scaling_gives_a_unit_diagonal_and_symmetry) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    const problem p = random_spd(90, 4, 3);
    const csr<T> A = to_sparse<T>(dev, p);
    const csr<T> B = scale_symmetric(dev, A.all(), scale_rounding::nearest).matrix.to(device::cpu(1));
    std::map<std::pair<std::int64_t, std::int64_t>, T> values;
    for (std::int64_t i = 0; i < p.n; ++i)
      for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k) values[{i, B.col[k]}] = B.val[k];
    ASSERT_EQ(values.size(), p.a.size());
    for (const auto& [place, value] : values) {
      EXPECT_EQ(value, values.at({place.second, place.first}));
      EXPECT_TRUE(place.first != place.second || std::abs(value - 1) <= 4 * std::numeric_limits<T>::epsilon());
    }
  }
}

}  // namespace
}  // namespace vouch::testing
