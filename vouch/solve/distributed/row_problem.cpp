#include <vouch/solve/distributed/row_problem.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/distributed/residual.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>

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

bool is_far_from_zero_row_sums(const row_vectors& vectors, const row_matrix& A) {
  const plain_row_sums mine = plain_row_sums_of(vectors.cpu(), A.local());
  return plain_row_sums{vectors.largest(mine.sum), vectors.largest(mine.size)}.are_far_from_zero();
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
