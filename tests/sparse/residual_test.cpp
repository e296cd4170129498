#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <devices.hpp>
#include <sparse/spmv_cases.hpp>
#include <vouch/core/error.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {
namespace {

using testing::quad;

template <class T>
class residual_typed : public ::testing::Test {};
using both = ::testing::Types<float, double>;
TYPED_TEST_SUITE(residual_typed, both);

template <class T>
struct outcome {
  std::vector<T> r;
  residual_facts facts;
};

template <class T>
outcome<T> run(const device& dev, const testing::row_lists<T>& A, const std::vector<T>& b,
               const std::vector<T>& x_hi, const std::vector<T>& x_lo) {
  const csr<T> M = A.to_csr(dev);
  const auto on_b = array<T>::from(dev, b);
  const auto on_hi = array<T>::from(dev, x_hi);
  const auto on_lo = array<T>::from(dev, x_lo);
  array<T> r(dev, M.rows);
  const residual_facts facts = residual<T>(dev, M, on_b, on_hi, x_lo.empty() ? nullptr : on_lo.data(), r);
  return {r.to_vector(), facts};
}

quad magnitude(quad a) { return a < 0 ? -a : a; }

// Cancels all but the last bits: b is A x rounded, so the residual is rounding error alone.
TYPED_TEST(residual_typed, is_accurate_where_everything_cancels) {
  using T = TypeParam;
  const double u = std::numeric_limits<T>::epsilon() / 2;
  for (const auto& [name, A] : testing::product_cases<T>()) {
    const auto x_hi = testing::random_vector<T>(61, A.cols);
    auto x_lo = testing::random_vector<T>(62, A.cols);
    for (T& v : x_lo) v = static_cast<T>(v * u);
    for (const bool with_lo : {false, true}) {
      std::vector<quad> exact;
      std::vector<quad> scale;
      std::vector<T> b;
      for (const auto& row : A.rows) {
        quad sum = 0, size = 0;
        for (const auto& [j, a] : row) {
          const auto k = static_cast<std::size_t>(j);
          sum += quad(a) * x_hi[k];
          if (with_lo) sum += quad(a) * x_lo[k];
          size += magnitude(quad(a) * x_hi[k]);
        }
        b.push_back(static_cast<T>(sum));
        exact.push_back(b.back() - sum);
        scale.push_back(size + magnitude(sum));
      }
      std::vector<T> one_thread;
      for (const device& dev : testing::devices()) {
        const auto [r, facts] = run<T>(dev, A, b, x_hi, with_lo ? x_lo : std::vector<T>{});
        for (std::size_t i = 0; i < r.size(); ++i) {
          const quad terms = static_cast<double>(A.rows[i].size() + 1);
          const quad bound = u * magnitude(exact[i]) + 10 * terms * u * u * scale[i] +
                             terms * 4 * std::numeric_limits<double>::min() +
                             std::numeric_limits<T>::denorm_min();
          ASSERT_TRUE(magnitude(r[i] - exact[i]) <= bound)
              << name << " on " << dev.kind() << ": row " << i << " gives " << r[i] << ", exact "
              << static_cast<double>(exact[i]);
        }
        if (dev.is_cuda()) continue;
        if (one_thread.empty()) one_thread = r;
        EXPECT_EQ(one_thread, r) << name;
      }
    }
  }
}

// Rows that are worked on several at a time have the bits of rows that are alone in their matrix.
TYPED_TEST(residual_typed, has_the_bits_of_rows_alone) {
  using T = TypeParam;
  const device cpu = device::cpu(1);
  testing::row_lists<T> A;
  A.cols = 50;
  constexpr std::int32_t rows = 84;
  for (std::int32_t i = 0; i < rows; ++i) {
    auto& row = A.rows.emplace_back();
    const std::int32_t entries = i < 21 ? 7 : i < 40 ? i % 3 : i < 60 ? 12 : 5 + i % 7 / 3;
    for (std::int32_t k = 0; k < entries; ++k)
      row[(i + 4 * k) % 50] = testing::random_vector<T>(static_cast<std::uint64_t>(50 * i + k), 1)[0];
  }
  const auto b = testing::random_vector<T>(81, rows);
  const auto x = testing::random_vector<T>(82, 50);
  auto x_lo = testing::random_vector<T>(83, 50);
  for (std::size_t j = 0; j < 50; ++j) x_lo[j] *= j % 3 == 0 ? 0 : std::numeric_limits<T>::epsilon() / 4 * x[j];
  for (const std::vector<T>& low : {std::vector<T>{}, x_lo}) {
    const auto all = run<T>(cpu, A, b, x, low);
    double most = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      testing::row_lists<T> one;
      one.cols = 50;
      one.rows = {A.rows[i]};
      const auto alone = run<T>(cpu, one, {b[i]}, x, low);
      EXPECT_EQ(all.r[i], alone.r[0]) << i;
      most = std::max(most, alone.facts.matrix_norm_inf);
    }
    EXPECT_EQ(all.facts.matrix_norm_inf, most);
  }
}

TYPED_TEST(residual_typed, of_zero_is_b) {
  using T = TypeParam;
  const auto A = testing::stencil_matrix<T>(12, true, 81);
  auto b = testing::random_vector<T>(82, 1728);
  b[5] = 0;
  const std::vector<T> zero(1728), negative(1728, T(-0.0));
  for (const device& dev : testing::devices()) {
    const auto near = run<T>(dev, A, b, std::vector<T>(1728, std::numeric_limits<T>::min()), {}).facts;
    for (const std::vector<T>& x : {zero, negative}) {
      const auto all = run<T>(dev, A, b, x, {});
      EXPECT_EQ(all.r, b);
      EXPECT_EQ(all.facts.norm2, all.facts.rhs_norm2);
      EXPECT_EQ(all.facts.matrix_norm_inf, near.matrix_norm_inf);
      EXPECT_EQ(all.facts.product_norm2, 0);
      EXPECT_EQ(all.facts.x_norm_inf, 0);
    }
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      auto M = A;
      M.rows[700].begin()->second = bad;
      const auto all = run<T>(dev, M, b, zero, {});
      EXPECT_TRUE(std::isnan(all.r[700]) && std::isnan(all.facts.norm2));
    }
    EXPECT_FALSE(std::signbit(run<T>(dev, A, negative, zero, {}).r[0])) << "one entry of row 0 is negative";
  }
}

double relative(double value, quad exact) {
  return exact == 0 ? std::abs(value) : static_cast<double>(magnitude(value - exact) / exact);
}

TYPED_TEST(residual_typed, norms_match_their_definitions) {
  using T = TypeParam;
  const auto A = testing::random_matrix<T>(1700, 1300, 9, 71);
  const auto b = testing::random_vector<T>(72, 1700);
  const auto x = testing::random_vector<T>(73, 1300);
  for (const device& dev : testing::devices()) {
    const auto [r, facts] = run<T>(dev, A, b, x, {});
    quad r2 = 0, b2 = 0, product2 = 0, row_max = 0, r_max = 0, b_max = 0, x_max = 0;
    for (std::size_t i = 0; i < 1700; ++i) {
      quad row = 0, product = 0;
      for (const auto& [j, a] : A.rows[i]) {
        row += magnitude(a);
        product += magnitude(quad(a) * x[static_cast<std::size_t>(j)]);
      }
      r2 += quad(r[i]) * r[i];
      b2 += quad(b[i]) * b[i];
      product2 += product * product;
      row_max = std::max(row_max, row);
      r_max = std::max(r_max, magnitude(r[i]));
      b_max = std::max(b_max, magnitude(b[i]));
    }
    for (const T v : x) x_max = std::max(x_max, magnitude(v));
    const double close = 1e-14;
    EXPECT_LE(relative(facts.norm2 * facts.norm2, r2), close);
    EXPECT_LE(relative(facts.rhs_norm2 * facts.rhs_norm2, b2), close);
    EXPECT_LE(relative(facts.product_norm2 * facts.product_norm2, product2), close);
    EXPECT_LE(relative(facts.matrix_norm_inf, row_max), close);
    EXPECT_EQ(facts.norm_inf, static_cast<double>(r_max));
    EXPECT_EQ(facts.rhs_norm_inf, static_cast<double>(b_max));
    EXPECT_EQ(facts.x_norm_inf, static_cast<double>(x_max));
    EXPECT_LE(relative(facts.backward_error(), r_max / (row_max * x_max + b_max)), close);
  }
}

TYPED_TEST(residual_typed, norms_neither_overflow_nor_underflow) {
  using T = TypeParam;
  for (const device& dev : testing::devices())
    for (const int exponent :
         {std::numeric_limits<T>::max_exponent - 4, 300, -300, 20, std::numeric_limits<T>::min_exponent + 3}) {
      if (exponent > std::numeric_limits<T>::max_exponent - 4 ||
          exponent < std::numeric_limits<T>::min_exponent)
        continue;
      // A = 0, so that r = b = (3, 4, 0, 0, ...) times a power of two: the norm is 5 times it, exactly.
      const testing::row_lists<T> A{2, std::vector<std::map<std::int32_t, T>>(2000)};
      std::vector<T> b(2000);
      b[3] = std::ldexp(T(3), exponent);
      b[1999] = std::ldexp(T(4), exponent);
      const auto [r, facts] = run<T>(dev, A, b, {1, 1}, {});
      EXPECT_EQ(r, b);
      EXPECT_EQ(facts.norm2, std::ldexp(5.0, exponent));
      EXPECT_EQ(facts.rhs_norm2, std::ldexp(5.0, exponent));
      EXPECT_EQ(facts.backward_error(), 1.0);
    }
}

// Norms whose product overflows: 1e300 * 1e300 in the denominator, a residual of the size of b.
TEST(residual, backward_error_of_huge_norms) {
  const residual_facts facts{1e290, 1e290, 1e300, 1e300, 1e290, 1e290, 0};
  EXPECT_EQ(facts.backward_error(),
            1e290L / (1e300L * 1e300L) > 0 ? static_cast<double>(1e290L / 1e300L / 1e300L) : 0);
  EXPECT_EQ(residual_facts{}.backward_error(), 0);
}

TYPED_TEST(residual_typed, nan_and_infinity_reach_the_norms) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto A = testing::stencil_matrix<T>(12, true, 81);
  const auto clean_b = testing::random_vector<T>(82, 1728);
  const auto clean_x = testing::random_vector<T>(83, 1728);
  for (const device& dev : testing::devices())
    for (const std::size_t place : {std::size_t{0}, std::size_t{700}, std::size_t{1727}}) {
      auto b = clean_b;
      b[place] = nan;
      const auto in_b = run<T>(dev, A, b, clean_x, {}).facts;
      EXPECT_TRUE(std::isnan(in_b.norm2) && std::isnan(in_b.norm_inf));
      EXPECT_TRUE(std::isnan(in_b.rhs_norm2) && std::isnan(in_b.rhs_norm_inf));
      EXPECT_TRUE(std::isnan(in_b.backward_error()));
      EXPECT_FALSE(std::isnan(in_b.matrix_norm_inf) || std::isnan(in_b.x_norm_inf));

      auto x = clean_x;
      x[place] = nan;
      const auto in_x = run<T>(dev, A, clean_b, x, {}).facts;
      EXPECT_TRUE(std::isnan(in_x.norm2) && std::isnan(in_x.norm_inf));
      EXPECT_TRUE(std::isnan(in_x.x_norm_inf) && std::isnan(in_x.product_norm2));
      EXPECT_FALSE(std::isnan(in_x.rhs_norm2));

      auto M = A;
      M.rows[place].begin()->second = nan;
      const auto in_A = run<T>(dev, M, clean_b, clean_x, {}).facts;
      EXPECT_TRUE(std::isnan(in_A.norm2) && std::isnan(in_A.matrix_norm_inf));

      b[place] = std::numeric_limits<T>::infinity();
      EXPECT_FALSE(std::isfinite(run<T>(dev, A, b, clean_x, {}).facts.norm2));
    }
}

TYPED_TEST(residual_typed, takes_b_as_r_and_refuses_wrong_shapes) {
  using T = TypeParam;
  for (const device& dev : testing::devices()) {
    // b - A x = (7 - 12, 5 - 30)
    const testing::row_lists<T> lists{2, {{{0, T(2)}, {1, T(1)}}, {{1, T(3)}}}};
    const csr<T> A = lists.to_csr(dev);
    const auto x = array<T>::from(dev, std::vector<T>{1, 10});
    auto b = array<T>::from(dev, std::vector<T>{7, 5});
    const auto facts = residual<T>(dev, A, b, x, nullptr, b);
    EXPECT_EQ(b.to_vector(), (std::vector<T>{-5, -25}));
    EXPECT_EQ(facts.norm_inf, 25);
    EXPECT_EQ(facts.matrix_norm_inf, 3);
    array<T> r(dev, 3);
    EXPECT_THROW(residual<T>(dev, A, b, x, nullptr, r), shape_error);
    EXPECT_THROW(residual<T>(dev, A, r, x, nullptr, b), shape_error);
    EXPECT_THROW(residual<T>(dev, A, b, r, nullptr, b), shape_error);
    EXPECT_THROW(residual<T>(dev, A, view<const T>(b.data(), 2, 2), x, nullptr, b), shape_error);
  }
}

// Where |A||x| is beyond what twice the precision sees beside b, the bound of the residual says so.
TEST(residual_facts, is_bounded_where_summation_leaves_it_open) {
  const testing::row_lists<double> lists{2, {{{0, 0x1p490}, {1, -0x1p490}}, {{0, 1.0}, {1, 2.0}}}};
  for (const device& dev : testing::devices()) {
    const residual_facts facts = run<double>(dev, lists, {1, 3}, {1, 1}, {}).facts;
    EXPECT_GE(facts.norm2_at_most<double>(), 1);  // r = (1, 0)
    const testing::row_lists<double> near{2, {{{0, 0x1p40}, {1, -0x1p40}}, {{0, 1.0}, {1, 2.0}}}};
    const residual_facts seen = run<double>(dev, near, {1, 3}, {1, 1}, {}).facts;
    EXPECT_EQ(seen.norm2_at_most<double>(), 1);
    // |A||x| = (12e307, 18e307), of which the norm overflows.
    const testing::row_lists<double> large{2, {{{0, 1.0}, {1, 1.0}}, {{0, 1.0}, {1, -2.0}}}};
    const residual_facts huge = run<double>(dev, large, {12e307, -6e307}, {6e307, 6e307}, {}).facts;
    EXPECT_EQ(huge.norm2_at_most<double>(), 0);
  }
}

}  // namespace
}  // namespace vouch
