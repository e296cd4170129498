// tests/verify/tridiagonal_systems.hpp -- systems to prove something of, and what is proved.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>
#include <vouch/core/array.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

#include "verify/exact.hpp"

namespace vouch::testing {

// One system in host memory.
struct system_data {
  std::vector<double> dl, d, du, b, x;
  bool periodic = false;

  std::size_t rows() const { return d.size(); }

  rational_matrix matrix() const {
    const std::size_t n = rows();
    rational_matrix M(n, std::vector<mpq_class>(n));
    for (std::size_t i = 0; i < n; ++i) {
      M[i][i] += d[i];
      if (i > 0 || periodic) M[i][(i + n - 1) % n] += dl[i];
      if (i + 1 < n || periodic) M[i][(i + 1) % n] += du[i];
    }
    return M;
  }
};

// Dominant, barely so, exactly singular, oscillating, of whole numbers with zeros, and with pivots that are
// zero or nearly: rows would have to change places there.
inline constexpr int kinds = 7;
inline system_data adversarial(dice& die, int n, int kind, bool periodic) {
  system_data of;
  of.periodic = periodic;
  for (int i = 0; i < n; ++i) {
    double l = die.number(kind == 0), u = die.number(kind == 0);
    if (kind == 1 || kind == 2) l = -1 - die.below(3), u = -1 - die.below(3);
    if (die.unit() < 0.1) l = 0;
    if (n == 1 || (i == 0 && !periodic)) l = 0;
    if (n == 1 || (i == n - 1 && !periodic)) u = 0;
    double d = std::fabs(l) + std::fabs(u);
    if (kind == 0) d *= 1.01 + die.unit();
    if (kind == 2 && die.unit() < 0.2) d *= 1 + 0x1p-52 * (die.below(9) - 4);
    if (kind == 3) d = die.number(false);
    if (kind == 4) d = die.below(5) - 2;
    if (kind == 5) d = die.below(3) > 0 ? 0 : die.number(true);
    if (kind == 6)
      d = l != 0 && die.below(2) > 0 ? std::ldexp(die.number(false), -30 - die.below(40)) : die.number(false);
    of.dl.push_back(l);
    of.d.push_back(die.below(4) == 0 ? -d : d);
    of.du.push_back(u);
    of.b.push_back(die.number(true));
  }
  return of;
}

inline void put_approximation(system_data& of, const std::optional<std::vector<mpq_class>>& exact, dice& die) {
  of.x.clear();
  for (std::size_t i = 0; i < of.rows(); ++i)
    of.x.push_back(exact ? (*exact)[i].get_d() * (1 + std::ldexp(die.unit(), -die.below(60))) : of.b[i]);
}

struct outcome {
  tridiagonal_bound bound;
  std::vector<std::vector<double>> x, radius;
};

// Stores the systems as shape says.
inline outcome bounds_of(const device& dev, const std::vector<system_data>& systems, const batch_shape& shape,
                         const bound_options& options) {
  const auto gathered = [&](std::vector<double> system_data::*part) {
    std::vector<double> all(static_cast<std::size_t>(shape.extent()));
    for (std::size_t s = 0; s < systems.size(); ++s)
      for (std::size_t i = 0; i < systems[s].rows(); ++i)
        all[static_cast<std::size_t>(shape.at(std::ssize(systems) > 1 ? static_cast<std::int64_t>(s) : 0,
                                              static_cast<std::int64_t>(i)))] = (systems[s].*part)[i];
    return array<double>::from(dev, all);
  };
  const auto dl = gathered(&system_data::dl), d = gathered(&system_data::d), du = gathered(&system_data::du),
             b = gathered(&system_data::b);
  auto x = gathered(&system_data::x);
  array<double> radius(dev, shape.extent());
  outcome found;
  found.bound = bound_error(dev, {dl.data(), d.data(), du.data(), shape, systems.front().periodic},
                            {b.data(), shape}, {x.data(), shape}, {radius.data(), shape}, options);
  const std::vector<double> xs = x.to_vector(), radii = radius.to_vector();
  for (std::int64_t s = 0; s < std::ssize(systems); ++s) {
    found.x.emplace_back();
    found.radius.emplace_back();
    for (std::int64_t i = 0; i < shape.rows(s); ++i) {
      found.x.back().push_back(xs[static_cast<std::size_t>(shape.at(s, i))]);
      found.radius.back().push_back(radii[static_cast<std::size_t>(shape.at(s, i))]);
    }
  }
  return found;
}

inline bool proves(const std::vector<double>& radius) {
  return std::all_of(radius.begin(), radius.end(), [](double r) { return std::isfinite(r); });
}

// Whole numbers with the solution e, by every way to prove something of a system and of every length that GPUs
// treat alike: rows that dominate, second differences, any numbers, and the singular ones: second differences
// with free ends or in a ring, and a diagonal of zeros of odd length, which is regular where it is even.
inline system_data whole_numbers(dice& die, int n, int kind, bool periodic) {
  system_data of;
  of.periodic = periodic;
  for (int i = 0; i < n; ++i) {
    const bool first = i == 0 && !periodic, last = i == n - 1 && !periodic;
    const auto sign = [&] { return die.below(2) != 0 ? 1.0 : -1.0; };
    double l = -1, d = 2, u = -1;
    if (kind == 0)
      l = sign() * die.below(1000), u = sign() * die.below(1000), d = sign() * (2000 + die.below(9));
    if (kind == 1 && periodic && i == n / 2) d = 3;
    if (kind == 2)
      l = sign() * (1 + die.below(1000)), u = sign() * (1 + die.below(1000)), d = die.below(2001) - 1000;
    if (kind == 3 && (first || last)) d = 1;
    if (kind == 4) l = sign(), u = sign(), d = 0;
    of.dl.push_back(first ? 0 : l);
    of.d.push_back(d);
    of.du.push_back(last ? 0 : u);
    of.b.push_back(of.dl.back() + d + of.du.back());
    of.x.push_back(1 + std::ldexp(die.unit(), -30 - die.below(22)));
  }
  return of;
}

}  // namespace vouch::testing
