// tests/band/systems.hpp -- tridiagonal systems in long double, and how well something solves them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <vouch/band/tridiagonal.hpp>

namespace vouch::testing {

template <class T>
constexpr double unit = std::numeric_limits<T>::epsilon() / 2;

/// One system on the host; dl[0] and du[n-1] hold NaN unless it is periodic.
template <class T>
struct band_system {
  std::vector<T> dl, d, du, b;
  bool periodic = false;

  std::int64_t n() const { return static_cast<std::int64_t>(d.size()); }
  void poison() { dl.front() = du.back() = std::numeric_limits<T>::quiet_NaN(); }
  tridiagonal_view<const T> matrix() const {
    return {dl.data(), d.data(), du.data(), contiguous(n()), periodic};
  }
  batch_view<const T> rhs() const { return {b.data(), contiguous(n())}; }
};

/// Coefficients uniform in (-1, 1), the diagonal larger than its row by at least `dominance` if that is not 0.
template <class T>
band_system<T> random_system(std::int64_t n, double dominance, unsigned seed, bool periodic = false) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  band_system<T> s;
  s.periodic = periodic;
  for (std::int64_t i = 0; i < n; ++i) {
    s.dl.push_back(static_cast<T>(uniform(random)));
    s.du.push_back(static_cast<T>(uniform(random)));
    const double d = uniform(random), off = std::fabs(s.dl.back()) + std::fabs(s.du.back());
    s.d.push_back(static_cast<T>(dominance == 0 ? d : std::copysign(off + dominance + std::fabs(d), d)));
    s.b.push_back(static_cast<T>(uniform(random)));
  }
  if (!periodic) s.poison();
  return s;
}

/// (A x)_i in long double.
template <class T, class X>
long double row_product(const band_system<T>& s, const std::vector<X>& x, std::int64_t i) {
  const auto at = [](const auto& v, std::int64_t k) {
    return static_cast<long double>(v[static_cast<std::size_t>(k)]);
  };
  const std::int64_t n = s.n();
  long double sum = at(s.d, i) * at(x, i);
  if (i > 0 || s.periodic) sum += at(s.dl, i) * at(x, i > 0 ? i - 1 : n - 1);
  if (i + 1 < n || s.periodic) sum += at(s.du, i) * at(x, i + 1 < n ? i + 1 : 0);
  return sum;
}

/// ||b - A x||_inf / (||A||_inf ||x||_inf + ||b||_inf); infinite where x is not finite.
template <class T, class X>
double backward_error(const band_system<T>& s, const std::vector<X>& x) {
  long double residual = 0, norm = 0, largest_x = 0, largest_b = 0;
  for (std::int64_t i = 0; i < s.n(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!std::isfinite(x[k])) return std::numeric_limits<double>::infinity();
    residual = std::max(residual, std::fabs(s.b[k] - row_product(s, x, i)));
    long double row = std::fabs(s.d[k]);
    if (i > 0 || s.periodic) row += std::fabs(s.dl[k]);
    if (i + 1 < s.n() || s.periodic) row += std::fabs(s.du[k]);
    norm = std::max(norm, row);
    largest_x = std::max<long double>(largest_x, std::fabs(x[k]));
    largest_b = std::max<long double>(largest_b, std::fabs(s.b[k]));
  }
  const long double scale = norm * largest_x + largest_b;
  return scale == 0 ? 0 : static_cast<double>(residual / scale);
}

/// Elimination with partial pivoting as LAPACK's gtsv does it, in Real; empty where a pivot is zero. Not
/// periodic.
template <class Real, class T>
std::vector<Real> gtsv(const band_system<T>& s) {
  const std::size_t n = s.d.size();
  std::vector<Real> d(s.d.begin(), s.d.end()), u1(s.du.begin(), s.du.end()), u2(n), x(s.b.begin(), s.b.end());
  for (std::size_t i = 0; i + 1 < n; ++i) {
    Real a = s.dl[i + 1], next = d[i + 1], after = i + 2 < n ? u1[i + 1] : Real{0};
    if (std::fabs(a) > std::fabs(d[i])) {
      std::swap(a, d[i]);
      std::swap(next, u1[i]);
      u2[i] = after;
      after = 0;
      std::swap(x[i], x[i + 1]);
      const Real m = a / d[i];
      d[i + 1] = next - m * u1[i];
      if (i + 2 < n) u1[i + 1] = after - m * u2[i];
      x[i + 1] -= m * x[i];
    } else {
      if (d[i] == 0) return {};
      const Real m = a / d[i];
      d[i + 1] = next - m * u1[i];
      x[i + 1] -= m * x[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    if (d[i] == 0) return {};
    if (i + 1 < n) x[i] -= u1[i] * x[i + 1];
    if (i + 2 < n) x[i] -= u2[i] * x[i + 2];
    x[i] /= d[i];
  }
  return x;
}

}  // namespace vouch::testing
