// tests/dense/exact_product.hpp -- matrices of integers, and their products in exact arithmetic.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::testing {

__extension__ typedef __int128 wide;
// What goes into a matrix: [centre - half, centre + half] of integers, of which a point takes the centre.
struct recipe {
  std::int64_t largest;
  double straddling;  // share of the entries that hold 0 inside
};

template <class E>
struct entry {
  static constexpr bool point = true;
  static E make(std::int64_t centre, std::int64_t) { return static_cast<E>(centre); }
  static double lo(E e) { return static_cast<double>(e); }
  static double hi(E e) { return static_cast<double>(e); }
};

template <class T>
struct entry<interval<T>> {
  static constexpr bool point = false;
  static interval<T> make(std::int64_t centre, std::int64_t half) {
    return interval<T>::unchecked(static_cast<T>(centre - half), static_cast<T>(centre + half));
  }
  static double lo(interval<T> e) { return static_cast<double>(e.lo()); }
  static double hi(interval<T> e) { return static_cast<double>(e.hi()); }
};

template <class E>
std::vector<E> fill(std::int64_t count, const recipe& r, std::uint64_t seed) {
  std::vector<E> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    std::int64_t centre =
        static_cast<std::int64_t>(random_bits(seed, 3 * at) % static_cast<std::uint64_t>(2 * r.largest)) -
        r.largest;
    const double u = random_unit(seed, 3 * at + 1);
    std::int64_t half = static_cast<std::int64_t>(u * static_cast<double>(std::abs(centre)));
    if (random_unit(seed, 3 * at + 2) < r.straddling) half += std::abs(centre) / 2 + 1;
    all.push_back(entry<E>::make(centre, half));
  }
  return all;
}

struct shape {
  std::int64_t m, n, k;
};

struct bounds {
  wide lo = 0, hi = 0;
  long double magnitude = 0;
};

template <class TA, class TB, class T>
struct product {
  shape size;
  transpose trans_a = transpose::no, trans_b = transpose::no;
  std::vector<TA> a;
  std::vector<TB> b;
  std::int64_t ld_a = 0, ld_b = 0;

  product(shape s, transpose ta, transpose tb, const recipe& r) : size(s), trans_a(ta), trans_b(tb) {
    const bool plain_a = ta == transpose::no, plain_b = tb == transpose::no;
    ld_a = (plain_a ? s.m : s.k) + 3;
    ld_b = (plain_b ? s.k : s.n) + 1;
    a = fill<TA>(ld_a * (plain_a ? s.k : s.m), r, 1);
    b = fill<TB>(ld_b * (plain_b ? s.n : s.k), r, 2);
  }
  TA& left(std::int64_t i, std::int64_t k) {
    return a[static_cast<std::size_t>(trans_a == transpose::no ? i + k * ld_a : k + i * ld_a)];
  }
  TB& right(std::int64_t k, std::int64_t j) {
    return b[static_cast<std::size_t>(trans_b == transpose::no ? k + j * ld_b : j + k * ld_b)];
  }

  /// C := alpha A B + beta old, by detail::gemm_tight_cuda or its like; two rows of C besides, which stay.
  template <class Routine>
  std::vector<interval<T>> on(const device& gpu, Routine routine, T alpha = 1, T beta = 0,
                              const interval<T>& old = {}) const {
    const bool plain_a = trans_a == transpose::no, plain_b = trans_b == transpose::no;
    const auto on_a = array<TA>::from(gpu, a);
    const auto on_b = array<TB>::from(gpu, b);
    auto c = array<interval<T>>::from(
        gpu, std::vector<interval<T>>(static_cast<std::size_t>((size.m + 2) * size.n), old));
    routine(gpu, trans_a, trans_b, alpha,
            matrix_view<const TA>{on_a.data(), plain_a ? size.m : size.k, plain_a ? size.k : size.m, ld_a},
            matrix_view<const TB>{on_b.data(), plain_b ? size.k : size.n, plain_b ? size.n : size.k, ld_b},
            beta, matrix_view<interval<T>>{c.data(), size.m, size.n, size.m + 2});
    return c.to_vector();
  }

  // The tightest bounds of entry (i, j) of the product, exactly.
  bounds exact(std::int64_t i, std::int64_t j) {
    bounds sum;
    for (std::int64_t k = 0; k < size.k; ++k) {
      const TA x = left(i, k);
      const TB y = right(k, j);
      const auto xl = static_cast<wide>(entry<TA>::lo(x)), xh = static_cast<wide>(entry<TA>::hi(x));
      const auto yl = static_cast<wide>(entry<TB>::lo(y)), yh = static_cast<wide>(entry<TB>::hi(y));
      const wide lo = std::min({xl * yl, xl * yh, xh * yl, xh * yh}),
                 hi = std::max({xl * yl, xl * yh, xh * yl, xh * yh});
      sum.lo += lo;
      sum.hi += hi;
      sum.magnitude += std::max(std::abs(static_cast<long double>(lo)), std::abs(static_cast<long double>(hi)));
    }
    return sum;
  }
};

}  // namespace vouch::testing
