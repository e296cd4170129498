// Elementary functions over random intervals: results for points, by MPFR at 200 bits, lie inside; bounds of
// thin intervals are the neighbours of the exact value.
#include <vouch/interval/elementary.hpp>

#include <gtest/gtest.h>

#include "interval/inclusion_cases.hpp"
#include "interval/oracle.hpp"

namespace vouch {
namespace {

using testing::big;

template <real T>
struct named_function {
  const char* name;
  interval<T> (*ours)(interval<T>);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};

template <real T>
const named_function<T> functions[] = {
    {"exp", exp<T>, mpfr_exp},       {"exp2", exp2<T>, mpfr_exp2},    {"exp10", exp10<T>, mpfr_exp10},
    {"expm1", expm1<T>, mpfr_expm1}, {"log", log<T>, mpfr_log},       {"log2", log2<T>, mpfr_log2},
    {"log10", log10<T>, mpfr_log10}, {"log1p", log1p<T>, mpfr_log1p}, {"sin", sin<T>, mpfr_sin},
    {"cos", cos<T>, mpfr_cos},       {"tan", tan<T>, mpfr_tan},       {"asin", asin<T>, mpfr_asin},
    {"acos", acos<T>, mpfr_acos},    {"atan", atan<T>, mpfr_atan},    {"sinh", sinh<T>, mpfr_sinh},
    {"cosh", cosh<T>, mpfr_cosh},    {"tanh", tanh<T>, mpfr_tanh},    {"asinh", asinh<T>, mpfr_asinh},
    {"acosh", acosh<T>, mpfr_acosh}, {"atanh", atanh<T>, mpfr_atanh}, {"erf", erf<T>, mpfr_erf},
    {"erfc", erfc<T>, mpfr_erfc}};

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
    for (const int n : {1, 2, 3, 7, -2, -3}) {
      if ((a < 0 && n % 2 == 0) || a == 0) continue;
      mpfr_rootn_si(exact.get(), first.get(), n, MPFR_RNDN);
      EXPECT_TRUE(inside(rootn(x, n))) << a << " root " << n;
    }
  }
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
  // 1e22 is known for wrong reductions
  EXPECT_TRUE(is_member(-0.8522008497671888017727, sin(box(1e22, 1e22))));
}

}  // namespace
}  // namespace vouch
