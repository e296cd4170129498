// Elementary functions over random intervals: results for points, by MPFR at 200 bits, lie inside; bounds of
// thin intervals are the neighbours of the exact value.
#include <gtest/gtest.h>

#include <vouch/interval/decorated_elementary.hpp>

#include "interval/inclusion_cases.hpp"
#include "interval/oracle.hpp"

namespace vouch {
namespace {

using testing::big;
using testing::campaign;

template <real T>
struct named_function {
  const char* name;
  interval<T> (*ours)(interval<T>);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};

int exact_acot(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  big half_pi(mpfr_get_prec(result));
  mpfr_const_pi(half_pi.get(), mode);
  mpfr_div_2ui(half_pi.get(), half_pi.get(), 1, mode);
  mpfr_atan(result, x, mode);
  return mpfr_sub(result, half_pi.get(), result, mode);
}

// log((x + 1) / (x - 1)) / 2
int exact_acoth(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  mpfr_sub_ui(result, x, 1, mode);
  mpfr_ui_div(result, 2, result, mode);
  mpfr_log1p(result, result, mode);
  return mpfr_div_2ui(result, result, 1, mode);
}

template <real T>
const named_function<T> functions[] = {
    {"exp", exp<T>, mpfr_exp},       {"exp2", exp2<T>, mpfr_exp2},    {"exp10", exp10<T>, mpfr_exp10},
    {"expm1", expm1<T>, mpfr_expm1}, {"log", log<T>, mpfr_log},       {"log2", log2<T>, mpfr_log2},
    {"log10", log10<T>, mpfr_log10}, {"log1p", log1p<T>, mpfr_log1p}, {"sin", sin<T>, mpfr_sin},
    {"cos", cos<T>, mpfr_cos},       {"tan", tan<T>, mpfr_tan},       {"asin", asin<T>, mpfr_asin},
    {"acos", acos<T>, mpfr_acos},    {"atan", atan<T>, mpfr_atan},    {"sinh", sinh<T>, mpfr_sinh},
    {"cosh", cosh<T>, mpfr_cosh},    {"tanh", tanh<T>, mpfr_tanh},    {"asinh", asinh<T>, mpfr_asinh},
    {"acosh", acosh<T>, mpfr_acosh}, {"atanh", atanh<T>, mpfr_atanh}, {"erf", erf<T>, mpfr_erf},
    {"erfc", erfc<T>, mpfr_erfc},    {"sec", sec<T>, mpfr_sec},       {"csc", csc<T>, mpfr_csc},
    {"cot", cot<T>, mpfr_cot},       {"acot", acot<T>, exact_acot},   {"sech", sech<T>, mpfr_sech},
    {"csch", csch<T>, mpfr_csch},    {"coth", coth<T>, mpfr_coth},    {"acoth", acoth<T>, exact_acoth}};

// Arguments of moderate size more often than any bits give them.
template <real T>
interval<T> moderate_interval(std::uint64_t k) {
  const double center = (random_unit(50, k) - 0.5) * std::ldexp(1.0, static_cast<int>(random_bits(51, k) % 10));
  const double width = random_unit(52, k) * std::ldexp(1.0, -static_cast<int>(random_bits(53, k) % 60));
  return interval<T>::unchecked(static_cast<T>(center), static_cast<T>(center + width));
}

template <real T>
void check_point(const named_function<T>& f, interval<T> x, T point) {
  big operand(static_cast<double>(point));
  big exact(mpfr_prec_t{200});
  f.exact(exact.get(), operand.get(), MPFR_RNDN);
  if (mpfr_nan_p(exact.get()) || mpfr_inf_p(exact.get())) return;  // not in the domain
  const interval<T> result = f.ours(x);
  EXPECT_LE(mpfr_cmp_d(exact.get(), static_cast<double>(result.hi())), 0) << f.name << " at " << point;
  EXPECT_GE(mpfr_cmp_d(exact.get(), static_cast<double>(result.lo())), 0) << f.name << " at " << point;
  const interval<T> thin = f.ours(interval<T>(point));
  EXPECT_LE(thin.hi(), next_up(thin.lo())) << f.name << " at " << point;
  EXPECT_TRUE(result.lo() <= thin.lo() && thin.hi() <= result.hi()) << f.name << " at " << point;
}

template <class T>
class elementary_test : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(elementary_test, types);

TYPED_TEST(elementary_test, results_for_points_lie_inside) {
  const auto cases = static_cast<std::uint64_t>(testing::campaign(40'000));
  for (std::uint64_t k = 0; k < cases; ++k) {
    interval<TypeParam> x = moderate_interval<TypeParam>(k);
    if (k % 16 == 0) x = testing::random_interval<TypeParam>(60, k);
    const TypeParam point = testing::random_point(x, 70, k);
    // sinh and the like of huge numbers are infinite, sin takes long
    if (std::fabs(point) > TypeParam(1e30)) continue;
    for (const auto& f : functions<TypeParam>) check_point(f, x, point);
  }
}

TYPED_TEST(elementary_test, powers_roots_and_angles_of_points_lie_inside) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const interval<T> x = moderate_interval<T>(k);
    const interval<T> y = moderate_interval<T>(k + 1000000);
    const T a = testing::random_point(x, 80, k);
    const T b = testing::random_point(y, 90, k);
    big first(static_cast<double>(a));
    big second(static_cast<double>(b));
    big exact(mpfr_prec_t{200});
    const auto inside = [&](interval<T> result) {
      return mpfr_cmp_d(exact.get(), static_cast<double>(result.hi())) <= 0 &&
             mpfr_cmp_d(exact.get(), static_cast<double>(result.lo())) >= 0;
    };
    if (a > 0) {
      mpfr_pow(exact.get(), first.get(), second.get(), MPFR_RNDN);
      EXPECT_TRUE(inside(pow(x, y))) << a << " ^ " << b;
    }
    mpfr_atan2(exact.get(), second.get(), first.get(), MPFR_RNDN);
    EXPECT_TRUE(inside(atan2(y, x))) << b << " / " << a;
    mpfr_hypot(exact.get(), first.get(), second.get(), MPFR_RNDN);
    EXPECT_TRUE(inside(hypot(x, y))) << a << ", " << b;
    const interval<T> thin = hypot(interval<T>(a), interval<T>(b));
    EXPECT_LE(thin.hi(), next_up(thin.lo())) << a << ", " << b;
    for (const int n : {1, 2, 3, 7, -2, -3}) {
      if ((a < 0 && n % 2 == 0) || a == 0) continue;
      mpfr_rootn_si(exact.get(), first.get(), n, MPFR_RNDN);
      EXPECT_TRUE(inside(rootn(x, n))) << a << " root " << n;
    }
  }
}

template <real T>
bool at_most_wider(interval<T> wide, interval<T> x, int steps) {
  if (is_empty(x)) return is_empty(wide);
  T lo = x.lo();
  T hi = x.hi();
  for (int k = 0; k < steps; ++k) {
    lo = next_down(lo);
    hi = next_up(hi);
  }
  return subset(wide, interval<T>::unchecked(lo, hi));
}

// Poles, extremes and domains as the reciprocals of the functions have them, which lose two numbers a bound.
TYPED_TEST(elementary_test, reciprocal_functions_are_near_reciprocals) {
  using T = TypeParam;
  struct pair {
    const char* name;
    interval<T> (*ours)(interval<T>);
    interval<T> (*reciprocal)(interval<T>);
  };
  const pair pairs[] = {{"sec", sec<T>, cos<T>},    {"csc", csc<T>, sin<T>},    {"cot", cot<T>, tan<T>},
                        {"sech", sech<T>, cosh<T>}, {"csch", csch<T>, sinh<T>}, {"coth", coth<T>, tanh<T>}};
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{20'000}); ++k) {
    interval<T> x = moderate_interval<T>(k);
    if (k % 8 == 0) x = interval<T>::unchecked(0, std::fabs(x.hi()));
    if (k % 8 == 1) x = interval<T>::unchecked(-std::fabs(x.hi()), T(-0.0));
    if (k % 8 == 2) x = testing::random_interval<T>(61, k);
    for (const auto& [name, ours, reciprocal] : pairs) {
      const interval<T> denominator = reciprocal(x);
      const interval<T> rough = recip(denominator);
      EXPECT_TRUE(subset(ours(x), rough)) << name << ", case " << k;
      // not where it overflows or is rounded to few digits, nor where tan has a pole and cot none
      const auto full = [](T bound) { return bound == 0 || std::fabs(bound) > T(1e-30); };
      if (is_common(denominator) && full(denominator.lo()) && full(denominator.hi())) {
        EXPECT_TRUE(at_most_wider(rough, ours(x), 3)) << name << ", case " << k;
      }
    }
  }
}

TEST(elementary, decorations_know_the_poles) {
  const auto box = [](double lo, double hi) {
    return decorated_interval(interval<double>::from_bounds(lo, hi));
  };
  const auto expect = [](decorated_interval<double> x, decoration d) { EXPECT_EQ(x.decoration_part(), d); };
  expect(sec(box(0, 1.5)), decoration::com);
  expect(sec(box(1, 2)), decoration::trv);
  expect(csc(box(1, 3)), decoration::com);
  expect(csc(box(0, 3)), decoration::trv);
  expect(csc(box(3, 4)), decoration::trv);
  expect(csc(box(0x1p-1074, 1)), decoration::dac);
  expect(cot(box(-3, -1)), decoration::com);
  expect(cot(box(-1, 0)), decoration::trv);
  expect(csch(box(-1, 1)), decoration::trv);
  expect(coth(box(1, 2)), decoration::com);
  expect(acoth(box(2, 3)), decoration::com);
  expect(acoth(box(1, 3)), decoration::trv);
  expect(acot(box(-3, 3)), decoration::com);
  expect(sech(box(-3, 3)), decoration::com);
  expect(hypot(box(-3, 3), box(0, 0)), decoration::com);
}

TEST(elementary, extremes_inside_are_found) {
  const auto box = [](double lo, double hi) { return interval<double>::from_bounds(lo, hi); };
  EXPECT_EQ(sin(box(1.5, 1.6)).hi(), 1);
  EXPECT_EQ(sin(box(4.7, 4.8)).lo(), -1);
  EXPECT_EQ(cos(box(-0.1, 0.1)).hi(), 1);
  EXPECT_EQ(cos(box(3, 4)).lo(), -1);
  EXPECT_TRUE(sin(box(1e300, 1.1e300)) == box(-1, 1));
  EXPECT_TRUE(tan(box(1.5, 1.6)) == interval<double>::entire());
  EXPECT_EQ(cosh(box(-1, 2)).lo(), 1);
  EXPECT_EQ(sec(box(-0.1, 0.2)).lo(), 1);
  EXPECT_EQ(sec(box(3, 4)).hi(), -1);
  EXPECT_EQ(csc(box(1, 3)).lo(), 1);
  EXPECT_EQ(csc(box(-2, 0)).hi(), -1);
  EXPECT_TRUE(is_empty(csc(box(0, 0))) && is_empty(cot(box(0, 0))) && is_empty(acoth(box(-1, 1))));
  EXPECT_EQ(acoth(box(0, 2)).hi(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(acot(interval<double>::entire()) == box(0, 0x1.921fb54442d19p+1));
  EXPECT_EQ(sech(box(-1, 2)).hi(), 1);
  EXPECT_TRUE(hypot(box(-3, 3), box(4, 4)) == box(4, 5));
  // 1e22 is known for wrong reductions
  EXPECT_TRUE(is_member(-0.8522008497671888017727, sin(box(1e22, 1e22))));
}

// The smallest interval by MPFR: the values at both ends, rounded outward, and those of extremes and poles between
// them, which lie at multiples of pi/2 that 2,500 bits tell from all numbers.
struct periodic_function {
  const char* name;
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  int pole;             // 0, 1: at even or odd multiples; -1: none
  int greatest, least;  // multiples modulo 4 with a local maximum or minimum; -1: none
  double height;        // of the maximum; the minimum has the other sign
};
constexpr periodic_function periodic_functions[] = {
    {"sin", mpfr_sin, -1, 1, 3, 1}, {"cos", mpfr_cos, -1, 0, 2, 1}, {"tan", mpfr_tan, 1, -1, -1, 0},
    {"sec", mpfr_sec, 1, 2, 0, -1}, {"csc", mpfr_csc, 0, 3, 1, -1}, {"cot", mpfr_cot, 0, -1, -1, 0}};

// The multiples of pi/2 in x: first and last, and first modulo 4.
struct multiples_inside {
  double count;  // 5 for more
  long first;
};
template <real T>
multiples_inside multiples_of_quarter_turns(interval<T> x) {
  constexpr mpfr_prec_t bits = 2500;
  big quarter(bits), low(bits), high(bits), four(bits), rest(bits);
  mpfr_const_pi(quarter.get(), MPFR_RNDN);
  mpfr_div_2ui(quarter.get(), quarter.get(), 1, MPFR_RNDN);
  mpfr_set_d(low.get(), static_cast<double>(x.lo()), MPFR_RNDN);
  mpfr_set_d(high.get(), static_cast<double>(x.hi()), MPFR_RNDN);
  mpfr_div(low.get(), low.get(), quarter.get(), MPFR_RNDN);
  mpfr_div(high.get(), high.get(), quarter.get(), MPFR_RNDN);
  mpfr_ceil(low.get(), low.get());
  mpfr_floor(high.get(), high.get());
  mpfr_set_ui(four.get(), 4, MPFR_RNDN);
  mpfr_fmod(rest.get(), low.get(), four.get(), MPFR_RNDN);
  const long first = (mpfr_get_si(rest.get(), MPFR_RNDN) + 4) % 4;
  mpfr_sub(high.get(), high.get(), low.get(), MPFR_RNDN);
  return {std::min(mpfr_get_d(high.get(), MPFR_RNDN) + 1, 5.0), first};
}

template <real T>
interval<T> smallest(const periodic_function& f, interval<T> x) {
  const T infinite = rounding::infinity<T>;
  const bool at_zero = f.pole == 0 && (x.lo() == 0 || x.hi() == 0);  // the only pole that is a number
  if (at_zero && x.lo() == x.hi()) return interval<T>::empty();
  const auto value = [&](T t, mpfr_rnd_t mode) {
    if (f.pole == 0 && t == 0) return x.hi() > 0 ? infinite : -infinite;
    return testing::directed<T>(mode, [&](mpfr_ptr r, mpfr_rnd_t to) {
      big operand(static_cast<double>(t));
      return f.exact(r, operand.get(), to);
    });
  };
  T lo = std::min(value(x.lo(), MPFR_RNDD), value(x.hi(), MPFR_RNDD)),
    hi = std::max(value(x.lo(), MPFR_RNDU), value(x.hi(), MPFR_RNDU));
  const multiples_inside inside = multiples_of_quarter_turns(x);
  for (int k = 0; k < static_cast<int>(inside.count); ++k) {
    const long m = (inside.first + k) % 4;
    // The first or last multiple is 0 itself, beyond which x does not reach.
    const bool is_end =
        at_zero && ((k == 0 && x.lo() == 0) || (k + 1 == static_cast<int>(inside.count) && x.hi() == 0));
    if (f.pole >= 0 && m % 2 == f.pole) {
      if (!is_end) return interval<T>::entire();
    } else if (m == f.greatest) {
      hi = std::max(hi, static_cast<T>(f.height));
    } else if (m == f.least) {
      lo = std::min(lo, static_cast<T>(-f.height));
    }
  }
  return interval<T>::unchecked(lo, hi);
}

// Ends beside multiples of pi/2, small and huge, at 0 and anywhere.
template <real T>
T hostile_angle(std::uint64_t seed, std::uint64_t k) {
  const std::uint64_t bits = random_bits(seed, k);
  if (bits % 8 == 0) return bits & 16 ? T{0} : T(-0.0);
  if (bits % 8 == 1) return testing::adversarial_number<T>(seed + 1, k);
  const int size = static_cast<int>(random_bits(seed + 2, k) % (bits % 8 < 6 ? 4 : 100));
  big pi(mpfr_prec_t{400});
  mpfr_const_pi(pi.get(), MPFR_RNDN);
  mpfr_mul_d(pi.get(), pi.get(), std::floor(std::ldexp(random_unit(seed + 3, k), size)) / (bits & 32 ? 2 : -2),
             MPFR_RNDN);
  auto t = static_cast<T>(mpfr_get_d(pi.get(), MPFR_RNDN));
  for (std::uint64_t step = bits >> 8 & 3; step > 0; --step) t = bits & 64 ? next_up(t) : next_down(t);
  return t;
}

TYPED_TEST(elementary_test, periodic_ones_are_tightest) {
  using T = TypeParam;
  interval<T> (*const ours[])(interval<T>) = {sin<T>, cos<T>, tan<T>, sec<T>, csc<T>, cot<T>};
  for (std::uint64_t k = 0; k < campaign(std::uint64_t{40'000}); ++k) {
    const T a = hostile_angle<T>(1100, k);
    T b = random_bits(1110, k) % 3 == 0 ? hostile_angle<T>(1120, k)
                                        : static_cast<T>(a + static_cast<T>(7 * random_unit(1130, k)));
    if (random_bits(1110, k) % 3 == 1) b = next_up(a);
    if (!rounding::finite(a) || !rounding::finite(b)) continue;
    const auto x = interval<T>::unchecked(std::min(a, b), std::max(a, b));
    for (std::size_t f = 0; f < std::size(periodic_functions); ++f) {
      const interval<T> expected = smallest(periodic_functions[f], x), found = ours[f](x);
      EXPECT_TRUE(found == expected) << std::hexfloat << periodic_functions[f].name << " of [" << x.lo() << ", "
                                     << x.hi() << "]: [" << found.lo() << ", " << found.hi() << "], not ["
                                     << expected.lo() << ", " << expected.hi() << "], case " << k;
    }
  }
}

// Of bounds in the wrong order nothing is promised but an end.
TEST(elementary, bounds_in_the_wrong_order_come_to_an_end) {
  for (const double high : {-2.0, -0.0, 0.5}) {
    const auto x = interval<double>::unchecked(2, high);
    for (const int n : {-3, -2, -1, 1, 2, 3}) rootn(x, n);
    csc(x), cot(x), csch(x), coth(x), acot(x), acoth(x);
    atan2(x, x), pow(x, x), hypot(x, x);
  }
}

}  // namespace
}  // namespace vouch
