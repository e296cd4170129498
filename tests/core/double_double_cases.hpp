// tests/core/double_double_cases.hpp -- operands that try double_double arithmetic: random signs, significands and
// exponents, nearly cancelling pairs, powers of two, zeros.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <vouch/core/double_double.hpp>
#include <vouch/core/random.hpp>

namespace vouch::testing {

template <class T>
struct operands {
  double_double<T> a;
  double_double<T> b;
};

template <real T>
T random_number(std::uint64_t seed, std::uint64_t k, int exponents) {
  const double significand = 1 + random_unit(seed, 3 * k);
  const int exponent = static_cast<int>(exponents * (2 * random_unit(seed, 3 * k + 1) - 1));
  const T size = static_cast<T>(std::ldexp(significand, exponent));
  return random_bits(seed, 3 * k + 2) % 2 == 0 ? size : -size;
}

/// hi + lo with |lo| <= ulp(hi) / 2.
template <real T>
double_double<T> random_double_double(std::uint64_t seed, std::uint64_t k, int exponents) {
  const T hi = random_number<T>(seed, 2 * k, exponents);
  const T scale = hi * std::numeric_limits<T>::epsilon() / 4;
  return quick_two_sum(hi, scale * random_number<T>(seed, 2 * k + 1, 0));
}

/// Exponents stay so close together that the oracle (__float128) holds exact sums and products.
template <real T>
std::vector<operands<T>> double_double_cases() {
  constexpr int exponents = sizeof(T) == sizeof(double) ? 12 : 6;
  std::vector<operands<T>> all{{{0, 0}, {0, 0}}, {{1, 0}, {0, 0}}, {{0, 0}, {-3, 0}}, {{1, 0}, {-1, 0}}};
  for (std::uint64_t k = 0; k < 20000; ++k) {
    const double_double<T> a = random_double_double<T>(1, k, exponents);
    double_double<T> b = random_double_double<T>(2, k, exponents);
    if (k % 4 == 1) b = {-a.hi, b.lo * (a.hi / b.hi)};                                   // hi cancels
    if (k % 4 == 2) b = {-std::nextafter(a.hi, T(0)), b.lo * (a.hi / b.hi)};             // nearly
    if (k % 4 == 3) b = {static_cast<T>(std::ldexp(T(1), static_cast<int>(k % 9))), 0};  // a power of two
    all.push_back({a, quick_two_sum(b.hi, b.lo)});
  }
  return all;
}

}  // namespace vouch::testing
