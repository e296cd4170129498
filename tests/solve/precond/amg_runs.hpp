// tests/solve/precond/amg_runs.hpp -- systems solved by conjugate gradients with multigrid.
#pragma once
#include <cmath>
#include <memory>
#include <vector>

#include <vouch/generate/problems.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/amg.hpp>

#include "data.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {

inline const device cpu = device::cpu(2);

inline csr<double> generated(const char* name, std::int64_t n, const char* coefficient = nullptr,
                             double contrast = 0, double epsilon = 0) {
  problem_options o;
  o.nx = n;
  if (coefficient != nullptr) o.coefficient = coefficient;
  if (contrast > 0) o.contrast = contrast;
  if (epsilon > 0) o.epsilon = epsilon;
  return generate_problem(cpu, name, o);
}

/// ||b - A x||_2 / ||b||_2 in long double.
inline double relative_residual(const csr<double>& A, const std::vector<double>& b,
                                const std::vector<double>& x) {
  long double error = 0, size = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    long double r = b[static_cast<std::size_t>(i)];
    size += r * r;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      r -= static_cast<long double>(A.val[k]) * x[static_cast<std::size_t>(A.col[k])];
    error += r * r;
  }
  return static_cast<double>(std::sqrt(error / size));
}

struct outcome {
  solve_report report;
  amg_hierarchy made;
  double complexity = 0;
  double true_residual = 0;  // relative, recomputed here in long double
};

inline outcome solve_by_amg(const device& dev, const csr<double>& A, const amg_options& options = {}) {
  const std::vector<double> b = random_vector<double>(A.rows, 7);
  const csr<double> there = A.to(dev);
  const array<double> rhs = array<double>::from(dev, b);
  array<double> x = array<double>::zeros(dev, A.rows);
  const auto M = make_amg<double>(dev, there.all(), options);
  cg_options stop;
  stop.rtol = 1e-8;
  outcome made;
  made.report = cg<double>(dev, there.all(), rhs, x, stop, M.get());
  made.made = M->hierarchy();
  made.complexity = made.made.operator_complexity();
  made.true_residual = relative_residual(A, b, x.to_vector());
  return made;
}

}  // namespace vouch::testing
