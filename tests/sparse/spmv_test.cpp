#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <devices.hpp>
#include <sparse/spmv_cases.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/sparse/spmv.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {
namespace {

using testing::quad;

template <class T>
class spmv_typed : public ::testing::Test {};
using both = ::testing::Types<float, double>;
TYPED_TEST_SUITE(spmv_typed, both);

constexpr layout every_layout[] = {layout::automatic, layout::csr,  layout::dia,    layout::sell,
                                   layout::bsr,       layout::tile, layout::complex};

template <class T>
std::vector<T> multiply(const device& dev, const spmv_plan<T>& plan, T alpha, const std::vector<T>& x, T beta,
                        const std::vector<T>& y) {
  const auto on_x = array<T>::from(dev, x);
  auto on_y = array<T>::from(dev, y);
  plan.multiply(alpha, on_x, beta, on_y);
  return on_y.to_vector();
}

// A x in quadruple precision, |A||x|, and the entries of each row.
struct reference {
  std::vector<quad> sum;
  std::vector<quad> magnitude;
  std::vector<double> entries;
};

template <class T>
reference exact_product(const testing::row_lists<T>& A, const std::vector<T>& x) {
  reference exact;
  for (const auto& row : A.rows) {
    quad sum = 0, magnitude = 0;
    for (const auto& [j, a] : row) {
      const quad product = quad(a) * x[static_cast<std::size_t>(j)];
      sum += product;
      magnitude += product < 0 ? -product : product;
    }
    exact.sum.push_back(sum);
    exact.magnitude.push_back(magnitude);
    exact.entries.push_back(static_cast<double>(row.size()));
  }
  return exact;
}

// The documented bound of alpha A x + beta y.
template <class T>
void expect_within_bound(const reference& exact, T alpha, T beta, const std::vector<T>& old_y,
                         const std::vector<T>& y, const std::string& what) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    quad value = alpha * exact.sum[i], scale = std::abs(alpha) * exact.magnitude[i];
    if (beta != 0) {
      value += quad(beta) * old_y[i];
      scale += quad(std::abs(beta)) * std::abs(old_y[i]);
    }
    const quad u = std::numeric_limits<T>::epsilon() / 2;
    const quad terms = exact.entries[i] + 2;
    // Each product and the sum may underflow besides.
    const quad bound = terms * u / (1 - terms * u) * scale + terms * std::numeric_limits<T>::denorm_min();
    const quad error = y[i] - value;
    ASSERT_TRUE(error <= bound && -error <= bound)
        << what << ": row " << i << " of " << exact.entries[i] << " entries gives " << y[i] << ", exact "
        << static_cast<double>(value) << ", bound " << static_cast<double>(bound);
  }
}

TYPED_TEST(spmv_typed, every_layout_keeps_the_bound_and_repeats_its_bits) {
  using T = TypeParam;
  for (const auto& [name, A] : testing::product_cases<T>()) {
    const auto rows = static_cast<std::int64_t>(A.rows.size());
    const auto x = testing::random_vector<T>(91, A.cols);
    const auto y = testing::random_vector<T>(92, rows);
    const reference exact = exact_product(A, x);
    for (const layout wanted : every_layout) {
      std::vector<T> one_thread;
      for (const device& dev : testing::devices()) {
        const csr<T> M = A.to_csr(dev);
        spmv_plan<T> plan = spmv_plan<T>::make(dev, M, false, layout::csr);
        try {
          plan = spmv_plan<T>::make(dev, M, false, wanted);
        } catch (const value_error&) {
          continue;
        }
        const std::string what = name + " as " + plan.format() + " on " + dev.kind();
        const auto first = multiply<T>(dev, plan, T(1.5), x, T(-0.25), y);
        expect_within_bound<T>(exact, T(1.5), T(-0.25), y, first, what);
        EXPECT_EQ(first, multiply<T>(dev, plan, T(1.5), x, T(-0.25), y)) << what;
        const auto plain = multiply<T>(dev, plan, T(1), x, T(0), y);
        expect_within_bound<T>(exact, T(1), T(0), y, plain, what);
        if (dev.is_cuda()) continue;
        if (one_thread.empty()) one_thread = plain;
        EXPECT_EQ(one_thread, plain) << what << ", " << dev.threads() << " threads";
      }
    }
  }
}

TYPED_TEST(spmv_typed, rows_do_not_depend_on_how_they_are_cut) {
  using T = TypeParam;
  const device dev = device::cpu(1);
  for (const auto& [name, A] : testing::product_cases<T>()) {
    const csr<T> M = A.to_csr(dev);
    const auto x = testing::random_vector<T>(93, A.cols);
    for (const layout wanted : every_layout) try {
        const auto plan = spmv_plan<T>::make(dev, M, false, wanted);
        std::vector<T> whole(A.rows.size()), cut(A.rows.size());
        plan.multiply_rows(x.data(), whole.data(), 0, M.rows);
        for (std::int64_t i = 0, size = 1; i < M.rows; i += size, size = size % 57 + 8)
          plan.multiply_rows(x.data(), cut.data(), i, std::min(M.rows, i + size));
        EXPECT_EQ(whole, cut) << name << " as " << plan.format();
      } catch (const value_error&) {  // this layout cannot hold this matrix
      }
  }
}

TYPED_TEST(spmv_typed, chooses_by_structure) {
  using T = TypeParam;
  for (const device& dev : testing::devices()) {
    const auto kept = [&](const testing::row_lists<T>& A) {
      return spmv_plan<T>::make(dev, A.to_csr(dev)).format();
    };
    EXPECT_EQ(kept(testing::stencil_matrix<T>(10, true, 1)),
              "dia (7 diagonals, 94 % full; symmetric, upper half stored)");
    EXPECT_EQ(kept(testing::stencil_matrix<T>(10, false, 1)), "dia (7 diagonals, 94 % full)");
    EXPECT_EQ(kept(testing::random_matrix<T>(1000, 1000, 6, 1)).substr(0, 3), dev.is_cuda() ? "sel" : "csr");
    // In cache the CPU prefers full tiles to small blocks.
    const auto starts = [&](const testing::row_lists<T>& A, const std::string& gpu, const std::string& cpu) {
      const std::string wanted = dev.is_cuda() ? gpu : cpu;
      EXPECT_EQ(kept(A).substr(0, wanted.size()), wanted);
    };
    starts(testing::block_matrix<T>(500, 3, 9, false, 1), "bsr (3 by 3 blocks, 100 % full, 1",
           sizeof(T) == 8 ? "bsr (3 by 3 blocks, 100 % full)" : "tile (4 by 4");
    starts(testing::block_matrix<T>(500, 2, 9, false, 1), "bsr (2 by 2 blocks, 100 % full, 1",
           "bsr (2 by 2 blocks, 100 % full)");
    starts(testing::block_matrix<T>(300, 8, 7, true, 1), "bsr (2 by 2", "tile");
    starts(testing::complex_matrix<T>(500, 9, 1), "complex (", "complex (");
    auto B = testing::complex_matrix<T>(500, 9, 1);
    B.rows[998].begin()->second *= 2;
    EXPECT_NE(kept(B).substr(0, 7), "complex");
    using testing::below;
    const std::string pairs = "complex (pairs of rows";
    starts(testing::complex_bands<T>(900, below::unlike, 1), "complex (5 diagonals of complex numbers)", pairs);
    starts(testing::complex_bands<T>(900, below::symmetric, 1),
           "complex (5 diagonals of complex numbers; symmetric, upper half stored)", pairs);
    starts(testing::complex_bands<T>(900, below::conjugate, 1),
           "complex (5 diagonals of complex numbers; Hermitian, upper half stored)",
           sizeof(T) == 8 ? pairs : "dia (13 diagonals");
    // One pair that is neither equal nor conjugate.
    auto uneven = testing::complex_bands<T>(900, below::conjugate, 1);
    uneven.rows[2][0] = uneven.rows[3][1] = 2;
    starts(uneven, "complex (5 diagonals of complex numbers)", pairs);
    // Of blocks that are symmetric and few diagonals, half is less still.
    testing::row_lists<T> phase{2000, std::vector<std::map<std::int32_t, T>>(2000)};
    for (std::int32_t i = 0; i < 2000; ++i) phase.rows[i] = {{i, T(4)}};
    EXPECT_EQ(kept(phase).substr(0, 3), "dia");
    // One entry without its mirror image, a zero without one, an unequal pair.
    auto A = testing::stencil_matrix<T>(10, true, 1);
    A.rows[0].erase(1);
    EXPECT_EQ(kept(A).find("symmetric"), std::string::npos);
    A.rows[1][0] = 0;
    EXPECT_NE(kept(A).find("symmetric"), std::string::npos);
    A.rows[500][501] = 2;
    EXPECT_EQ(kept(A).find("symmetric"), std::string::npos);
  }
}

TYPED_TEST(spmv_typed, beta_zero_overwrites_nan_and_nan_in_x_spreads) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto A = testing::stencil_matrix<T>(6, true, 3);
  for (const device& dev : testing::devices())
    for (const layout wanted : every_layout) {
      const csr<T> M = A.to_csr(dev);
      const auto plan = [&] {
        try {
          return spmv_plan<T>::make(dev, M, true, wanted);
        } catch (const value_error&) {
          return spmv_plan<T>::make(dev, M, true);
        }
      }();
      auto x = testing::random_vector<T>(4, 216);
      for (const T v : multiply<T>(dev, plan, T(2), x, T(0), std::vector<T>(216, nan)))
        EXPECT_TRUE(std::isfinite(v));
      x[100] = nan;
      const auto y = multiply<T>(dev, plan, T(2), x, T(0), std::vector<T>(216, T(0)));
      for (const auto& [j, a] : A.rows[100]) EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(j)]));
    }
}

TYPED_TEST(spmv_typed, a_plan_that_takes_several_passes_can_be_cancelled) {
  using T = TypeParam;
  const csr<T> A =
      testing::row_lists<T>{2, {{{0, T(1)}, {1, T(2)}}, {{0, T(2)}, {1, T(3)}}}}.to_csr(device::cpu());
  cancellation stop;
  stop.request();
  const cancellation_scope listens(stop);
  for (const layout kept_as : {layout::automatic, layout::dia, layout::bsr})
    EXPECT_THROW(spmv_plan<T>::make(device::cpu(), A, true, kept_as), cancelled) << name(kept_as);
  EXPECT_NO_THROW(spmv_plan<T>::make(device::cpu(), A, true, layout::csr));
}

TYPED_TEST(spmv_typed, plain_product_by_hand_and_wrong_shapes) {
  using T = TypeParam;
  for (const device& dev : testing::devices()) {
    // [1 2 0; 0 0 3] (1, 10, 100) = (21, 300)
    const testing::row_lists<T> lists{3, {{{0, T(1)}, {1, T(2)}}, {{2, T(3)}}}};
    const csr<T> A = lists.to_csr(dev);
    const auto x = array<T>::from(dev, std::vector<T>{1, 10, 100});
    auto y = array<T>::from(dev, std::vector<T>{1, 2});
    spmv<T>(dev, T(2), A, x, T(10), y);
    EXPECT_EQ(y.to_vector(), (std::vector<T>{52, 620}));
    EXPECT_THROW(spmv<T>(dev, T(1), A, y, T(0), y), shape_error);
    EXPECT_THROW(spmv<T>(dev, T(1), A, x, T(0), view<T>(y.data(), 1)), shape_error);
    EXPECT_THROW(spmv<T>(dev, T(1), A, view<const T>(x.data(), 3, 2), T(0), y), shape_error);
  }
}

}  // namespace
}  // namespace vouch
