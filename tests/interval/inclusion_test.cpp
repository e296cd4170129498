// Inclusion: results for points lie in the results for intervals around them; sizes and conversions.
#include <gtest/gtest.h>

#include <vouch/core/error.hpp>
#include <vouch/interval/complex_interval.hpp>
#include <vouch/interval/power.hpp>

#include "interval/inclusion_cases.hpp"
#include "interval/oracle.hpp"

namespace vouch {
namespace {

using testing::big;
using testing::directed;

template <class T>
class interval_test : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(interval_test, types);

// 14 operations each: 2 * 14 * 4e6 scalar cases in the full campaign.
TYPED_TEST(interval_test, operations_enclose) {
  const int cases = testing::campaign(4'000'000);
  for (int k = 0; k < cases; ++k)
    ASSERT_EQ(testing::violations(testing::random_case<TypeParam>(static_cast<std::uint64_t>(k))), 0U) << k;
}

TYPED_TEST(interval_test, constructors_refuse_what_is_no_interval) {
  using set = interval<TypeParam>;
  using limits = std::numeric_limits<TypeParam>;
  const TypeParam inf = limits::infinity();
  const TypeParam nan = limits::quiet_NaN();
  EXPECT_THROW(set::from_bounds(1, 0), value_error);
  EXPECT_THROW(set::from_bounds(nan, 0), value_error);
  EXPECT_THROW(set::from_bounds(0, nan), value_error);
  EXPECT_THROW(set::from_bounds(inf, inf), value_error);
  EXPECT_THROW(set::from_bounds(-inf, -inf), value_error);
  EXPECT_TRUE(set::from_bounds(-inf, inf) == set::entire());
  EXPECT_TRUE(is_empty(set(nan)));
  EXPECT_TRUE(is_empty(set(inf)));
  EXPECT_TRUE(is_empty(set(TypeParam{1}) + inf));
  EXPECT_TRUE(is_empty(nan * set(TypeParam{1})));
  EXPECT_TRUE(set() == set(TypeParam{0}));
  static_assert(std::is_trivially_copyable_v<set> && sizeof(set) == 2 * sizeof(TypeParam));
  static_assert(!std::is_constructible_v<interval<float>, double>, "a double may be no float");
  static_assert(!std::is_constructible_v<interval<double>, std::int64_t>, "nor every long integer a double");
}

TYPED_TEST(interval_test, division_by_what_holds_zero) {
  using set = interval<TypeParam>;
  const auto box = [](TypeParam lo, TypeParam hi) { return set::from_bounds(lo, hi); };
  const TypeParam inf = std::numeric_limits<TypeParam>::infinity();
  EXPECT_TRUE(box(1, 2) / box(-1, 1) == set::entire());
  EXPECT_TRUE(box(1, 2) / box(0, 1) == box(1, inf));
  EXPECT_TRUE(box(1, 2) / box(-1, 0) == box(-inf, -1));
  EXPECT_TRUE(box(-2, -1) / box(0, 4) == box(-inf, TypeParam(-0.25)));
  EXPECT_TRUE(is_empty(box(1, 2) / box(0, 0)));
  EXPECT_TRUE(is_empty(box(1, 2) / TypeParam{0}));
  EXPECT_TRUE(box(0, 0) / box(-1, 1) == set());
  EXPECT_TRUE(box(0, 0) * set::entire() == set());
}

// Correctly rounded, exact powers and those with many digits included.
TYPED_TEST(interval_test, integer_powers_are_tight) {
  using T = TypeParam;
  const int exponents[] = {2, 3, 4, 5, 7, 10, 31, 100, 1000, -1, -2, -3, -7, -50};
  for (int k = 0; k < testing::campaign(400'000); ++k)
    for (const int n : exponents) {
      const auto x = std::fabs(testing::adversarial_number<T>(7000, static_cast<std::uint64_t>(k)));
      if (x == 0 || x > std::numeric_limits<T>::max()) continue;
      big operand(static_cast<double>(x));
      const auto power = [&](mpfr_ptr r, mpfr_rnd_t mode) { return mpfr_pow_si(r, operand.get(), n, mode); };
      const auto ours = pown(interval<T>(x), n);
      const T lo = directed<T>(MPFR_RNDD, power);
      const T hi = directed<T>(MPFR_RNDU, power);
      EXPECT_LE(ours.lo(), lo);
      EXPECT_GE(ours.hi(), hi);
      EXPECT_GE(ours.lo(), next_down(lo)) << x << "^" << n;
      EXPECT_LE(ours.hi(), next_up(hi)) << x << "^" << n;
      // (1 + e)^n = 1 + n e + ... is a number but for e^2, which is beyond what powers of doubles see
      int exponent = 0;
      const T fraction = std::frexp(x, &exponent);
      if (n == 2 || n == -1 || (fraction > T(0.5001) && fraction < T(0.9999))) {
        EXPECT_EQ(ours.lo(), lo) << x << "^" << n;
        EXPECT_EQ(ours.hi(), hi) << x << "^" << n;
      }
    }
}

TYPED_TEST(interval_test, conversions_go_outward) {
  using T = TypeParam;
  const std::int64_t odd = (std::int64_t{1} << 60) + 1;
  for (const std::int64_t n :
       {odd, -odd, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
        std::int64_t{0}, std::int64_t{16777217}}) {
    const interval<T> x = enclosing<T>(n);
    EXPECT_LE(static_cast<long double>(x.lo()), static_cast<long double>(n));
    EXPECT_GE(static_cast<long double>(x.hi()), static_cast<long double>(n));
    EXPECT_LE(x.hi(), next_up(x.lo()));
  }
  const auto unsigned_most = enclosing<T>(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(unsigned_most.hi(), T(0x1p64));
  EXPECT_EQ(unsigned_most.lo(), next_down(T(0x1p64)));
  const interval<T> tenth = enclosing<T>(0.1);
  EXPECT_LE(static_cast<double>(tenth.lo()), 0.1);
  EXPECT_GE(static_cast<double>(tenth.hi()), 0.1);
  EXPECT_TRUE(is_empty(enclosing<float>(std::numeric_limits<double>::infinity())));
  EXPECT_EQ(enclosing<float>(1e300).lo(), std::numeric_limits<float>::max());
}

// The exact products and sums of points, by MPFR at a precision that holds them.
TEST(complex_interval_test, products_and_quotients_enclose) {
  using complex = complex_interval<double>;
  for (std::uint64_t k = 0; k < 20000; ++k) {
    const auto value = [k](std::uint64_t seed) {
      return std::ldexp(random_unit(seed, k) - 0.5, static_cast<int>(seed % 7));
    };
    const double v[] = {value(1), value(2), value(3), value(4)};
    const complex z(std::complex<double>(v[0], v[1]));
    const complex w(std::complex<double>(v[2], v[3]));
    const complex product = z * w;
    big a(v[0]), b(v[1]), c(v[2]), d(v[3]);
    const auto real = [&](mpfr_ptr r, mpfr_rnd_t mode) {
      return mpfr_fmms(r, a.get(), c.get(), b.get(), d.get(), mode);
    };
    const auto imag = [&](mpfr_ptr r, mpfr_rnd_t mode) {
      return mpfr_fmma(r, a.get(), d.get(), b.get(), c.get(), mode);
    };
    EXPECT_LE(product.real().lo(), directed<double>(MPFR_RNDD, real));
    EXPECT_GE(product.real().hi(), directed<double>(MPFR_RNDU, real));
    EXPECT_LE(product.imag().lo(), directed<double>(MPFR_RNDD, imag));
    EXPECT_GE(product.imag().hi(), directed<double>(MPFR_RNDU, imag));
    // z lies in (z * w) / w, which is narrow.
    EXPECT_TRUE(subset(z, product / w));
    EXPECT_LT(wid((product / w).real()), 1e-10);
  }
}

TEST(complex_interval_test, zero_and_empty) {
  using complex = complex_interval<double>;
  const complex one(1.0);
  const complex around_zero(interval<double>::from_bounds(-1, 1), interval<double>::from_bounds(-1, 1));
  EXPECT_TRUE((one / around_zero).real() == interval<double>::entire());
  EXPECT_TRUE(is_empty(one / complex(0.0)));
  EXPECT_TRUE(is_empty(complex(interval<double>(1.0), interval<double>::empty())));
  EXPECT_TRUE(conj(complex(std::complex<double>(1, 2))) == complex(std::complex<double>(1, -2)));
  EXPECT_TRUE(abs(complex(std::complex<double>(3, 4))) == interval<double>(5.0));
}

}  // namespace
}  // namespace vouch
