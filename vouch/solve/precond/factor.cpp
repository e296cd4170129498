#include <algorithm>
#include <cmath>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>

namespace vouch {
namespace {

// Of the scaled matrix, whose diagonal is one. Smaller pivots make factors that hurt: measured on stiffness
// matrices, a shift then saves iterations.
constexpr double least_pivot = 1e-4;
constexpr double first_shift = 1e-3;
constexpr double last_shift = 0x1p40;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// a_ij / sqrt(a_ii a_jj)
std::vector<double> scaled_values(const lower_part& A, const std::vector<double>& scale) {
  std::vector<double> values(A.lower.val.size());
  for (std::int64_t i = 0; i < A.lower.rows(); ++i)
    for (std::int64_t k = A.lower.row_ptr[at(i)]; k < A.lower.row_ptr[at(i) + 1]; ++k)
      values[at(k)] = A.lower.val[at(k)] * scale[at(i)] * scale[at(A.lower.col[at(k)])];
  return values;
}

// u - the sum of l_im l_jm over the columns that entries first to last - 1, of row i, and row j share, ascending. A row
// that is much longer is searched: a hub's, where all others are short, would be gone through for each of them.
double reduced(const sparse_rows& pattern, const std::vector<double>& l, std::int64_t first, std::int64_t last,
               std::int64_t j, double u) {
  std::int64_t other = pattern.row_ptr[at(j)];
  const std::int64_t other_end = pattern.row_ptr[at(j) + 1];
  const bool search = last - first > 16 * (other_end - other);
  while (first < last && other < other_end) {
    const std::int32_t b = pattern.col[at(other)];
    if (search)
      first =
          std::lower_bound(pattern.col.begin() + first, pattern.col.begin() + last, b) - pattern.col.begin();
    if (first == last) break;
    const std::int32_t a = pattern.col[at(first)];
    if (a == b) u -= l[at(first)] * l[at(other)];
    first += a <= b;
    other += b <= a;
  }
  return u;
}

// Row i of the factor from the rows before it: first u_ij = a_ij - sum_m u_im l_jm, then l_ij = u_ij / d_j.
// False where the pivot is too small or NaN.
bool factor_row(const sparse_rows& pattern, std::vector<double>& l, std::vector<double>& d, std::int64_t i) {
  const std::int64_t begin = pattern.row_ptr[at(i)], end = pattern.row_ptr[at(i) + 1];
  for (std::int64_t k = begin; k < end; ++k)
    l[at(k)] = reduced(pattern, l, begin, k, pattern.col[at(k)], l[at(k)]);
  for (std::int64_t k = begin; k < end; ++k) {
    const double u = l[at(k)];
    l[at(k)] = u / d[at(pattern.col[at(k)])];
    d[at(i)] -= u * l[at(k)];
  }
  return d[at(i)] > least_pivot;
}

bool factor_rows(const sparse_rows& pattern, const level_sets& levels, std::vector<double>& l,
                 std::vector<double>& d, int threads) {
  const cancellation_probe stop;
  for (std::int64_t s = 0; s < levels.count(); ++s) {
    stop.check();
    const std::int64_t first = levels.start[at(s)], last = levels.start[at(s) + 1];
    const int team = last - first < 512 ? 1 : threads;
    bool good = true;
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(static) reduction(&& : good)
    for (std::int64_t k = first; k < last; ++k) good = factor_row(pattern, l, d, levels.rows[at(k)]) && good;
    if (!good) return false;
  }
  return true;
}

unit_factor symmetric_factor(sparse_rows lower, std::vector<double> pivots) {
  sparse_rows upper = transposed(lower);
  return {std::move(lower), std::move(pivots), std::move(upper)};
}

}  // namespace

shifted_factor incomplete_cholesky(lower_part A, const level_sets& levels, double shift, int threads) {
  std::vector<double> scale(A.diagonal.size());
  std::transform(A.diagonal.begin(), A.diagonal.end(), scale.begin(),
                 [](double d) { return 1 / std::sqrt(d); });
  const std::vector<double> values = scaled_values(A, scale);
  std::vector<double> l, d;
  for (;; shift = std::max(2 * shift, first_shift)) {
    if (!(shift <= last_shift))
      throw value_error("ic0: no shift of the diagonal makes the factorisation succeed",
                        "the matrix is far from positive definite");
    l = values;
    d.assign(A.diagonal.size(), 1 + shift);
    if (factor_rows(A.lower, levels, l, d, threads)) break;
  }
  // Back from the scaled matrix: L becomes S^-1 L S, D becomes S^-1 D S^-1.
  for (std::int64_t i = 0; i < A.lower.rows(); ++i) {
    for (std::int64_t k = A.lower.row_ptr[at(i)]; k < A.lower.row_ptr[at(i) + 1]; ++k)
      A.lower.val[at(k)] = l[at(k)] * (scale[at(A.lower.col[at(k)])] / scale[at(i)]);
    d[at(i)] *= A.diagonal[at(i)];
  }
  return {symmetric_factor(std::move(A.lower), std::move(d)), shift};
}

unit_factor symmetric_sor(lower_part A, double omega) {
  for (std::size_t k = 0; k < A.lower.val.size(); ++k) A.lower.val[k] *= omega / A.diagonal[at(A.lower.col[k])];
  for (double& d : A.diagonal) d /= omega * (2 - omega);
  return symmetric_factor(std::move(A.lower), std::move(A.diagonal));
}

}  // namespace vouch
