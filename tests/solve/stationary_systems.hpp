// tests/solve/stationary_systems.hpp -- systems for stationary iterations, the textbook's sweeps in long
// double, and calls of ours in every form that a matrix has.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>

#include "devices.hpp"
#include "solve/systems.hpp"

namespace vouch::testing {

// A dense matrix by rows, as the tests hold it.
struct square {
  std::int64_t n = 0;
  std::vector<double> a;
  double operator()(std::int64_t i, std::int64_t j) const { return a[static_cast<std::size_t>(i * n + j)]; }
  double& operator()(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i * n + j)]; }
};

// Off-diagonal entries are small integers, most of them zero for a sparse one; the diagonal outweighs its row
// by `dominance`, rounded to an integer, with either sign.
inline square random_square(std::int64_t n, double dominance, std::uint64_t seed, bool sparse = false) {
  square A{n, std::vector<double>(static_cast<std::size_t>(n * n))};
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const auto bits = random_bits(seed, static_cast<std::uint64_t>(i * n + j));
      if (i == j || (sparse && bits % 7 != 0)) continue;
      A(i, j) = static_cast<double>(bits / 8 % 9) - 4;
      sum += std::fabs(A(i, j));
    }
    A(i, i) = (i % 3 == 0 ? -1 : 1) * (std::ceil(dominance * sum) + 1);
  }
  return A;
}

inline csr<double> sparse_of(const square& A) {
  std::vector<triplet> entries;
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j)
      if (A(i, j) != 0)
        entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), A(i, j)});
  return from_triplets(A.n, entries);
}

inline std::vector<double> product(const square& A, const std::vector<double>& x) {
  std::vector<double> b(x.size());
  for (std::int64_t i = 0; i < A.n; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < A.n; ++j)
      sum += static_cast<long double>(A(i, j)) * x[static_cast<std::size_t>(j)];
    b[static_cast<std::size_t>(i)] = static_cast<double>(sum);
  }
  return b;
}

inline std::vector<double> integers(std::int64_t n, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random_bits(seed, i) % 50);
  return x;
}

enum class method { jacobi, damped, forward, backward, symmetric, sor, ssor };
inline constexpr method methods[] = {method::jacobi,    method::damped, method::forward, method::backward,
                                     method::symmetric, method::sor,    method::ssor};

inline double omega_of(method m) { return m == method::damped ? 0.7 : m >= method::sor ? 1.2 : 1.0; }

// The textbook's sweep.
inline void sweep(const square& A, const std::vector<double>& b, std::vector<long double>& x, method m) {
  const auto row = [&](std::int64_t i, const std::vector<long double>& seen) {
    long double sum = b[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < A.n; ++j) sum -= A(i, j) * seen[static_cast<std::size_t>(j)];
    x[static_cast<std::size_t>(i)] += omega_of(m) * sum / A(i, i);
  };
  if (m == method::jacobi || m == method::damped) {
    const std::vector<long double> old = x;
    for (std::int64_t i = 0; i < A.n; ++i) row(i, old);
    return;
  }
  if (m != method::backward)
    for (std::int64_t i = 0; i < A.n; ++i) row(i, x);
  if (m == method::backward || m == method::symmetric || m == method::ssor)
    for (std::int64_t i = A.n; i-- > 0;) row(i, x);
}

enum class kept { sparse, by_rows, by_columns };
inline constexpr kept forms[] = {kept::sparse, kept::by_rows, kept::by_columns};

template <real T>
struct result {
  solve_report report;
  std::vector<T> x;
};

// Devices, and in which ways they solve: all on the CPU, dense ones on a GPU.
inline std::vector<std::pair<device, kept>> ways() {
  std::vector<std::pair<device, kept>> all;
  for (const kept form : forms) all.emplace_back(device::cpu(2), form);
  for (const device& gpu : gpus())
    for (const kept form : {kept::by_rows, kept::by_columns}) all.emplace_back(gpu, form);
  return all;
}

// Solves with A kept in one of three ways.
template <real T>
result<T> solve(const square& A, const std::vector<double>& b, std::vector<T> x, method m, kept form,
                const stopping_criterion& goal, const device& dev = device::cpu(2), int anderson = 0) {
  const std::int64_t n = A.n;
  const std::vector<T> rhs(b.begin(), b.end());
  const csr<double> wide = sparse_of(A);
  const csr<T> sparse = convert_values<T>(device::cpu(1), wide.all()).to(dev);
  std::vector<T> entries(A.a.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      entries[static_cast<std::size_t>(form == kept::by_rows ? i * n + j : i + j * n)] =
          static_cast<T>(A(i, j));
  const array<T> placed = array<T>::from(dev, entries), placed_rhs = array<T>::from(dev, rhs);
  array<T> solution = array<T>::from(dev, x);
  const matrix_view<const T> dense{placed.data(), n, n, std::max<std::int64_t>(1, n)};
  const transpose op = form == kept::by_rows ? transpose::yes : transpose::no;
  const view<const T> bv = placed_rhs;
  const view<T> xv = solution;
  const auto order = m == method::backward                         ? sweep_order::backward
                     : m == method::symmetric || m == method::ssor ? sweep_order::symmetric
                                                                   : sweep_order::forward;
  const acceleration accelerate{anderson};
  solve_report report;
  if (m == method::jacobi || m == method::damped) {
    const jacobi_options o{goal, omega_of(m), accelerate};
    report = form == kept::sparse ? jacobi<T>(dev, sparse, bv, xv, o) : jacobi<T>(dev, op, dense, bv, xv, o);
  } else if (m >= method::sor) {
    const sor_options o{goal, omega_of(m), order, accelerate};
    report = form == kept::sparse ? sor<T>(dev, sparse, bv, xv, o) : sor<T>(dev, op, dense, bv, xv, o);
  } else {
    const gauss_seidel_options o{goal, order, accelerate};
    report = form == kept::sparse ? gauss_seidel<T>(dev, sparse, bv, xv, o)
                                  : gauss_seidel<T>(dev, op, dense, bv, xv, o);
  }
  return {report, solution.to_vector()};
}

inline double largest(const std::vector<long double>& v) {
  long double most = 0;
  for (const long double x : v) most = std::max(most, std::fabs(x));
  return static_cast<double>(most);
}

template <class T>
double distance(const std::vector<T>& x, const std::vector<long double>& y) {
  std::vector<long double> difference(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) difference[i] = x[i] - y[i];
  return largest(difference);
}

}  // namespace vouch::testing
