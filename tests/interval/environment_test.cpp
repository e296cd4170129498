// The functions of the library and of its headers have the bits they have in the usual environment wherever they are called.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/interval/ball.hpp>
#include <vouch/interval/complex_interval.hpp>
#include <vouch/interval/decorated_functions.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/text.hpp>
#include <vouch/text/number.hpp>

#include "hostile.hpp"
#include "interval/numbers.hpp"
#include "interval/oracle.hpp"

namespace vouch {
namespace {

template <class T>
class environment : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(environment, types);

template <class T>
std::string bits_of(interval<T> x) {
  if (is_empty(x)) return "empty";  // of whatever NaN
  using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return std::to_string(std::bit_cast<word>(x.lo())) + " " + std::to_string(std::bit_cast<word>(x.hi()));
}

template <class Work>
void expect_same_everywhere(const std::string& what, Work work) {
  const auto usual = work();
  for (const testing::hostile_environment& how : testing::hostile_environments())
    EXPECT_EQ(testing::in(how, work), usual) << what << ", " << how.name;
}

TYPED_TEST(environment, text) {
  using T = TypeParam;
  for (const std::string text :
       {"[1e-310, 1e-310]", "[1e-42]", "[0.1, 0.2]", "[1/3]", "[-1e-320, 1e-320]", "1.5?3"})
    expect_same_everywhere(text, [&] {
      const interval<T> x = parse_interval<T>(text);
      return bits_of(x) + " " + interval_text(x) + " " + exact_interval_text(x);
    });
  expect_same_everywhere("parse_real", [] {
    std::string all;
    for (const std::string text : {"1e-310", "0.1", "123456.789e-5", "4.9e-324"}) {
      const char* const begin = text.data();
      all += std::to_string(std::bit_cast<std::uint64_t>(parse_real(begin, begin + text.size()).value)) + " ";
    }
    return all;
  });
}

TYPED_TEST(environment, elementary_functions) {
  using T = TypeParam;
  using function = std::function<interval<T>(interval<T>)>;
  const std::vector<std::pair<const char*, function>> functions = {
      {"exp", [](auto x) { return exp(x); }},
      {"log", [](auto x) { return log(x); }},
      {"sin", [](auto x) { return sin(x); }},
      {"tan", [](auto x) { return tan(x); }},
      {"asin", [](auto x) { return asin(x); }},
      {"expm1", [](auto x) { return expm1(x); }},
      {"cosh", [](auto x) { return cosh(x); }},
      {"erf", [](auto x) { return erf(x); }},
      {"pow", [](auto x) { return pow(x, x); }},
      {"rootn", [](auto x) { return rootn(x, 3); }},
      {"atan2", [](auto x) { return atan2(x, x); }},
      {"csc", [](auto x) { return csc(x); }},
      {"acot", [](auto x) { return acot(x); }},
      {"acoth", [](auto x) { return acoth(hull(x, interval<T>(T{2}))); }},
      {"hypot", [](auto x) { return hypot(x, x); }},
      {"sin_rev", [](auto x) { return sin_rev(x); }},
      {"cosh_rev", [](auto x) { return cosh_rev(hull(x, interval<T>(T{2}))); }},
      {"pow_rev1", [](auto x) { return pow_rev1(interval<T>(T{3}), x, x); }},
      {"pow_rev2", [](auto x) { return pow_rev2(interval<T>(T{0.5}), x); }},
      {"atan2_rev1", [](auto x) { return atan2_rev1(interval<T>(T{1}), x); }},
      {"atan2_rev2", [](auto x) { return atan2_rev2(x, interval<T>(T{1})); }}};
  constexpr T least = std::numeric_limits<T>::denorm_min();
  for (const auto& [name, f] : functions)
    for (const interval<T> x : {interval<T>::unchecked(least, 3 * least),
                                interval<T>::unchecked(-least, T(0.3)), interval<T>::unchecked(T(0.3), T(0.7))})
      expect_same_everywhere(name, [&, f = &f] { return bits_of((*f)(x)); });
}

// What a program compiles itself: on normal, subnormal, mixed, unbounded and empty sets.
TYPED_TEST(environment, functions_of_headers) {
  using T = TypeParam;
  using set = interval<T>;
  using function = std::function<set(set, set)>;
  const std::vector<std::pair<const char*, function>> functions = {
      {"+", [](set x, set y) { return x + y; }},
      {"-", [](set x, set y) { return x - y; }},
      {"*", [](set x, set y) { return x * y; }},
      {"/", [](set x, set y) { return x / y; }},
      {"point", [](set x, set y) { return hull(x * y.hi() + y.lo(), x / y.hi() - y.lo()); }},
      {"fma", [](set x, set y) { return fma(x, y, x); }},
      {"sqr", [](set x, set) { return sqr(x); }},
      {"sqrt", [](set x, set) { return sqrt(x); }},
      {"abs", [](set x, set) { return abs(x); }},
      {"hull", [](set x, set y) { return hull(x, y); }},
      {"intersection", [](set x, set y) { return intersection(x, y); }},
      {"min", [](set x, set y) { return min(x, max(x, y)); }},
      {"mid, rad", [](set x, set) { return set::unchecked(mid(x), rad(x)); }},
      {"pown", [](set x, set) { return hull(pown(x, 3), pown(x, -2)); }},
      {"pown_rev", [](set x, set y) { return pown_rev(x, y, 3); }},
      {"mul_rev", [](set x, set y) { return mul_rev(x, y); }},
      {"cancel_minus", [](set x, set y) { return cancel_minus(x, y); }},
      {"next", [](set x, set) { return set::unchecked(next_down(x.lo()), next_up(x.hi())); }},
      {"ball", [](set x, set) { return to_interval(to_ball(x)); }},
      {"integers", [](set x, set) { return hull(ceil(x), round(x)); }},
      {"decorated", [](set x, set y) { return (decorated_interval<T>(x) / decorated_interval<T>(y)).bare(); }},
      {"complex", [](set x, set y) { return abs(complex_interval<T>(x, y) / complex_interval<T>(y, x)); }},
      {"relations", [](set x, set y) {
         const int all = subset(x, y) + 2 * interior(x, y) + 4 * disjoint(x, y) + 8 * less(x, y) +
                         16 * (x == y) + 32 * is_member(x.lo(), y) + 64 * static_cast<int>(overlap(x, y));
         return set(static_cast<T>(all));
       }}};
  constexpr T least = std::numeric_limits<T>::denorm_min(), normal = std::numeric_limits<T>::min();
  const set sets[] = {set::unchecked(T(0.1), T(0.3)),          set::unchecked(-least, 3 * least),
                      set::unchecked(-7 * least, -least),      set::unchecked(normal, normal * T(1.5)),
                      set::unchecked(-T(1.7), 5 * least),      set::unchecked(T(0.7), rounding::infinity<T>),
                      set::unchecked(0, rounding::largest<T>), set::empty()};
  for (const auto& [name, f] : functions)
    for (const set x : sets)
      for (const set y : sets)
        expect_same_everywhere(
            std::string(name) + " of " + exact_interval_text(x) + " and " + exact_interval_text(y),
            [&, f = &f] { return bits_of((*f)(x, y)); });
}

template <class T>
struct usual_case {
  interval<T> x, y;
  T scalar;
};

// Magnitudes at random over all that is_usual() takes, its edges, and near each other, where sums cancel.
template <class T>
usual_case<T> random_usual(std::uint64_t k) {
  const int least = sizeof(T) == 8 ? -255 : -31, exponents = sizeof(T) == 8 ? 512 : 64;
  const auto number = [&](std::uint64_t stream) {
    const std::uint64_t bits = random_bits(stream, k);
    const int close = k % 3 == 0 ? static_cast<int>(bits >> 8 & 3) : static_cast<int>((bits >> 8) % exponents);
    const T fraction = bits % 7 == 0 ? T{1} : static_cast<T>(1 + random_unit(stream + 1, k) * (1 - 0x1p-30));
    return std::ldexp(
        bits >> 40 & 1 ? -fraction : fraction,
        least + (k % 5 == 0 ? exponents - 4 : 0) % exponents + std::min(close, k % 5 == 0 ? 3 : exponents - 1));
  };
  const auto set = [&](std::uint64_t stream) {
    const T a = number(stream), b = k % 4 == 1 ? a : number(stream + 2);
    return interval<T>::unchecked(std::min(a, b), std::max(a, b));
  };
  return {set(1), set(11), number(21)};
}

template <class T>
std::vector<interval<T>> results_of(const usual_case<T>& c) {
  const auto [x, y, s] = c;
  const T l = x.lo(), h = y.hi();
  return {x + y,
          x - y,
          x * y,
          x / y,
          x + s,
          s - x,
          s * x,
          x / s,
          sqr(x),
          sqrt(x),
          abs(x),
          hull(x, y),
          max(x, y),
          interval<T>::unchecked(add_down(l, h), add_up(l, h)),
          interval<T>::unchecked(mul_down(l, h), mul_up(l, h)),
          interval<T>::unchecked(div_down(l, h), div_up(l, h)),
          interval<T>::unchecked(sqrt_down(std::abs(l)), sqrt_up(std::abs(l)))};
}

// A zero bound has either sign, and an exact zero that of the rounding mode.
template <class T>
std::string bits_but_sign_of_zero(interval<T> x) {
  return bits_of(interval<T>::unchecked(x.lo() == 0 ? T{} : x.lo(), x.hi() == 0 ? T{} : x.hi()));
}

// The bounds of the exact results for all pairs of bounds.
template <class T, class Operation>
interval<T> exact_hull(Operation operation, interval<T> x, interval<T> y) {
  using testing::big;
  T lo = rounding::infinity<T>, hi = -lo;
  for (const T a : {x.lo(), x.hi()})
    for (const T b : {y.lo(), y.hi()}) {
      big left(static_cast<double>(a)), right(static_cast<double>(b));
      const auto call = [&](mpfr_ptr r, mpfr_rnd_t mode) {
        return operation(r, left.get(), right.get(), mode);
      };
      lo = std::min(lo, testing::directed<T>(MPFR_RNDD, call));
      hi = std::max(hi, testing::directed<T>(MPFR_RNDU, call));
    }
  return interval<T>::unchecked(lo, hi);
}

// Operators on usual numbers do not ask for the environment: they are the tightest in each.
TYPED_TEST(environment, usual_numbers_do_as_well_in_any) {
  using T = TypeParam;
  constexpr std::uint64_t cases = 20000;
  std::vector<usual_case<T>> all;
  for (std::uint64_t k = 0; k < cases; ++k) {
    all.push_back(random_usual<T>(k));
    const auto& [x, y, s] = all.back();
    ASSERT_TRUE(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()) && rounding::is_usual(s)) << k;
  }
  const auto run = [&] {
    std::vector<std::vector<interval<T>>> found;
    for (const usual_case<T>& c : all) found.push_back(results_of(c));
    return found;
  };
  const auto usual = run();
  for (std::uint64_t k = 0; k < cases; ++k) {
    const auto& [x, y, s] = all[k];
    EXPECT_EQ(bits_but_sign_of_zero(usual[k][0]), bits_but_sign_of_zero(exact_hull(mpfr_add, x, y))) << k;
    EXPECT_EQ(bits_but_sign_of_zero(usual[k][1]), bits_but_sign_of_zero(exact_hull(mpfr_sub, x, y))) << k;
    EXPECT_EQ(bits_but_sign_of_zero(usual[k][2]), bits_but_sign_of_zero(exact_hull(mpfr_mul, x, y))) << k;
    if (!is_member(T{}, y)) {
      EXPECT_EQ(bits_but_sign_of_zero(usual[k][3]), bits_but_sign_of_zero(exact_hull(mpfr_div, x, y))) << k;
    }
    EXPECT_EQ(bits_but_sign_of_zero(usual[k][6]),
              bits_but_sign_of_zero(exact_hull(mpfr_mul, x, interval<T>(s))))
        << k;
    EXPECT_EQ(bits_but_sign_of_zero(usual[k][7]),
              bits_but_sign_of_zero(exact_hull(mpfr_div, x, interval<T>(s))))
        << k;
  }
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    for (const bool flush : {false, true}) {
      const testing::hostile_environment how{std::to_string(rounding) + (flush ? " flushed" : ""), flush,
                                             rounding, false};
      const auto there = testing::in(how, run);
      for (std::uint64_t k = 0; k < cases; ++k)
        for (std::size_t f = 0; f < there[k].size(); ++f)
          ASSERT_EQ(bits_but_sign_of_zero(there[k][f]), bits_but_sign_of_zero(usual[k][f]))
              << how.name << ", function " << f << ", case " << k;
    }
}

TYPED_TEST(environment, bounds_out_of_order_are_refused) {
  using T = TypeParam;
  constexpr T least = std::numeric_limits<T>::denorm_min();
  expect_same_everywhere("from_bounds", [] {
    try {
      interval<T>::from_bounds(least, -least);
      return false;
    } catch (const std::exception&) {
      return true;
    }
  });
}

#if defined(__GLIBC__)
// Comparing NaN traps where that is unmasked: the empty set is made of it.
TYPED_TEST(environment, the_empty_set_does_not_trap) {
  using T = TypeParam;
  volatile T none = std::numeric_limits<T>::quiet_NaN();
  std::feclearexcept(FE_ALL_EXCEPT);
  const int before = feenableexcept(FE_INVALID);
  const interval<T> empty(none);
  const bool common = is_common(empty), singleton = is_singleton(empty);
  fedisableexcept(FE_INVALID);
  feenableexcept(before);
  EXPECT_TRUE(is_empty(empty));
  EXPECT_FALSE(common);
  EXPECT_FALSE(singleton);
}
#endif

}  // namespace
}  // namespace vouch
