#include <vouch/solve/krylov/weak_parts.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/sparse/coo.hpp>

namespace vouch {
namespace {

// Rows that stand for themselves are the first of their part.
std::int32_t first_of(std::vector<std::int32_t>& before, std::int32_t row) {
  auto at = static_cast<std::size_t>(row);
  while (before[at] != static_cast<std::int32_t>(at)) {
    before[at] = before[static_cast<std::size_t>(before[at])];
    at = static_cast<std::size_t>(before[at]);
  }
  return static_cast<std::int32_t>(at);
}

template <real T>
std::vector<std::int32_t> first_rows_of_parts(csr_view<const T> A) {
  const cancellation_probe stop;
  constexpr double large = 1e-2;
  std::vector<double> roots(static_cast<std::size_t>(A.rows));  // of the diagonal
  for (std::int64_t i = 0; i < A.rows; ++i)
    roots[static_cast<std::size_t>(i)] = std::sqrt(static_cast<double>(diagonal_entry<T>(A, i)));
  std::vector<std::int32_t> before(roots.size());
  std::iota(before.begin(), before.end(), 0);
  for (std::int32_t i = 0; i < A.rows; ++i) {
    if (i % 4096 == 0) stop.check();
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1] && A.col[k] < i; ++k) {
      const std::int32_t j = A.col[k];
      const double beside = roots[static_cast<std::size_t>(i)] * roots[static_cast<std::size_t>(j)];
      if (!(std::fabs(static_cast<double>(A.val[k])) >= large * beside)) continue;
      const std::int32_t a = first_of(before, i), b = first_of(before, j);
      before[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  }
  for (std::int32_t i = 0; i < A.rows; ++i) before[static_cast<std::size_t>(i)] = first_of(before, i);
  return before;
}

// What is summed within a part cancels: of its diagonal entry as much is kept as rounding leaves.
template <real T>
csr<double> sums_between(csr_view<const T> A, const std::vector<std::int32_t>& part, std::int64_t parts) {
  std::vector<std::int32_t> row, col;
  std::vector<double> val, within(static_cast<std::size_t>(parts)), magnitude(within.size());
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::int32_t p = part[static_cast<std::size_t>(i)];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int32_t q = part[static_cast<std::size_t>(A.col[k])];
      const auto value = static_cast<double>(A.val[k]);
      if (p == q) {
        within[static_cast<std::size_t>(p)] += value;
        magnitude[static_cast<std::size_t>(p)] += std::fabs(value);
        continue;
      }
      row.push_back(p);
      col.push_back(q);
      val.push_back(value);
    }
  }
  constexpr double rounding = std::numeric_limits<T>::epsilon();
  for (std::int32_t p = 0; p < parts; ++p) {
    const auto at = static_cast<std::size_t>(p);
    row.push_back(p);
    col.push_back(p);
    val.push_back(std::max(within[at], rounding * magnitude[at]));
  }
  const device cpu = device::cpu(1);
  return to_csr(cpu, {parts, parts, symmetry::general, array<std::int32_t>::from(cpu, row),
                      array<std::int32_t>::from(cpu, col), array<double>::from(cpu, val)});
}

}  // namespace

template <real T>
weak_parts<T>::weak_parts(csr_view<const T> A) {
  const ieee_environment here;
  const std::vector<std::int32_t> first = first_rows_of_parts(A);
  part_.resize(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto at = static_cast<std::size_t>(first[i]);
    if (at == i) rows_.push_back(0);
    part_[i] = at == i ? static_cast<std::int32_t>(rows_.size()) - 1 : part_[at];
    ++rows_[static_cast<std::size_t>(part_[i])];
  }
  whole_.rows = whole_.cols = static_cast<std::int64_t>(rows_.size());
  if (are_few()) whole_ = sums_between(A, part_, whole_.rows);
}

template <real T>
double weak_parts<T>::error_behind(const T* r) const {
  const ieee_environment here;
  const device cpu = device::cpu(1);
  auto sums = array<double>::zeros(cpu, whole_.rows), moved = array<double>::zeros(cpu, whole_.rows);
  for (std::size_t i = 0; i < part_.size(); ++i) sums[part_[i]] += static_cast<double>(r[i]);
  cg_options options;
  options.rtol = 1e-10;
  options.max_iterations = 200;
  options.matrix_checked = true;
  try {
    const auto M = make_jacobi<double>(cpu, whole_.all());
    if (!has_solution(cg<double>(cpu, whole_.all(), sums, moved, options, M.get()).status)) return 0;
  } catch (const value_error&) {  // sums, or inverses of them, overflow
    return 0;
  }
  double squares = 0;
  for (std::size_t p = 0; p < rows_.size(); ++p) {
    const double by = moved[static_cast<std::int64_t>(p)];
    squares += rows_[p] * by * by;
  }
  return std::sqrt(squares);
}

template class weak_parts<float>;
template class weak_parts<double>;

}  // namespace vouch
