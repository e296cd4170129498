#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/tried_preconditioner.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/scaling.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/spmv_layouts.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
class power_of_two final : public preconditioner<T> {
 public:
  power_of_two(const device& dev, std::int64_t n, int exponent) : power_(dev, n) {
    fill(dev, power_.data(), std::ldexp(T{1}, exponent), n);
  }
  void apply(const device& dev, view<const T> r, view<T> z) const override {
    multiply_elements(dev, power_.data(), r, z);
  }
  std::string name() const override { return "none"; }
  const T* diagonal() const override { return power_.data(); }

 private:
  array<T> power_;
};

// The identity.
template <real T>
csr<T> unit_matrix(const device& dev, std::int64_t n) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(n) + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  std::vector<std::int32_t> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), 0);
  return {n, n, array<std::int64_t>::from(dev, offsets), array<std::int32_t>::from(dev, columns),
          array<T>::from(dev, std::vector<T>(static_cast<std::size_t>(n), T{1}))};
}

// A plan that keeps complex numbers has looked for them.
template <real T>
bool takes_complex_scalars(const krylov_method& method, const device& dev, csr_view<const T> A,
                           const spmv_plan<T>& plan, const preconditioner<T>* M) {
  if (method.complex == complex_scalars::none || A.rows == 0) return false;
  if (plan.kept_as() != layout::complex && !detail::holds_complex_numbers(dev, A)) return false;
  return M == nullptr || method.complex == complex_scalars::always || is_complex_linear(dev, *M, A.rows);
}

template <real T>
void run_engine(const krylov_method& method, checked_problem<T> problem, const linear_operator<T>& A, view<T> x,
                const stopping_criterion& goal, const preconditioner<T>* M, const engine_maker<T>& make,
                bool complex, const stopwatch& clock, solve_report& report) {
  problem.allowed_growth = method.allowed_growth;
  const std::unique_ptr<inner_solver<T>> engine = make(A, M, complex);
  report.method = method.name;
  report.engine = engine->name();
  problem.dev.synchronize();
  report.setup_seconds = clock.seconds();
  residual_checked_solve<T>(problem, *engine, x, goal, report);
}

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> power_for_size(const device& dev, csr_view<const T> A, int times) {
  if (A.rows == 0 || A.nonzeros == 0) return nullptr;
  T first;
  copy_bytes(&first, device::cpu(1), A.val, dev, sizeof first);
  if (first == 0) {
    const std::int64_t largest = iamax<T>(dev, view<const T>(A.val, A.nonzeros));
    if (largest > 0) copy_bytes(&first, device::cpu(1), A.val + largest, dev, sizeof first);
  }
  if (first == 0 || !std::isfinite(first)) return nullptr;
  // Its square times any residual is a number.
  const int moderate = (sizeof(T) == 4 ? 30 : 250) / times;
  constexpr int most = sizeof(T) == 4 ? 120 : 1000;
  const int exponent = std::ilogb(first);
  if (std::abs(exponent) <= moderate) return nullptr;
  return std::make_unique<power_of_two<T>>(dev, A.rows, std::clamp(-exponent, -most, most));
}

void check_krylov_shapes(const char* who_needs, std::int64_t rows, std::int64_t cols, std::int64_t b,
                         std::int64_t x) {
  if (rows != cols)
    throw shape_error(std::string(who_needs) + " a square matrix, this one is " + std::to_string(rows) +
                      " by " + std::to_string(cols));
  check_lengths(rows, b, x);
}

void check_krylov_stopping(const char* method, const stopping_criterion& goal) {
  check_stopping(goal);
  if (goal.stop_mean_change)
    throw value_error(std::string("the stopping rule on the change of x is not one of ") + method,
                      "stop by the residual");
}

template <real T>
void check_preconditioner(const preconditioner<T>* M, std::int64_t rows) {
  if (M != nullptr && M->rows() >= 0 && M->rows() != rows)
    throw shape_error("the preconditioner " + M->name() + " is for " + std::to_string(M->rows()) +
                      " unknowns, the system has " + std::to_string(rows));
}

template <real T>
plain_row_sums plain_row_sums_of(const device& cpu, csr_view<const T> A) {
  double sum = 0, size = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu, A.nonzeros)) schedule(static) \
    reduction(max                                                                                       \
              : sum, size)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double of_row = 0, size_of_row = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      of_row += A.val[k];
      size_of_row += std::fabs(A.val[k]);
    }
    sum = std::max(sum, std::fabs(of_row));
    size = std::max(size, size_of_row);
  }
  return {sum, size};
}

template <real T>
residual_facts facts_of_row_sums(const device& dev, csr_view<const T> A) {
  array<T> ones(dev, A.rows), sums(dev, A.rows);
  const array<T> zeros = array<T>::zeros(dev, A.rows);
  fill(dev, ones.data(), T{1}, A.rows);
  return residual<T>(dev, A, zeros, ones, nullptr, sums);
}

namespace {

// What the condition number is at least, should A be symmetric positive definite: its least eigenvalue is at most every
// diagonal entry and the mean of the row sums, its largest at least every diagonal entry. 0 where one is not positive.
template <real T>
double least_condition(const device& dev, csr_view<const T> A) {
  const diagonal_range diagonal = range_of_diagonal(dev, A);
  if (!std::isfinite(diagonal.largest)) return 0;
  return diagonal.largest / std::min(diagonal.least, facts_of_row_sums(dev, A).norm_inf);
}

}  // namespace

template <real T>
checked_problem<T> stored_problem(const device& dev, csr_view<const T> A, view<const T> b) {
  checked_problem<T> problem{dev, A.rows, [dev, A, b](const T* at, const T* at_low, T* r) {
                               return residual<T>(dev, A, b, {at, A.rows}, at_low, {r, A.rows});
                             }};
  problem.least_condition = [dev, A] { return least_condition(dev, A); };
  return problem;
}

// b - I (A x): the residual of the identity has just the norms that are wanted.
template <real T>
checked_problem<T> operator_problem(const device& dev, const linear_operator<T>& A, view<const T> b,
                                    solve_report& report) {
  report.warnings.push_back(
      "the operator's entries are not known: the residual was recomputed in working precision");
  const std::int64_t n = A.rows();
  const auto identity = std::make_shared<csr<T>>(unit_matrix<T>(dev, n));
  const auto product = std::make_shared<array<T>>(dev, n);
  checked_problem<T> problem{dev, n, [dev, n, &A, b, identity, product](const T* at, const T*, T* r) {
                               const valid_csr valid("operator", dev, *identity);
                               A.apply(dev, {at, n}, *product);
                               residual_facts facts = residual<T>(dev, *identity, b, *product, nullptr, {r, n});
                               facts.matrix_norm_inf = std::numeric_limits<double>::quiet_NaN();
                               // So far that of A x.
                               if (!std::isfinite(facts.x_norm_inf))
                                 facts.x_norm_inf = detail::norm2<T>(dev, at, n);
                               return facts;
                             }};
  problem.not_finite = "the product A x that the operator gives holds a NaN or an infinity";
  return problem;
}

template <real T>
solve_report new_krylov_report(const preconditioner<T>* M) {
  solve_report report;
  report.precision = sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = M != nullptr ? M->name() : "none";
  return report;
}

namespace {

template <real T>
bool keeps_complex_linear(const device& dev, const preconditioner<T>& M, std::int64_t n) {
  array<T> v(dev, n), turned(dev, n), image(dev, n), of_turned(dev, n);
  fill_hashed<T>(dev, own_stream, v);
  multiply_by_i<T>(dev, v.data(), turned.data(), n);
  M.apply(dev, v, image);
  M.apply(dev, turned, of_turned);
  multiply_by_i<T>(dev, image.data(), turned.data(), n);
  axpy<T, T>(dev, T{-1}, turned, of_turned);
  const double much = std::sqrt(std::numeric_limits<float>::epsilon());
  return nrm2<T>(dev, of_turned) <= much * nrm2<T>(dev, image);
}

}  // namespace

template <real T>
bool is_complex_linear(const device& dev, const preconditioner<T>& M, std::int64_t n) {
  return has(M, trait::linear, [&] { return keeps_complex_linear(dev, M, n); });
}

template <real T>
solve_report solve_by_krylov(const krylov_method& method, const device& dev, csr_view<const T> A,
                             view<const T> b, view<T> x, const stopping_criterion& goal,
                             const preconditioner<T>* M, const engine_maker<T>& make) {
  const ieee_environment here;
  const valid_csr valid(method.name, dev, A);
  check_krylov_shapes((std::string(method.title) + " needs").c_str(), A.rows, A.cols, b.size(), x.size());
  check_krylov_stopping(method.title, goal);
  check_preconditioner(M, A.rows);
  const stopwatch clock;
  solve_report report = new_krylov_report<T>(M);
  const std::unique_ptr<preconditioner<T>> power =
      M == nullptr ? power_for_size(dev, A, method.powers) : nullptr;
  if (power != nullptr) M = power.get();
  const spmv_plan<T> plan = spmv_plan<T>::make(dev, A, false, layout::automatic);
  run_engine<T>(method, stored_problem<T>(dev, A, b), plan_operator<T>(plan), x, goal, M, make,
                takes_complex_scalars<T>(method, dev, A, plan, M), clock, report);
  return report;
}

template <real T>
solve_report solve_by_krylov(const krylov_method& method, const device& dev, const linear_operator<T>& A,
                             view<const T> b, view<T> x, const stopping_criterion& goal,
                             const preconditioner<T>* M, const engine_maker<T>& make) {
  const ieee_environment here;
  check_krylov_shapes((std::string(method.title) + " needs").c_str(), A.rows(), A.rows(), b.size(), x.size());
  check_krylov_stopping(method.title, goal);
  check_preconditioner(M, A.rows());
  const stopwatch clock;
  solve_report report = new_krylov_report<T>(M);
  run_engine<T>(method, operator_problem<T>(dev, A, b, report), A, x, goal, M, make, false, clock, report);
  return report;
}

#define VOUCH_KRYLOV_SYSTEM(T)                                                                                 \
  template std::unique_ptr<preconditioner<T>> power_for_size(const device&, csr_view<const T>, int);           \
  template void check_preconditioner(const preconditioner<T>*, std::int64_t);                                  \
  template plain_row_sums plain_row_sums_of(const device&, csr_view<const T>);                                 \
  template residual_facts facts_of_row_sums(const device&, csr_view<const T>);                                 \
  template checked_problem<T> stored_problem(const device&, csr_view<const T>, view<const T>);                 \
  template checked_problem<T> operator_problem(const device&, const linear_operator<T>&, view<const T>,        \
                                               solve_report&);                                                 \
  template solve_report new_krylov_report(const preconditioner<T>*);                                           \
  template bool is_complex_linear(const device&, const preconditioner<T>&, std::int64_t);                      \
  template solve_report solve_by_krylov(const krylov_method&, const device&, csr_view<const T>, view<const T>, \
                                        view<T>, const stopping_criterion&, const preconditioner<T>*,          \
                                        const engine_maker<T>&);                                               \
  template solve_report solve_by_krylov(const krylov_method&, const device&, const linear_operator<T>&,        \
                                        view<const T>, view<T>, const stopping_criterion&,                     \
                                        const preconditioner<T>*, const engine_maker<T>&);
VOUCH_KRYLOV_SYSTEM(float)
VOUCH_KRYLOV_SYSTEM(double)
#undef VOUCH_KRYLOV_SYSTEM

}  // namespace vouch
