// Reverse operations against their definition.
#include <gtest/gtest.h>

#include <vouch/interval/decorated_elementary.hpp>

#include "interval/inclusion_cases.hpp"
#include "interval/oracle.hpp"
#include "interval/reverse_oracle.hpp"

namespace vouch {
namespace {

using namespace testing;

// Steps of a few numbers, or none, or far.
template <real T>
T beside(T t, std::uint64_t seed, std::uint64_t k) {
  const std::uint64_t bits = random_bits(seed, k);
  for (std::uint64_t step = bits % 4; step > 0; --step) t = bits & 16 ? next_up(t) : next_down(t);
  return t;
}

template <real T>
interval<T> ordered(T a, T b) {
  return interval<T>::unchecked(std::min({a, b, rounding::largest<T>}),
                                std::max({a, b, -rounding::largest<T>}));
}

// An interval with an end at t or nearly: thin, bounded by something unrelated, or unbounded.
template <real T>
interval<T> set_at(T t, std::uint64_t seed, std::uint64_t k) {
  const T end = beside(t, seed, k);
  switch (random_bits(seed + 1, k) % 6) {
    case 0:
      return ordered(end, end);
    case 1:
      return interval<T>::unchecked(-rounding::infinity<T>, ordered(end, end).hi());
    case 2:
      return interval<T>::unchecked(ordered(end, end).lo(), rounding::infinity<T>);
    case 3:
      return ordered(end, testing::adversarial_number<T>(seed + 2, k));
    case 4:
      return ordered(end, static_cast<T>(end + T(2) * static_cast<T>(random_unit(seed + 3, k) - 0.5)));
    default:
      return ordered(end, beside(t, seed + 4, k));
  }
}

// Any number, or next to a multiple of pi/2, small or huge.
template <real T>
T angle(std::uint64_t k) {
  const auto kind = random_bits(900, k) % 4;
  if (kind == 0) return testing::adversarial_number<T>(901, k);
  const int size = static_cast<int>(random_bits(902, k) % (kind == 1 ? 8 : kind == 2 ? 60 : 120));
  const double multiple = std::floor(std::ldexp(random_unit(903, k), size));
  big pi(mpfr_prec_t{400});
  mpfr_const_pi(pi.get(), MPFR_RNDN);
  mpfr_mul_d(pi.get(), pi.get(), random_bits(904, k) % 2 == 0 ? multiple / 2 : -multiple / 2, MPFR_RNDN);
  return static_cast<T>(mpfr_get_d(pi.get(), MPFR_RNDN));
}

template <class T>
class reverse_test : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(reverse_test, types);

TYPED_TEST(reverse_test, trigonometric_ones_are_tightest) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{20'000}); ++k) {
    const T t = angle<T>(k);
    if (!rounding::finite(t)) continue;
    const interval<T> x = set_at(t, 910, k);
    const bool far = random_bits(905, k) % 4 == 0;
    const auto image = [&](double y) {
      return set_at(far ? T(random_unit(906, k) * 2.2 - 1.1) : T(y), 920, k);
    };
    const interval<T> sine = image(std::sin(static_cast<double>(t)));
    const interval<T> cosine = image(std::cos(static_cast<double>(t)));
    const interval<T> slope = image(std::tan(static_cast<double>(t)));
    EXPECT_TRUE(is_tightest(sin_rev(sine, x), x, sine_oracle(sine))) << "sin, case " << k;
    EXPECT_TRUE(is_tightest(cos_rev(cosine, x), x, cosine_oracle(cosine))) << "cos, case " << k;
    EXPECT_TRUE(is_tightest(tan_rev(slope, x), x, tangent_oracle(slope))) << "tan, case " << k;
  }
}

TYPED_TEST(reverse_test, those_of_magnitudes_are_tightest) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{40'000}); ++k) {
    const T t = testing::adversarial_number<T>(930, k);
    if (!rounding::finite(t)) continue;
    const interval<T> x = set_at(t, 931, k);
    const interval<T> height = set_at(std::cosh(t), 932, k);
    const interval<T> square = set_at(t * t, 933, k);
    const interval<T> size = set_at(std::fabs(t), 934, k);
    EXPECT_TRUE(is_tightest(cosh_rev(height, x), x, cosh_oracle(height))) << "cosh, case " << k;
    EXPECT_TRUE(is_tightest(sqr_rev(square, x), x, power_oracle(2, square))) << "sqr, case " << k;
    EXPECT_TRUE(is_tightest(abs_rev(size, x), x, magnitude_oracle(size))) << "abs, case " << k;
  }
}

TYPED_TEST(reverse_test, integer_powers_are_tightest) {
  using T = TypeParam;
  const int exponents[] = {1, 2, 3, 4, 5, 7, 8, 31, 100, 1001, -1, -2, -3, -4, -7, -50, -1001};
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{20'000}); ++k)
    for (const int n : exponents) {
      // near 1 too, where powers of numbers come close to numbers
      T t = testing::adversarial_number<T>(940, k);
      if (k % 2 == 1) t = (t < 0 ? T{-1} : T{1}) * beside(beside(T{1}, 941, k), 942, k);
      if (!rounding::finite(t)) continue;
      const interval<T> x = set_at(t, 943, k);
      const auto image = static_cast<T>(std::pow(t, n));
      const interval<T> c = image == image ? set_at(image, 944, k) : interval<T>::entire();
      EXPECT_TRUE(is_tightest(pown_rev(c, x, n), x, power_oracle(n, c))) << n << ", case " << k;
    }
}

TYPED_TEST(reverse_test, products_are_tightest) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{200'000}); ++k) {
    const T t = testing::adversarial_number<T>(950, k);
    if (!rounding::finite(t)) continue;
    const interval<T> b = testing::random_interval<T>(951, k);
    const interval<T> x = set_at(t, 952, k);
    const T image = t * (k % 2 == 0 ? b.lo() : b.hi());
    const interval<T> c = image == image ? set_at(image, 953, k) : interval<T>::entire();
    EXPECT_TRUE(is_tightest(mul_rev(b, c, x), x, product_oracle(b, c))) << "case " << k;
    EXPECT_TRUE(mul_rev(b, c) == hull(mul_rev_to_pair(b, c)));
  }
}

// Both directions of the general power, with solutions that are numbers and others.
TYPED_TEST(reverse_test, general_powers_are_tightest) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{40'000}); ++k) {
    const auto pick = [k](std::uint64_t seed) {
      if (random_bits(seed, k) % 2 == 0) return testing::adversarial_number<T>(seed + 1, k);
      const T few[] = {0, T(0.25), T(0.5), 1, T(1.5), 2, 4, -1, -2, T(-0.5), 3, 9};
      return few[random_bits(seed + 2, k) % std::size(few)];
    };
    const T s = pick(960);
    const T t = pick(970);
    if (!rounding::finite(s) || !rounding::finite(t)) continue;
    const T image = std::pow(std::fabs(s), t);
    const interval<T> bases = set_at(s, 980, k);
    const interval<T> exponents = set_at(t, 985, k);
    const interval<T> c = set_at(image == image ? image : T{1}, 990, k);
    EXPECT_TRUE(is_tightest(pow_rev1(exponents, c, bases), bases, base_oracle(exponents, c)))
        << "base, case " << k;
    EXPECT_TRUE(is_tightest(pow_rev2(bases, c, exponents), exponents, exponent_oracle(bases, c)))
        << "exponent, " << k;
  }
}

TYPED_TEST(reverse_test, angles_are_tightest) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{60'000}); ++k) {
    const auto pick = [k](std::uint64_t seed) {
      if (random_bits(seed, k) % 2 == 0) return testing::adversarial_number<T>(seed + 1, k);
      const T few[] = {0, T(0.5), 1, -1, 3, T(-0.25)};
      return few[random_bits(seed + 2, k) % std::size(few)];
    };
    const T s = pick(1000);
    const T t = pick(1010);
    if (!rounding::finite(s) || !rounding::finite(t)) continue;
    const interval<T> y = set_at(s, 1020, k);
    const interval<T> x = set_at(t, 1025, k);
    const interval<T> c = set_at(random_bits(1030, k) % 4 == 0 ? T(3.2) : std::atan2(s, t), 1035, k);
    EXPECT_TRUE(is_tightest(atan2_rev1(x, c, y), y, ordinate_oracle(x, c))) << "ordinate, case " << k;
    EXPECT_TRUE(is_tightest(atan2_rev2(y, c, x), x, abscissa_oracle(y, c))) << "abscissa, case " << k;
  }
}

// ITF1788 (libieeep1788_rev, pow_rev) has wider intervals for these.
TEST(reverse, published_results_that_are_not_tightest) {
  const auto box = [](double lo, double hi) { return real_set::from_bounds(lo, hi); };
  const double inf = std::numeric_limits<double>::infinity();
  const real_set crest = box(next_down(1.0), 1);
  const real_set near_pi = box(3.14, 3.15);
  using pairs = std::vector<std::pair<real_set, real_set>>;
  for (const auto& [c, x] : pairs{{box(-1, -1), near_pi}, {-crest, near_pi}, {-crest, -near_pi}})
    EXPECT_TRUE(is_tightest(cos_rev(c, x), x, cosine_oracle(c)));
  for (const auto& [c, x] : pairs{{crest, box(1.57, 1.58)}})
    EXPECT_TRUE(is_tightest(sin_rev(c, x), x, sine_oracle(c)));
  for (const auto& [c, x] : pairs{{box(0x1.d02967c31cdb4p+53, 0x1.d02967c31cdb5p+53), box(-1.5708, 1.5708)},
                                  {box(0x1.72cece675d1fcp-52, 0x1.72cece675d1fdp-52), box(-3.15, 3.15)}})
    EXPECT_TRUE(is_tightest(tan_rev(c, x), x, tangent_oracle(c)));
  for (const auto& [c, x] :
       pairs{{box(0, 0x1p-1074), real_set::entire()}, {box(-0x1p-1074, 0), real_set::entire()}})
    EXPECT_TRUE(is_tightest(pown_rev(c, x, -7), x, power_oracle(-7, c)));
  for (const auto& [x, c] : pairs{{box(0.25, 0.5), box(2, inf)}, {box(0.25, 1), box(2, inf)}})
    EXPECT_TRUE(is_tightest(pow_rev2(x, c), real_set::entire(), exponent_oracle(x, c)));
}

TYPED_TEST(reverse_test, empty_operands_and_the_exponent_zero) {
  using set = interval<TypeParam>;
  const set none = set::empty();
  const set some = set::from_bounds(-1, 2);
  using unary = set (*)(set, set);
  using binary = set (*)(set, set, set);
  for (const unary f :
       {unary(sqr_rev), unary(abs_rev), unary(sin_rev), unary(cos_rev), unary(tan_rev), unary(cosh_rev)}) {
    EXPECT_TRUE(is_empty(f(none, some)));
    EXPECT_TRUE(is_empty(f(some, none)));
  }
  for (const binary f :
       {binary(mul_rev), binary(pow_rev1), binary(pow_rev2), binary(atan2_rev1), binary(atan2_rev2)}) {
    EXPECT_TRUE(is_empty(f(none, some, some)));
    EXPECT_TRUE(is_empty(f(some, none, some)));
    EXPECT_TRUE(is_empty(f(some, some, none)));
  }
  for (const int n : {-3, -2, 0, 1, 2, 5, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_TRUE(is_empty(pown_rev(none, some, n)));
    EXPECT_TRUE(is_empty(pown_rev(some, none, n)));
  }
  EXPECT_TRUE(pown_rev(some, some, 0) == some);
  EXPECT_TRUE(is_empty(pown_rev(set::from_bounds(2, 3), some, 0)));
  EXPECT_TRUE(is_empty(pown_rev(set{}, -2)));
  EXPECT_TRUE(pown_rev(set(TypeParam{1}), std::numeric_limits<int>::max()) == set(TypeParam{1}));
}

TYPED_TEST(reverse_test, nothing_is_known_of_decorated_results) {
  using set = decorated_interval<TypeParam>;
  const set c = interval<TypeParam>::from_bounds(TypeParam(0.5), 1);
  const set results[] = {sqr_rev(c),     abs_rev(c),     pown_rev(c, 3),   sin_rev(c),
                         cos_rev(c),     tan_rev(c),     cosh_rev(c),      mul_rev(c, c, c),
                         pow_rev1(c, c), pow_rev2(c, c), atan2_rev1(c, c), atan2_rev2(c, c)};
  for (const set& r : results) {
    EXPECT_EQ(r.decoration_part(), decoration::trv);
    EXPECT_FALSE(is_empty(r));
  }
  EXPECT_TRUE(is_nai(sin_rev(c, set::nai())));
  EXPECT_TRUE(is_nai(mul_rev(set::nai(), c)));
  EXPECT_TRUE(is_nai(pown_rev(set::nai(), 2)));
  EXPECT_TRUE(is_nai(pow_rev2(c, c, set::nai())));
}

}  // namespace
}  // namespace vouch
