#include <limits>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/cg_system.hpp>
#include <vouch/solve/vector_update.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

void check_cg_shapes(std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x) {
  if (rows != cols)
    throw shape_error("conjugate gradients need a square matrix, this one is " + std::to_string(rows) + " by " +
                      std::to_string(cols));
  check_lengths(rows, b, x);
}

template <real T>
bool rows_sum_to_zero(const device& dev, csr_view<const T> A) {
  array<T> ones(dev, A.rows), sums(dev, A.rows);
  const array<T> zeros = array<T>::zeros(dev, A.rows);
  fill(dev, ones.data(), T{1}, A.rows);
  const residual_facts facts = residual<T>(dev, A, zeros, ones, nullptr, sums);
  return facts.norm_inf <= 64 * std::numeric_limits<T>::epsilon() * facts.matrix_norm_inf;
}

template <real T>
verified_problem<T> stored_problem(const device& dev, csr_view<const T> A, view<const T> b,
                                   bool constants_in_null_space) {
  return {dev, A.rows,
          [dev, A, b](const T* at, const T* at_low, T* r) {
            return residual<T>(dev, A, b, {at, A.rows}, at_low, {r, A.rows});
          },
          constants_in_null_space};
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

template bool rows_sum_to_zero(const device&, csr_view<const float>);
template verified_problem<float> stored_problem(const device&, csr_view<const float>, view<const float>, bool);
template solve_report new_cg_report(const preconditioner<float>*, bool);
template bool rows_sum_to_zero(const device&, csr_view<const double>);
template verified_problem<double> stored_problem(const device&, csr_view<const double>, view<const double>,
                                                 bool);
template solve_report new_cg_report(const preconditioner<double>*, bool);

}  // namespace vouch
