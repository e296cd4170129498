#include <vouch/sparse/lu_factors.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/inverse_norm.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A diagonal entry of this part of the largest is taken as the pivot where the order is made for that.
constexpr double good_enough = 0.1;

template <real T>
std::vector<T> row_scale(csr_view<const T> A) {
  std::vector<T> scale(at(A.rows), T{1});
  for (std::int64_t i = 0; i < A.rows; ++i) {
    T most = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) most = std::max(most, std::fabs(A.val[k]));
    constexpr int exponents = sizeof(T) == 4 ? 120 : 1000;  // those of numbers with an inverse
    if (most > 0 && std::isfinite(most))
      scale[at(i)] = std::ldexp(T{1}, std::clamp(-std::ilogb(most), -exponents, exponents));
  }
  return scale;
}

// Whether at least half of the entries off the diagonal have a partner and no diagonal entry is missing.
template <real T>
bool nearly_symmetric(csr_view<const T> A, csr_view<const T> At) {
  std::int64_t off = 0, paired = 0, diagonal = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::int32_t* other = At.col + At.row_ptr[i];
    const std::int32_t* const end = At.col + At.row_ptr[i + 1];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      if (A.col[k] == i) {
        diagonal += A.val[k] != 0 ? 1 : 0;
        continue;
      }
      ++off;
      while (other < end && *other < A.col[k]) ++other;
      paired += other < end && *other == A.col[k] ? 1 : 0;
    }
  }
  return diagonal == A.rows && 2 * paired >= off;
}

// Left-looking elimination, column by column; rows keep their old numbers until the end.
template <real T>
class elimination {
 public:
  elimination(csr_view<const T> columns, bool on_diagonal, std::int64_t most_entries, lu_factors<T>& factors)
      : A_(columns),
        on_diagonal_(on_diagonal),
        most_entries_(most_entries),
        f_(factors),
        place_(at(A_.rows), -1),
        x_(at(A_.rows)),
        seen_(at(A_.rows), -1),
        searched_to_(at(A_.rows)) {}

  void run() {
    for (std::int64_t k = 0; k < A_.rows && f_.failed == 0 && !f_.too_large; ++k) {
      stop_.check();
      const std::int64_t j = f_.column_order[at(k)];
      find_reached(k, j);
      eliminate();
      take_pivot(k, j);
      if (f_.failed == 0) prune(k);
      f_.too_large = f_.entries() > most_entries_;
    }
    for (std::int32_t& row : f_.lower.row) row = place_[at(row)];
  }

 private:
  // The rows where column k of L and U has entries: pivots before those that depend on them in reverse of
  // pivots_, the others in rows_.
  void find_reached(std::int64_t k, std::int64_t j) {
    pivots_.clear();
    rows_.clear();
    for (std::int64_t e = A_.row_ptr[j]; e < A_.row_ptr[j + 1]; ++e) search(A_.col[e], k);
    for (std::int64_t e = A_.row_ptr[j]; e < A_.row_ptr[j + 1]; ++e)
      x_[at(A_.col[e])] = A_.val[e] * f_.scale[at(A_.col[e])];
  }

  // Depth first from a row along the columns of L.
  void search(std::int32_t from, std::int64_t k) {
    if (!enter(from, k)) return;
    while (!path_.empty()) {
      auto& [column, next] = path_.back();
      if (next == searched_to_[at(column)]) {
        pivots_.push_back(column);
        path_.pop_back();
      } else {
        enter(f_.lower.row[at(next++)], k);
      }
    }
  }

  // True where the row is new and has a column to follow.
  bool enter(std::int32_t row, std::int64_t k) {
    if (seen_[at(row)] == k) return false;
    seen_[at(row)] = k;
    const std::int32_t column = place_[at(row)];
    if (column < 0) {
      rows_.push_back(row);
      return false;
    }
    path_.emplace_back(column, f_.lower.start[at(column)]);
    return true;
  }

  void eliminate() {
    for (auto p = pivots_.rbegin(); p != pivots_.rend(); ++p) {
      T& entry = x_[at(f_.row_order[at(*p)])];
      const T u = std::exchange(entry, T{});
      if (u == 0) continue;
      f_.upper.row.push_back(*p);
      f_.upper.value.push_back(u);
      for (std::int64_t e = f_.lower.start[at(*p)]; e < f_.lower.start[at(*p) + 1]; ++e)
        x_[at(f_.lower.row[at(e)])] -= u * f_.lower.value[at(e)];
    }
    f_.upper.start.push_back(std::ssize(f_.upper.row));
  }

  void take_pivot(std::int64_t k, std::int64_t j) {
    std::int32_t pivot = -1;
    for (const std::int32_t row : rows_)
      if (pivot < 0 || std::fabs(x_[at(row)]) > std::fabs(x_[at(pivot)])) pivot = row;
    if (pivot < 0 || !(std::fabs(x_[at(pivot)]) > 0)) {
      f_.failed = k + 1;
      return;
    }
    if (on_diagonal_ && place_[at(j)] < 0 && seen_[at(j)] == k &&
        std::fabs(x_[at(j)]) >= good_enough * std::fabs(x_[at(pivot)]))
      pivot = static_cast<std::int32_t>(j);
    const T value = std::exchange(x_[at(pivot)], T{});
    place_[at(pivot)] = static_cast<std::int32_t>(k);
    f_.row_order.push_back(pivot);
    f_.pivots.push_back(value);
    for (const std::int32_t row : rows_) {
      if (row == pivot) continue;
      // Zeros by cancellation stay: prune() stands on the pattern.
      f_.lower.row.push_back(row);
      f_.lower.value.push_back(std::exchange(x_[at(row)], T{}) / value);
    }
    f_.lower.start.push_back(std::ssize(f_.lower.row));
    searched_to_[at(k)] = f_.lower.start.back();
  }

  // A column of L that meets the new pivot row and whose own row of U meets the new column is covered by that
  // column from here on: searches need to follow it to pivots alone.
  void prune(std::int64_t k) {
    const std::int32_t pivot = f_.row_order[at(k)];
    for (std::int64_t e = f_.upper.start[at(k)]; e < f_.upper.start[at(k) + 1]; ++e) {
      const auto column = at(f_.upper.row[at(e)]);
      const std::int64_t begin = f_.lower.start[column], end = f_.lower.start[column + 1];
      if (searched_to_[column] != end) continue;
      const auto first = f_.lower.row.begin() + begin, last = f_.lower.row.begin() + end;
      if (std::find(first, last, pivot) == last) continue;
      std::int64_t kept = begin;
      for (std::int64_t l = begin; l < end; ++l)
        if (place_[at(f_.lower.row[at(l)])] >= 0) {
          std::swap(f_.lower.row[at(l)], f_.lower.row[at(kept)]);
          std::swap(f_.lower.value[at(l)], f_.lower.value[at(kept)]);
          ++kept;
        }
      searched_to_[column] = kept;
    }
  }

  cancellation_probe stop_;
  csr_view<const T> A_;  // row j has column j
  bool on_diagonal_;
  std::int64_t most_entries_;
  lu_factors<T>& f_;
  std::vector<std::int32_t> place_;  // of a row among the pivots, or -1
  std::vector<T> x_;                 // the column at work; zero between columns
  std::vector<std::int64_t> seen_;   // the last column that a row was reached from
  std::vector<std::int64_t> searched_to_;
  std::vector<std::int32_t> pivots_, rows_;
  std::vector<std::pair<std::int32_t, std::int64_t>> path_;
};

}  // namespace

template <real T>
lu_factors<T> factorise(const device& dev, csr_view<const T> A, std::int64_t most_entries) {
  const ieee_environment here;
  if (dev.is_cuda()) throw value_error("factorise: runs on the CPU, the device is a GPU");
  const valid_csr valid("factorise", dev, A);
  if (A.rows != A.cols) throw shape_error("factorise: the matrix is not square");
  const csr<T> columns = transpose<T>(dev, A);
  const bool on_diagonal = nearly_symmetric<T>(A, columns.all());
  const array<std::int32_t> order = on_diagonal ? minimum_degree<T>(dev, A) : minimum_column_degree<T>(dev, A);
  lu_factors<T> factors;
  factors.rows = A.rows;
  factors.column_order.assign(order.begin(), order.end());
  factors.scale = row_scale(A);
  elimination<T>(columns.all(), on_diagonal, most_entries, factors).run();
  if (factors.failed == 0 && !factors.too_large)
    factors.inverse_norm = estimate_inverse_norm<T>(
        A.rows, [&](T* x) { factors.solve(x); }, [&](T* x) { factors.solve_transposed(x); });
  return factors;
}

template <real T>
void lu_factors<T>::solve(T* x) const {
  const ieee_environment here;
  std::vector<T> y(at(rows));
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::int32_t i = row_order[k];
    y[k] = scale[at(i)] * x[i];
  }
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (y[k] == 0) continue;
    for (std::int64_t e = lower.start[k]; e < lower.start[k + 1]; ++e)
      y[at(lower.row[at(e)])] -= y[k] * lower.value[at(e)];
  }
  for (std::size_t k = y.size(); k-- > 0;) {
    if (y[k] == 0) continue;
    y[k] /= pivots[k];
    for (std::int64_t e = upper.start[k]; e < upper.start[k + 1]; ++e)
      y[at(upper.row[at(e)])] -= y[k] * upper.value[at(e)];
  }
  for (std::size_t k = 0; k < y.size(); ++k) x[column_order[k]] = y[k];
}

// A^T is Q U^T L^T P S^-1.
template <real T>
void lu_factors<T>::solve_transposed(T* x) const {
  const ieee_environment here;
  std::vector<T> y(at(rows));
  for (std::size_t k = 0; k < y.size(); ++k) {
    T sum = x[column_order[k]];
    for (std::int64_t e = upper.start[k]; e < upper.start[k + 1]; ++e)
      sum -= upper.value[at(e)] * y[at(upper.row[at(e)])];
    y[k] = sum / pivots[k];
  }
  for (std::size_t k = y.size(); k-- > 0;)
    for (std::int64_t e = lower.start[k]; e < lower.start[k + 1]; ++e)
      y[k] -= lower.value[at(e)] * y[at(lower.row[at(e)])];
  for (std::size_t k = 0; k < y.size(); ++k) x[row_order[k]] = scale[at(row_order[k])] * y[k];
}

#define VOUCH_INSTANTIATE(T)     \
  template struct lu_factors<T>; \
  template VOUCH_PUBLIC lu_factors<T> factorise(const device&, csr_view<const T>, std::int64_t);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
