// tests/solve/krylov_answer.hpp -- systems for methods that take more than definite ones, and Eigen's word on them.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/sparse/csr.hpp>

#include "systems.hpp"

namespace vouch::testing {

using wide_matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using wide_vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

/// -u'' - v'' + c (u_x + u_y / 2) on a grid of m by m, upwind.
inline csr<double> convection(std::int32_t m, double c) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < m; ++i)
    for (std::int32_t j = 0; j < m; ++j) {
      const std::int32_t row = i * m + j;
      if (i > 0) entries.push_back({row, row - m, -1 - c});
      if (j > 0) entries.push_back({row, row - 1, -1 - c / 2});
      entries.push_back({row, row, 4 + 1.5 * c});
      if (j + 1 < m) entries.push_back({row, row + 1, -1});
      if (i + 1 < m) entries.push_back({row, row + m, -1});
    }
  return from_triplets(m * m, entries);
}

/// Moves every element one place on: no Krylov space of fewer than n vectors says anything of e_1.
inline csr<double> cyclic_shift(std::int32_t n) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, (i + n - 1) % n, 1});
  return from_triplets(n, entries);
}

/// x' A x = 0 for every x.
inline csr<double> skew(std::int32_t n) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i + 1 < n; ++i) {
    entries.push_back({i, i + 1, 1.0 + i});
    entries.push_back({i + 1, i, -1.0 - i});
  }
  return from_triplets(n, entries);
}

/// A Laplacian with eigenvalues on both sides of zero.
inline csr<double> shifted_laplacian(std::int32_t m, double shift) {
  csr<double> A = laplacian(m);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] == i) A.val[k] -= shift;
  return A;
}

/// [L B'; B -d I] with the Laplacian L of a grid of m by m and, in B, differences of neighbours.
inline csr<double> saddle_point(std::int32_t m, double d) {
  const csr<double> L = laplacian(m);
  const auto n = static_cast<std::int32_t>(L.rows);
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int64_t k = L.row_ptr[i]; k < L.row_ptr[i + 1]; ++k) entries.push_back({i, L.col[k], L.val[k]});
  const std::int32_t constraints = n / 3;
  for (std::int32_t j = 0; j < constraints; ++j) {
    for (const auto& [column, value] : {std::pair{3 * j, 1.0}, std::pair{3 * j + 1, -1.0 - 0.1 * (j % 3)}}) {
      entries.push_back({n + j, column, value});
      entries.push_back({column, n + j, value});
    }
    if (d != 0) entries.push_back({n + j, n + j, -d});
  }
  return from_triplets(n + constraints, entries);
}

inline wide_matrix as_eigen(const csr<double>& A) {
  wide_matrix dense = wide_matrix::Zero(A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) = A.val[k];
  return dense;
}

inline wide_vector as_eigen(const std::vector<double>& v) {
  wide_vector result(static_cast<Eigen::Index>(v.size()));
  for (std::size_t i = 0; i < v.size(); ++i) result(static_cast<Eigen::Index>(i)) = v[i];
  return result;
}

inline double residual_of(const csr<double>& A, const std::vector<double>& b, const std::vector<double>& x) {
  return static_cast<double>((as_eigen(b) - as_eigen(A) * as_eigen(x)).norm());
}

/// ||x - A^-1 b|| / ||A^-1 b||
inline double error_of(const csr<double>& A, const std::vector<double>& b, const std::vector<double>& x) {
  const wide_vector exact = as_eigen(A).partialPivLu().solve(as_eigen(b));
  return static_cast<double>((as_eigen(x) - exact).norm() / exact.norm());
}

struct krylov_answer {
  solve_report report;
  std::vector<double> x;
};

/// From x = 0. solve is called with a device, the matrix, b, x and a preconditioner or nullptr.
template <real T, class Solve>
krylov_answer solve_from_zero(const device& dev, const csr<double>& A, const std::vector<double>& b,
                              const std::string& precondition, const Solve& solve) {
  const csr<T> there = convert_values<T>(device::cpu(), A.all()).to(dev);
  const std::vector<T> rounded(b.begin(), b.end());
  const auto rhs = array<T>::from(dev, rounded);
  auto x = array<T>::zeros(dev, A.rows);
  const auto M = make_preconditioner<T>(dev, there, precondition);
  krylov_answer found;
  const csr_view<const T> seen = there;
  found.report = solve(dev, seen, view<const T>(rhs), x.all(), static_cast<const preconditioner<T>*>(M.get()));
  const std::vector<T> back = x.to_vector();
  found.x.assign(back.begin(), back.end());
  return found;
}

/// z := a r on the CPU, for the a of each call.
class changing_scale final : public preconditioner<double> {
 public:
  explicit changing_scale(std::vector<double> factors) : factors_(std::move(factors)) {}
  std::string name() const override { return "changing scale"; }
  void apply(const device&, view<const double> r, view<double> z) const override {
    const double factor = factors_[calls_++ % factors_.size()];
    for (std::int64_t i = 0; i < r.size(); ++i) z[i] = factor * (i % 2 == 0 ? 1 : factor) * r[i];
  }

 private:
  std::vector<double> factors_;
  mutable std::size_t calls_ = 0;
};

}  // namespace vouch::testing
