#include <vouch/verify/envelope_cholesky.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/interval/rounding.hpp>

namespace vouch::detail {
namespace {

// The sum of a_k b_k: 8 lanes, twice.
VOUCH_SIMD_CLONES double inner_product(const double* a, const double* b, std::int64_t n) {
  constexpr int width = simd<double>::width;
  lanes<double> s0 = {}, s1 = {};
  std::int64_t k = 0;
  for (; k + 2 * width <= n; k += 2 * width) {
    lanes<double> a0, a1, b0, b1;
    load<double>(a0, a + k);
    load<double>(b0, b + k);
    load<double>(a1, a + k + width);
    load<double>(b1, b + k + width);
    s0 += a0 * b0;
    s1 += a1 * b1;
  }
  double sum = 0;
  for (; k < n; ++k) sum += a[k] * b[k];
  s0 += s1;
  return sum + total<double>(s0);
}

VOUCH_SIMD_CLONES void subtract_multiple(double factor, const double* a, double* x, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) x[k] -= factor * a[k];
}

}  // namespace

envelope::envelope(csr_view<const double> A) {
  std::int64_t entries = 0;
  start.push_back(0);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const bool left = A.row_ptr[i] < A.row_ptr[i + 1] && A.col[A.row_ptr[i]] < i;
    first.push_back(left ? A.col[A.row_ptr[i]] : i);
    entries += i - first.back() + 1;
    start.push_back(entries);
    longest_product = std::max(longest_product, i - first.back());
  }
}

envelope_cholesky::envelope_cholesky(csr_view<const double> A, const envelope& shape, double shift)
    : shape_(&shape), values_(static_cast<std::size_t>(shape.entries())) {
  const cancellation_probe stop;
  for (std::int64_t i = 0; i < A.rows && completed_; ++i) {
    stop.check();
    const auto at = static_cast<std::size_t>(i);
    // row[j] is entry (i, j)
    double* const row = values_.data() + (shape.start[at] - shape.first[at]);
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1] && A.col[k] <= i; ++k) row[A.col[k]] = A.val[k];
    row[i] = sub_down(row[i], shift);
    for (std::int64_t j = shape.first[at]; j < i; ++j) {
      const auto other = static_cast<std::size_t>(j);
      const double* const above = values_.data() + (shape.start[other] - shape.first[other]);
      const std::int64_t from = std::max(shape.first[at], shape.first[other]);
      row[j] = (row[j] - inner_product(row + from, above + from, j - from)) / above[j];
    }
    const std::int64_t from = shape.first[at];
    const double pivot = row[i] - inner_product(row + from, row + from, i - from);
    completed_ = pivot > 0 && std::isfinite(pivot);
    row[i] = std::sqrt(pivot);
  }
}

void envelope_cholesky::solve(std::vector<double>& x) const {
  const std::int64_t n = shape_->rows();
  const auto row_of = [this](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return values_.data() + (shape_->start[at] - shape_->first[at]);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = shape_->first[static_cast<std::size_t>(i)];
    double& x_i = x[static_cast<std::size_t>(i)];
    x_i = (x_i - inner_product(row_of(i) + from, x.data() + from, i - from)) / row_of(i)[i];
  }
  for (std::int64_t i = n; i-- > 0;) {
    const std::int64_t from = shape_->first[static_cast<std::size_t>(i)];
    const double x_i = x[static_cast<std::size_t>(i)] /= row_of(i)[i];
    subtract_multiple(x_i, row_of(i) + from, x.data() + from, i - from);
  }
}

}  // namespace vouch::detail
