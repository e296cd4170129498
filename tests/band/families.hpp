// tests/band/families.hpp -- the ill-conditioned tridiagonal families that solvers are compared on.
#pragma once
#include <functional>
#include <string>

#include "band/systems.hpp"

namespace vouch::testing {

template <class T>
struct family {
  std::string name;
  std::function<band_system<T>(std::int64_t n)> make;
};

template <class T, class Change>
family<T> changed(const std::string& name, const Change& change) {
  return {name, [change](std::int64_t n) {
            band_system<T> s = random_system<T>(n, 0.0, 4711);
            for (std::int64_t i = 0; i < n; ++i) change(s, static_cast<std::size_t>(i));
            s.poison();
            return s;
          }};
}

/// gallery('dorr', n, theta): ill-conditioned, row dominant.
template <class T>
void dorr_row(band_system<T>& s, std::size_t i) {
  const double theta = 1e-4, n = static_cast<double>(s.n()), h = 1 / (n + 1), k = static_cast<double>(i + 1);
  const bool upper_half = i < (s.d.size() + 1) / 2;
  const double term = theta / (h * h), slope = (0.5 - k * h) / h;
  const double dl = upper_half ? -term : -term + slope, du = upper_half ? -term - slope : -term;
  s.dl[i] = static_cast<T>(dl);
  s.du[i] = static_cast<T>(du);
  s.d[i] = static_cast<T>(-(dl + du));
}

/// Of Klein and Strzodka, ICPP 2021, table 1 and the lists before it: those that need no dense reduction.
template <class T>
std::vector<family<T>> families() {
  using S = band_system<T>;
  const auto small = static_cast<T>(sizeof(T) == 8 ? 1e-50 : 1e-30);
  return {
      changed<T>("uniform", [](S&, std::size_t) {}),
      changed<T>("huge diagonal", [](S& s, std::size_t i) { s.d[i] = static_cast<T>(1e8); }),
      changed<T>("lesp",
                 [](S& s, std::size_t i) {
                   s.d[i] = -static_cast<T>(2 * i + 5);
                   s.dl[i] = static_cast<T>(1.0 / static_cast<double>(i + 1));
                   s.du[i] = static_cast<T>(i + 2);
                 }),
      changed<T>("one tiny coupling",
                 [small](S& s, std::size_t i) { s.dl[i] *= i == s.d.size() / 2 ? small : T{1}; }),
      changed<T>("half the couplings zero",
                 [](S& s, std::size_t i) {
                   if (i * 2654435761u % 7 < 3) s.dl[i] = 0;
                   if (i * 2246822519u % 5 < 2) s.du[i] = 0;
                 }),
      changed<T>("diagonal 64", [](S& s, std::size_t i) { s.d[i] = 64; }),
      changed<T>("inverse of Kac-Murdock-Szego",
                 [](S& s, std::size_t i) {
                   s.dl[i] = s.du[i] = static_cast<T>(-2.0 / 3);
                   s.d[i] = static_cast<T>(i == 0 || i + 1 == s.d.size() ? 4.0 / 3 : 5.0 / 3);
                 }),
      changed<T>("tiny lower diagonal", [small](S& s, std::size_t i) { s.dl[i] *= small; }),
      changed<T>("dorr", dorr_row<T>),
      changed<T>("diagonal 1e-8", [](S& s, std::size_t i) { s.d[i] = static_cast<T>(1e-8); }),
      changed<T>("clement",
                 [](S& s, std::size_t i) {
                   s.d[i] = 0;
                   s.dl[i] = static_cast<T>(s.d.size() - i);
                   s.du[i] = static_cast<T>(i + 1);
                 }),
      changed<T>("diagonal 0", [](S& s, std::size_t i) { s.d[i] = 0; }),
      changed<T>("second difference",
                 [](S& s, std::size_t i) {
                   s.d[i] = -2;
                   s.dl[i] = s.du[i] = 1;
                 }),
      changed<T>("near overflow",
                 [](S& s, std::size_t i) {
                   for (T* v : {&s.dl[i], &s.d[i], &s.du[i], &s.b[i]}) *v *= std::numeric_limits<T>::max() / 8;
                 }),
      changed<T>("near underflow",
                 [](S& s, std::size_t i) {
                   for (T* v : {&s.dl[i], &s.d[i], &s.du[i], &s.b[i]})
                     *v *= std::numeric_limits<T>::min() * 1024;
                 }),
      changed<T>("rows of very unequal size",
                 [](S& s, std::size_t i) {
                   const T scale = std::ldexp(T{1}, static_cast<int>(i * 7919 % 60) - 30);
                   for (T* v : {&s.dl[i], &s.d[i], &s.du[i], &s.b[i]}) *v *= scale;
                 }),
  };
}

}  // namespace vouch::testing
