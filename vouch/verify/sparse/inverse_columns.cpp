#include <vouch/verify/sparse/inverse_columns.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/interval/rounding.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t width = inverse_columns::at_once;

using triangle = lu_factors<double>::triangle;

VOUCH_SIMD_INLINE bool all_zero(const double* row) {
  double sum = 0;
  for (std::int64_t l = 0; l < width; ++l) sum += std::fabs(row[l]);
  return sum == 0;
}

VOUCH_SIMD_INLINE void eliminate(const triangle& t, std::size_t k, double* y) {
  lanes<double> factor;
  load<double>(factor, y + static_cast<std::int64_t>(k) * width);
  for (std::int64_t e = t.start[k]; e < t.start[k + 1]; ++e) {
    double* const row = y + std::int64_t{t.row[static_cast<std::size_t>(e)]} * width;
    lanes<double> v;
    load<double>(v, row);
    v -= factor * t.value[static_cast<std::size_t>(e)];
    store<double>(row, v);
  }
}

// y := (L U)^-1 y, rows of 8, the first `first` of which are zero.
VOUCH_SIMD_CLONES void solve_block(const lu_factors<double>& f, std::int64_t first, double* y) {
  for (std::int64_t k = first; k < f.rows; ++k)
    if (!all_zero(y + k * width)) eliminate(f.lower, static_cast<std::size_t>(k), y);
  for (std::int64_t k = f.rows; k-- > 0;) {
    double* const row = y + k * width;
    if (all_zero(row)) continue;
    for (std::int64_t l = 0; l < width; ++l) row[l] /= f.pivots[static_cast<std::size_t>(k)];
    eliminate(f.upper, static_cast<std::size_t>(k), y);
  }
}

// sums := for each of 8 columns the sum over all rows of d_i (|(A y)_i - e_i / d_i| + slack_i (|A| |y|)_i),
// where the row unit[l] has the entry of e of column l; everything rounded to nearest.
VOUCH_SIMD_CLONES void residual_block(const csr_view<const double>& A, const double* y, const double* scale,
                                      const double* slack, const std::int32_t* unit, std::int64_t units,
                                      double* sums) {
  lanes<double> total_of = {};
  for (std::int64_t i = 0; i < A.rows; ++i) {
    lanes<double> difference = {}, size = {};
    for (std::int64_t l = 0; l < units; ++l)
      if (unit[l] == i) difference[l] = size[l] = 1 / scale[i];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      lanes<double> v;
      load<double>(v, y + std::int64_t{A.col[k]} * width);
      const lanes<double> product = v * A.val[k];
      difference -= product;
      size += product < 0.0 ? -product : product;
    }
    difference = difference < 0.0 ? -difference : difference;
    total_of += scale[i] * (difference + slack[i] * size);
  }
  store<double>(sums, total_of);
}

}  // namespace

// Row i with K entries: difference has K products and sums, off from the exact one by at most (K + 2) u times
// the exact sum of magnitudes, which is at most size / (1 - (K + 2) u) plus what underflows; slack is above the
// product of both factors.
inverse_columns::inverse_columns(csr_view<const double> A, const lu_factors<double>& factors,
                                 const uncertainty& within, const powers_of_two& scaled_by)
    : A_(A), factors_(factors) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto power = [](int exponent) { return std::ldexp(1.0, std::clamp(exponent, -1000, 1000)); };
  for (const int exponent : scaled_by.rows) left_.push_back(power(exponent));
  for (const int exponent : scaled_by.columns) right_.push_back(power(exponent));
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const double terms = static_cast<double>(A.row_ptr[i + 1] - A.row_ptr[i] + 2);
    slack_.push_back(add_up(mul_up(within.matrix, add_up(1.0, terms * 0x1p-52)), terms * 0x1p-52));
  }
  y_.resize(n * width);
  placed_.resize(n * width);
}

void inverse_columns::solve(std::int64_t first) {
  first_ = first;
  std::fill(placed_.begin(), placed_.end(), 0.0);
  for (std::int64_t l = 0; l < width && first + l < A_.rows; ++l)
    placed_[static_cast<std::size_t>((first + l) * width + l)] = 1;
  solve_block(factors_, first, placed_.data());
  for (std::int64_t k = 0; k < A_.rows; ++k) {
    const double* const row = placed_.data() + k * width;
    std::copy(row, row + width, y_.data() + factors_.column_order[static_cast<std::size_t>(k)] * width);
  }
}

// The sum over n rows and the four operations before it round non-negative numbers: the exact one is at most
// 1 + 2 (n + 6) u of it, and 2^-500 more for products that underflow: each loses 2^-1074 times a scale of at
// most 2^500, as sparse_inverse checks.
double inverse_columns::largest_residual() const {
  double sums[width];
  const std::int64_t units = std::min(width, A_.rows - first_);
  residual_block(A_, y_.data(), factors_.scale.data(), slack_.data(), factors_.row_order.data() + first_, units,
                 sums);
  const double factor = add_up(1.0, static_cast<double>(A_.rows + 6) * 0x1p-52);
  double most = 0;
  for (std::int64_t l = 0; l < units; ++l) {
    const double sum = add_up(mul_up(sums[l], factor), 0x1p-500);
    if (!(sum <= most)) most = sum;  // NaN as well, which then stays
    if (most != most) break;
  }
  return most;
}

double inverse_columns::collect(std::vector<double>& largest) const {
  double sums[width] = {};
  for (std::size_t i = 0; i < largest.size(); ++i)
    for (std::size_t l = 0; l < width; ++l) {
      const double size = std::fabs(y_[i * width + l]);
      largest[i] = std::max(largest[i], size);
      sums[l] += size * right_[i];
    }
  double most = 0;
  for (std::int64_t l = 0; l < width && first_ + l < A_.rows; ++l) {
    const std::int32_t row = factors_.row_order[static_cast<std::size_t>(first_ + l)];
    most = std::max(
        most, sums[l] * factors_.scale[static_cast<std::size_t>(row)] * left_[static_cast<std::size_t>(row)]);
  }
  return most;
}

}  // namespace vouch::detail
