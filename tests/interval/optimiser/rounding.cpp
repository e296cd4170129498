// Directed rounding against integer arithmetic, in one file that any compiler can build: numbers are n * 2^-70
// with whole n below 2^53, so that sums and products are whole numbers of 128 bits. Prints what is wrong; 1 if
// anything.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <vouch/core/random.hpp>
#include <vouch/interval/power.hpp>

namespace {

__extension__ typedef __int128 wide;

// The double with the value n * 2^exponent, rounded down: exact integer arithmetic.
double rounded_down(wide n, int exponent) {
  const bool negative = n < 0;
  wide m = negative ? -n : n;
  int shift = 0;
  bool cut = false;
  while (m >= wide{1} << 53) {
    cut = cut || (m & 1) != 0;
    m >>= 1;
    ++shift;
  }
  if (negative && cut) ++m;
  const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(m)), exponent + shift);
  return negative ? -value : value;
}

double rounded_up(wide n, int exponent) { return -rounded_down(-n, exponent); }

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

void check(std::uint64_t k) {
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
  // A product that the optimiser sees on its way into a sum must not be fused with it.
  const double product = x * y;
  expect(add_up(product, z) >= product + z && add_down(product, z) <= product + z, "add of a product", k);
  const auto low = fma_up(add_down(product, z), 1.0, -product);
  expect(low <= fma_up(add_up(product, z), 1.0, -product), "order of sums", k);
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
  const interval<double> square = interval<double>(x) * interval<double>(x);
  expect(pown(interval<double>(x), 2) == square && sqr(interval<double>(x)) == square, "sqr", k);
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
  for (std::uint64_t k = 0; k < 100000; ++k) check(k);
  return failures == 0 ? 0 : 1;
}
