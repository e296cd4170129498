// Directed rounding against integer arithmetic, in one file that any compiler can build: numbers are n * 2^-70
// with whole n below 2^53, so that sums and products are whole numbers of 128 bits. Prints what is wrong; 1 if
// anything.
#if defined(PRAGMA_BEFORE)
#if defined(__clang__)
#pragma float_control(precise, off)
#else
#pragma GCC optimize("fast-math")
#endif
#endif
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>

#include <vouch/core/random.hpp>
#include <vouch/interval/power.hpp>
#include <vouch/interval/relations.hpp>

namespace {

__extension__ typedef __int128 wide;

// The number of so many bits with the value n * 2^exponent, rounded down: exact integer arithmetic.
double rounded_down(wide n, int exponent, int bits = 53) {
  const bool negative = n < 0;
  wide m = negative ? -n : n;
  int shift = 0;
  bool cut = false;
  while (m >= wide{1} << bits) {
    cut = cut || (m & 1) != 0;
    m >>= 1;
    ++shift;
  }
  if (negative && cut) ++m;
  const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(m)), exponent + shift);
  return negative ? -value : value;
}

double rounded_up(wide n, int exponent, int bits = 53) { return -rounded_down(-n, exponent, bits); }

int failures = 0;

void expect(bool good, const char* what, std::uint64_t k) {
  if (good) return;
  if (++failures < 10) std::printf("%s is wrong in case %llu\n", what, static_cast<unsigned long long>(k));
}

std::int64_t whole(std::uint64_t seed, std::uint64_t k) {
  const auto n =
      static_cast<std::int64_t>(vouch::random_bits(seed, k) >> (11 + vouch::random_bits(seed + 7, k) % 40));
  return vouch::random_bits(seed + 1, k) % 2 == 0 ? n : -n;
}

double scaled(std::int64_t n, int exponent) { return std::ldexp(static_cast<double>(n), exponent); }

// By a constant, somewhat above 1/10, to what is subnormal.
void check_subnormal(std::uint64_t k) {
  using namespace vouch;
  const ieee_environment here;
  const auto units = static_cast<double>(k % 1000 + 1), tenth = static_cast<double>((k % 1000 + 1) / 10);
  const interval<double> part = interval<double>(std::ldexp(-units, -1074)) * 0.1;
  expect(part.lo() == std::ldexp(-tenth - 1, -1074) && part.hi() == std::ldexp(-tenth, -1074),
         "mul to subnormal", k);
}

void check(std::uint64_t k) {
  check_subnormal(k);
  const std::int64_t a = whole(1, k);
  const std::int64_t b = whole(10, k);
  const std::int64_t c = whole(20, k);
  const int shift = static_cast<int>(vouch::random_bits(30, k) % 30);
  const double x = scaled(a, -70);
  const double y = scaled(b, -70);
  // c stands so that the sum with the product has at most 127 bits.
  const double z = scaled(c, -140 + shift);
  using namespace vouch;
  expect(add_down(x, y) == rounded_down(wide{a} + b, -70), "add_down", k);
  expect(add_up(x, y) == rounded_up(wide{a} + b, -70), "add_up", k);
  expect(sub_down(x, y) == rounded_down(wide{a} - b, -70), "sub_down", k);
  expect(sub_up(x, y) == rounded_up(wide{a} - b, -70), "sub_up", k);
  expect(mul_down(x, y) == rounded_down(wide{a} * b, -140), "mul_down", k);
  expect(mul_up(x, y) == rounded_up(wide{a} * b, -140), "mul_up", k);
  const wide sum = wide{a} * b + (wide{c} << shift);
  expect(fma_down(x, y, z) == rounded_down(sum, -140), "fma_down", k);
  expect(fma_up(x, y, z) == rounded_up(sum, -140), "fma_up", k);
  // A product that the optimiser sees on its way into a sum must not be fused with it. Where sums may be reordered
  // the test itself would be.
#if !defined(REORDERED)
  const double product = x * y;
  expect(add_up(product, z) >= product + z && add_down(product, z) <= product + z, "add of a product", k);
  const auto low = fma_up(add_down(product, z), 1.0, -product);
  expect(low <= fma_up(add_up(product, z), 1.0, -product), "order of sums", k);
#endif
  if (b != 0) {
    const double q = div_down(x, y);
    expect(q <= div_up(x, y) && div_up(x, y) <= next_up(q), "div", k);
    expect(b > 0 ? fma_up(q, y, -x) <= 0 || mul_down(q, y) <= x : mul_up(q, y) >= x, "div_down", k);
    expect(b > 0 ? mul_up(div_up(x, y), y) >= x : mul_down(div_up(x, y), y) <= x, "div_up", k);
  }
  const double root = sqrt_down(std::fabs(x));
  expect(mul_down(root, root) <= std::fabs(x) &&
             mul_up(sqrt_up(std::fabs(x)), sqrt_up(std::fabs(x))) >= std::fabs(x),
         "sqrt", k);
  // What the operators make of both bounds at once.
  const auto set = [](double u, double v) {
    return interval<double>::unchecked(std::fmin(u, v), std::fmax(u, v));
  };
  const interval<double> X = set(x, z), Y = set(y, std::ldexp(static_cast<double>(b), -60));
  expect(X + Y == interval<double>::unchecked(add_down(X.lo(), Y.lo()), add_up(X.hi(), Y.hi())), "x + y", k);
  double lo = HUGE_VAL, hi = -HUGE_VAL, least = HUGE_VAL, most = -HUGE_VAL;
  for (const double u : {X.lo(), X.hi()})
    for (const double v : {Y.lo(), Y.hi()}) {
      lo = std::fmin(lo, mul_down(u, v));
      hi = std::fmax(hi, mul_up(u, v));
      least = std::fmin(least, div_down(u, v));
      most = std::fmax(most, div_up(u, v));
    }
  expect(X * Y == interval<double>::unchecked(lo, hi), "x * y", k);
  if (Y.lo() > 0 || Y.hi() < 0) expect(X / Y == interval<double>::unchecked(least, most), "x / y", k);
  const interval<double> square = interval<double>(x) * interval<double>(x);
  expect(pown(interval<double>(x), 2) == square && sqr(interval<double>(x)) == square, "sqr", k);
}

// The same for floats of 24 bits, n * 2^-40.
void check_single(std::uint64_t k) {
  const std::int64_t a = whole(40, k) >> 29, b = whole(50, k) >> 29, c = whole(60, k) >> 29;
  const auto x = static_cast<float>(scaled(a, -40)), y = static_cast<float>(scaled(b, -40));
  const auto z = static_cast<float>(scaled(c, -80));
  using namespace vouch;
  expect(add_down(x, y) == rounded_down(wide{a} + b, -40, 24), "add_down(float)", k);
  expect(sub_up(x, y) == rounded_up(wide{a} - b, -40, 24), "sub_up(float)", k);
  expect(mul_down(x, y) == rounded_down(wide{a} * b, -80, 24), "mul_down(float)", k);
  expect(mul_up(x, y) == rounded_up(wide{a} * b, -80, 24), "mul_up(float)", k);
  expect(fma_down(x, y, z) == rounded_down(wide{a} * b + c, -80, 24), "fma_down(float)", k);
  expect(fma_up(x, y, z) == rounded_up(wide{a} * b + c, -80, 24), "fma_up(float)", k);
  const auto at = [](float value) {
    return static_cast<wide>(static_cast<std::int64_t>(std::ldexp(value, 40)));
  };
  const float root = sqrt_down(std::ldexp(static_cast<float>(std::abs(a)), -40));
  expect(at(root) * at(root) <= wide{std::abs(a)} << 40 || root > 1, "sqrt_down(float)", k);
}

// Several quotients by one number, as by the reciprocal that it does not have.
void check_quotients(std::uint64_t k) {
  const std::int64_t divisor = whole(70, k) | 1;
  const double by = static_cast<double>(divisor);
  for (std::int64_t j = 1; j < 9; ++j) {
    const std::int64_t a = whole(80 + static_cast<std::uint64_t>(j), k);
    const auto x = static_cast<double>(a);
    const double q = vouch::div_down(x, by);
    // q = m * 2^e: m divisor against a, with all bits.
    int e = 0;
    const auto m = static_cast<std::int64_t>(std::ldexp(std::frexp(q, &e), 53));
    e -= 53;
    const wide left = wide{m} * divisor;
    if (e > 0 || e < -60) continue;
    const bool below = divisor > 0 ? left <= wide{a} << -e : left >= wide{a} << -e;
    expect(below && vouch::div_up(x, by) <= vouch::next_up(q), "div of many", k);
  }
}

void check_sets() {
  using namespace vouch;
  using set = interval<double>;
  volatile double zero = 0;
  const set none = intersection(set(1), set(2)), all = set::entire(), point(zero);
  expect(is_empty(none) && is_empty(none + all) && is_empty(sqr(none)) && is_empty(set(1) / point), "empty", 0);
  expect(!is_empty(all) && is_entire(all) && all == -all && !is_common(all) && !(all == none), "entire", 0);
  expect(is_entire(set(1) / set::unchecked(-1, 1)) && mid(all) == 0 && is_empty(set(1 / zero)), "unbounded", 0);
  expect(mul_up(1e308, 1e308) > 1e308 && mul_down(1e308, 1e308) < HUGE_VAL &&
             mul_down(1e308, 1e308) == std::numeric_limits<double>::max(),
         "overflow", 0);
  expect(hull(none, set(1)) == set(1) && subset(none, all) && !subset(all, set(1)), "relations", 0);
}

bool instructions_present() {
#if defined(__x86_64__) && defined(__AVX512F__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
#elif defined(__x86_64__) && defined(__FMA__)
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

}  // namespace

int main() {
  if (!instructions_present()) return 3;
  check_sets();
  for (std::uint64_t k = 0; k < 30000; ++k) {
    check(k);
    check_single(k);
    check_quotients(k);
  }
  return failures == 0 ? 0 : 1;
}
