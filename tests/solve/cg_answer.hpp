// tests/solve/cg_answer.hpp -- conjugate gradients for a host matrix, on any device and in either precision.
#pragma once
#include <string>
#include <vector>

#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/make.hpp>

#include "solve/systems.hpp"

namespace vouch::testing {

struct answer {
  solve_report report;
  std::vector<double> x;
};

template <class T = double>
answer solve(const device& dev, const csr<double>& A, const std::vector<double>& b,
             const cg_options& options = {}, const std::string& precondition = "none",
             std::vector<double> start = {}) {
  const csr<T> matrix = convert_values<T, double>(device::cpu(1), A.all()).to(dev);
  start.resize(b.size(), 0.0);
  const std::vector<T> rhs(b.begin(), b.end()), from(start.begin(), start.end());
  const array<T> right = array<T>::from(dev, rhs);
  array<T> x = array<T>::from(dev, from);
  const auto M = make_preconditioner<T>(dev, matrix.all(), precondition);
  answer a;
  a.report = cg<T>(dev, matrix.all(), right, x, options, M.get());
  const std::vector<T> got = x.to_vector();
  a.x.assign(got.begin(), got.end());
  return a;
}

}  // namespace vouch::testing
