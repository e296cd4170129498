// AMGCL with its OpenMP back end, as a module for the benchmarks.
#include "amgcl.hpp"

#include <omp.h>

#include <algorithm>
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/as_preconditioner.hpp>
#include <amgcl/relaxation/ilu0.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/cg.hpp>
#include <chrono>
#include <exception>
#include <tuple>
#include <vector>

namespace {

using backend = amgcl::backend::builtin<double>;
using multigrid = amgcl::amg<backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;
using ilu0 = amgcl::relaxation::as_preconditioner<backend, amgcl::relaxation::ilu0>;

template <class Solver, class Matrix>
void run(const Matrix& A, const std::vector<double>& b, std::vector<double>& x, double rtol,
         vouch_amgcl_result& result) {
  using clock = std::chrono::steady_clock;
  const auto since = [](clock::time_point t) {
    return std::chrono::duration<double>(clock::now() - t).count();
  };
  typename Solver::params how;
  how.solver.tol = rtol;
  how.solver.maxiter = 4000;
  const auto start = clock::now();
  const Solver solve(A, how);
  result.setup = since(start);
  const auto begin = clock::now();
  result.iterations = static_cast<std::int64_t>(std::get<0>(solve(b, x)));
  result.solve = since(begin);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int vouch_amgcl_solve(
    int kind, int threads, std::int64_t n, const std::int64_t* row_ptr, const std::int32_t* col,
    const double* val, const double* b, double* x, double rtol, vouch_amgcl_result* result) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  int code = 0;
  try {
    const auto rows = static_cast<std::size_t>(n), entries = static_cast<std::size_t>(row_ptr[n]);
    const std::vector<std::ptrdiff_t> start(row_ptr, row_ptr + n + 1);
    const std::vector<std::ptrdiff_t> column(col, col + entries);
    const std::vector<double> value(val, val + entries), rhs(b, b + rows);
    std::vector<double> solution(rows, 0.0);
    const auto A = std::tie(rows, start, column, value);
    if (kind == 0)
      run<amgcl::make_solver<multigrid, amgcl::solver::cg<backend>>>(A, rhs, solution, rtol, *result);
    else if (kind == 1)
      run<amgcl::make_solver<multigrid, amgcl::solver::bicgstab<backend>>>(A, rhs, solution, rtol, *result);
    else
      run<amgcl::make_solver<ilu0, amgcl::solver::bicgstab<backend>>>(A, rhs, solution, rtol, *result);
    std::copy(solution.begin(), solution.end(), x);
  } catch (const std::exception&) {
    code = 1;
  }
  omp_set_num_threads(before);
  return code;
}
