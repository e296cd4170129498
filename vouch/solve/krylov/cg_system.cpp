#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_system.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/scaling.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {
namespace {

// On the CPU.
template <real T>
double least_diagonal_entry(csr_view<const T> A) {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] == i) least = std::min(least, static_cast<double>(A.val[k]));
  return least;
}

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

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> power_for_size(const device& dev, csr_view<const T> A) {
  if (A.rows == 0 || A.nonzeros == 0) return nullptr;
  T first;
  copy_bytes(&first, device::cpu(1), A.val, dev, sizeof first);
  if (first == 0 || !std::isfinite(first)) return nullptr;
  constexpr int moderate = sizeof(T) == 4 ? 30 : 250;  // its square times any residual is a number
  constexpr int most = sizeof(T) == 4 ? 120 : 1000;
  const int exponent = std::ilogb(first);
  if (std::abs(exponent) <= moderate) return nullptr;
  return std::make_unique<power_of_two<T>>(dev, A.rows, std::clamp(-exponent, -most, most));
}

void check_cg_shapes(std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x) {
  if (rows != cols)
    throw shape_error("conjugate gradients need a square matrix, this one is " + std::to_string(rows) + " by " +
                      std::to_string(cols));
  check_lengths(rows, b, x);
}

void check_cg_stopping(const stopping_criterion& goal) {
  check_stopping(goal);
  if (goal.stop_mean_change)
    throw value_error("conjugate gradients do not watch how much x changes", "stop by the residual");
}

template <real T>
void check_preconditioner(const preconditioner<T>* M, std::int64_t rows) {
  if (M != nullptr && M->rows() >= 0 && M->rows() != rows)
    throw shape_error("the preconditioner " + M->name() + " is for " + std::to_string(M->rows()) +
                      " unknowns, the system has " + std::to_string(rows));
}

template <real T>
bool rows_sum_to_zero(const device& dev, csr_view<const T> A) {
  if (A.rows == 0) return false;
  array<T> ones(dev, A.rows), sums(dev, A.rows);
  const array<T> zeros = array<T>::zeros(dev, A.rows);
  fill(dev, ones.data(), T{1}, A.rows);
  const residual_facts facts = residual<T>(dev, A, zeros, ones, nullptr, sums);
  return facts.norm_inf <= 64 * std::numeric_limits<T>::epsilon() * facts.matrix_norm_inf;
}

template <real T>
checked_problem<T> stored_problem(const device& dev, csr_view<const T> A, view<const T> b,
                                  const preconditioner<T>* M, bool constants_in_null_space) {
  checked_problem<T> problem{dev, A.rows,
                             [dev, A, b](const T* at, const T* at_low, T* r) {
                               return residual<T>(dev, A, b, {at, A.rows}, at_low, {r, A.rows});
                             },
                             constants_in_null_space};
  problem.allowed_growth = growth_of_gradients<T>;
  problem.M = M;
  if (M == nullptr && !constants_in_null_space && !dev.is_cuda())
    problem.least_eigenvalue_at_most = least_diagonal_entry(A);
  return problem;
}

template <real T>
solve_report new_cg_report(const preconditioner<T>* M, bool constants_in_null_space) {
  solve_report report;
  report.method = "cg";
  report.precision = sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = M != nullptr ? M->name() : "none";
  if (constants_in_null_space)
    report.warnings.push_back("every row sums to zero: singular, solved for the x that sums to zero");
  return report;
}

template std::unique_ptr<preconditioner<float>> power_for_size(const device&, csr_view<const float>);
template std::unique_ptr<preconditioner<double>> power_for_size(const device&, csr_view<const double>);
template void check_preconditioner(const preconditioner<float>*, std::int64_t);
template void check_preconditioner(const preconditioner<double>*, std::int64_t);
template bool rows_sum_to_zero(const device&, csr_view<const float>);
template checked_problem<float> stored_problem(const device&, csr_view<const float>, view<const float>,
                                               const preconditioner<float>*, bool);
template solve_report new_cg_report(const preconditioner<float>*, bool);
template bool rows_sum_to_zero(const device&, csr_view<const double>);
template checked_problem<double> stored_problem(const device&, csr_view<const double>, view<const double>,
                                                const preconditioner<double>*, bool);
template solve_report new_cg_report(const preconditioner<double>*, bool);

namespace {

// The matrix as an operator, for preconditioners that the fused loops do not know.
template <real T>
class plan_operator final : public linear_operator<T> {
 public:
  explicit plan_operator(const spmv_plan<T>& plan) : plan_(plan) {}
  std::int64_t rows() const override { return plan_.rows(); }
  void apply(const device&, view<const T> x, view<T> y) const override { plan_.multiply(T{1}, x, T{0}, y); }

 private:
  const spmv_plan<T>& plan_;
};

}  // namespace

template <real T>
cg_assembly<T> assemble_cg(const device& dev, csr_view<const T> A, const preconditioner<T>* M, layout wanted) {
  cg_assembly<T> parts;
  const T* minv = M != nullptr ? M->diagonal() : nullptr;
  const bool fused = M == nullptr || minv != nullptr;
  if constexpr (built_with_cuda)
    if (dev.is_cuda() && fused && wanted == layout::automatic) parts.engine = cg_resident_cuda(dev, A, minv);
  if (parts.engine) return parts;
  parts.plan = std::make_unique<spmv_plan<T>>(spmv_plan<T>::make(dev, A, true, wanted));
  if (fused) {
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) parts.engine = cg_graph_cuda(dev, *parts.plan, minv);
    if (!dev.is_cuda()) parts.engine = cg_cpu(dev, *parts.plan, minv);
    return parts;
  }
  parts.as_operator = std::make_unique<plan_operator<T>>(*parts.plan);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) parts.engine = cg_graph_cuda_general(dev, *parts.as_operator, M);
  if (!dev.is_cuda()) parts.engine = cg_cpu_general(dev, *parts.as_operator, M);
  return parts;
}

template cg_assembly<float> assemble_cg(const device&, csr_view<const float>, const preconditioner<float>*,
                                        layout);
template cg_assembly<double> assemble_cg(const device&, csr_view<const double>, const preconditioner<double>*,
                                         layout);

}  // namespace vouch
