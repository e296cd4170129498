#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/cg.hpp>
#include <vouch/solve/cg_assembly.hpp>
#include <vouch/solve/spd_check.hpp>
#include <vouch/solve/vector_update.hpp>
#include <vouch/solve/verified_solve.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {
namespace {

using clock = std::chrono::steady_clock;

template <real T>
solve_report new_report(const preconditioner<T>* M) {
  solve_report report;
  report.method = "cg";
  report.precision = sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = M != nullptr ? M->name() : "none";
  return report;
}

void check_shapes(std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x) {
  if (rows != cols)
    throw shape_error("conjugate gradients need a square matrix, this one is " + std::to_string(rows) + " by " +
                      std::to_string(cols));
  if (b != rows || x != rows)
    throw shape_error("the matrix has " + std::to_string(rows) + " rows, but b has " + std::to_string(b) +
                      " elements and x " + std::to_string(x));
}

// Whether A * ones = 0 to rounding: a pure Neumann problem, singular with the constants as null space.
template <real T>
bool rows_sum_to_zero(const device& dev, csr_view<const T> A) {
  array<T> ones(dev, A.rows), sums(dev, A.rows);
  const array<T> zeros = array<T>::zeros(dev, A.rows);
  fill(dev, ones.data(), T{1}, A.rows);
  const residual_facts facts = residual<T>(dev, A, zeros, ones, nullptr, sums);
  return facts.norm_inf <= 64 * std::numeric_limits<T>::epsilon() * facts.matrix_norm_inf;
}

}  // namespace

template <real T>
solve_report cg_with_engine(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                            const cg_options& options, cg_engine<T>& engine, clock::time_point begin) {
  check_shapes(A.rows, A.cols, b.size(), x.size());
  solve_report report = new_report<T>(nullptr);
  report.engine = engine.name();
  const verified_problem<T> problem{dev, A.rows,
                                    [&](const T* at, const T* at_low, T* r) {
                                      return residual<T>(dev, A, b, {at, A.rows}, at_low, {r, A.rows});
                                    },
                                    rows_sum_to_zero(dev, A)};
  if (problem.constants_in_null_space)
    report.warnings.push_back("every row sums to zero: singular, solved for the x that sums to zero");
  dev.synchronize();
  report.setup_seconds = std::chrono::duration<double>(clock::now() - begin).count();
  verified_solve(problem, engine, x, options, report);
  return report;
}

template <real T>
solve_report cg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x, const cg_options& options,
                const preconditioner<T>* M) {
  check_shapes(A.rows, A.cols, b.size(), x.size());
  const auto begin = clock::now();
  if (!options.matrix_checked) check_spd_looking(dev, A);
  const cg_assembly<T> parts = assemble_cg(dev, A, M, options.matrix_layout);
  solve_report report = cg_with_engine(dev, A, b, x, options, *parts.engine, begin);
  if (M != nullptr) report.preconditioner = M->name();
  return report;
}

template <real T>
solve_report cg(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                const cg_options& options, const preconditioner<T>* M) {
  const std::int64_t n = A.rows();
  check_shapes(n, n, b.size(), x.size());
  solve_report report = new_report<T>(M);
  report.warnings.push_back(
      "the operator's entries are not known: the residual was recomputed in working precision");
  const auto begin = clock::now();
  std::unique_ptr<cg_engine<T>> engine;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) engine = cg_graph_cuda_general(dev, A, M);
  if (!dev.is_cuda()) engine = cg_cpu_general(dev, A, M);
  report.engine = engine->name();

  // b - I (A x): the residual of the identity has just the norms that are wanted.
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(n) + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  std::vector<std::int32_t> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), 0);
  const csr<T> identity{n, n, array<std::int64_t>::from(dev, offsets), array<std::int32_t>::from(dev, columns),
                        array<T>::from(dev, std::vector<T>(static_cast<std::size_t>(n), T{1}))};
  array<T> product(dev, n);
  verified_problem<T> problem{dev, n, [&](const T* at, const T*, T* r) {
                                A.apply(dev, {at, n}, product);
                                residual_facts facts = residual<T>(dev, identity, b, product, nullptr, {r, n});
                                facts.matrix_norm_inf = std::numeric_limits<double>::quiet_NaN();
                                return facts;
                              }};
  report.setup_seconds = std::chrono::duration<double>(clock::now() - begin).count();
  verified_solve(problem, *engine, x, options, report);
  return report;
}

template solve_report cg_with_engine(const device&, csr_view<const float>, view<const float>, view<float>,
                                     const cg_options&, cg_engine<float>&, clock::time_point);
template solve_report cg_with_engine(const device&, csr_view<const double>, view<const double>, view<double>,
                                     const cg_options&, cg_engine<double>&, clock::time_point);
template solve_report cg(const device&, csr_view<const float>, view<const float>, view<float>,
                         const cg_options&, const preconditioner<float>*);
template solve_report cg(const device&, csr_view<const double>, view<const double>, view<double>,
                         const cg_options&, const preconditioner<double>*);
template solve_report cg(const device&, const linear_operator<float>&, view<const float>, view<float>,
                         const cg_options&, const preconditioner<float>*);
template solve_report cg(const device&, const linear_operator<double>&, view<const double>, view<double>,
                         const cg_options&, const preconditioner<double>*);

}  // namespace vouch
