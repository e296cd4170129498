#include <vouch/solve/distributed/row_problem.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/distributed/residual.hpp>

namespace vouch::distributed {

row_residual_of::row_residual_of(const row_vectors& vectors, const row_matrix& A, view<const double> b)
    : vectors_(vectors),
      A_(A),
      b_(b),
      x_(array<double>::zeros(vectors.cpu(), A.length())),
      low_(array<double>::zeros(vectors.cpu(), A.length())) {}

residual_facts row_residual_of::operator()(const double* x, const double* low, double* r) {
  std::copy_n(x, A_.rows(), x_.data());
  if (low != nullptr) std::copy_n(low, A_.rows(), low_.data());
  return residual(vectors_.cpu(), A_, vectors_.sums(), b_.data(), x_.data(),
                  low != nullptr ? low_.data() : nullptr, r);
}

namespace {

// Most matrices show by plain sums that rows do not sum to zero.
bool is_far_from_zero_row_sums(const row_vectors& vectors, const row_matrix& A) {
  const csr_view<const double> local = A.local();
  double sum = 0, size = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    double of_row = 0, size_of_row = 0;
    for (std::int64_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k) {
      of_row += local.val[k];
      size_of_row += std::fabs(local.val[k]);
    }
    sum = std::max(sum, std::fabs(of_row));
    size = std::max(size, size_of_row);
  }
  constexpr double far_beyond_rounding = 1e-8;
  return vectors.largest(sum) > far_beyond_rounding * vectors.largest(size);
}

}  // namespace

bool has_constants_in_null_space(const row_vectors& vectors, const row_matrix& A) {
  const ieee_environment here;
  if (A.all_rows() == 0 || is_far_from_zero_row_sums(vectors, A)) return false;
  const array<double> zeros = array<double>::zeros(vectors.cpu(), A.rows());
  array<double> ones(vectors.cpu(), A.rows()), sums(vectors.cpu(), A.rows());
  std::fill(ones.begin(), ones.end(), 1.0);
  const residual_facts facts = row_residual_of(vectors, A, zeros)(ones.data(), nullptr, sums.data());
  return facts.norm_inf <= 64 * std::numeric_limits<double>::epsilon() * facts.matrix_norm_inf;
}

}  // namespace vouch::distributed
