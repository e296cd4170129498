#include <vouch/solve/precond/incomplete_lu.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/sparse/matching.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The largest entry of every row and column in magnitude.
struct largest_entries {
  std::vector<double> of_row, of_column;
};

template <real T>
largest_entries find_largest(csr_view<const T> A) {
  largest_entries most{std::vector<double>(at(A.rows)), std::vector<double>(at(A.rows))};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const double size = std::fabs(static_cast<double>(A.val[k]));
      most.of_row[at(i)] = std::max(most.of_row[at(i)], size);
      most.of_column[at(A.col[k])] = std::max(most.of_column[at(A.col[k])], size);
    }
  return most;
}

[[noreturn]] void throw_singular(const std::string& who, const std::string& why) {
  throw value_error(who + ": the matrix is singular: " + why, "rows and columns count from 1");
}

void require_no_zeros(const largest_entries& most, const std::string& who) {
  for (std::size_t i = 0; i < most.of_row.size(); ++i) {
    if (most.of_row[i] == 0) throw_singular(who, "row " + std::to_string(i + 1) + " is zero");
    if (most.of_column[i] == 0) throw_singular(who, "column " + std::to_string(i + 1) + " is zero");
  }
}

template <real T>
bool has_weak_diagonal(csr_view<const T> A, const largest_entries& most) {
  constexpr double weak = 1e-3;
  constexpr std::int64_t share = 100;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const double d = std::fabs(static_cast<double>(diagonal_entry(A, i)));
    if (d == 0) return true;
    count += d < weak * std::min(most.of_row[at(i)], most.of_column[at(i)]) ? 1 : 0;
  }
  return share * count > A.rows;
}

// Exponents of scales that bring the largest entry of every row, then of every column, near 1.
template <real T>
void equilibrate(csr_view<const T> A, const largest_entries& most, scaled_rows& B) {
  B.row_exponent.resize(at(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i) B.row_exponent[at(i)] = -std::ilogb(most.of_row[at(i)]);
  std::vector<double> scaled(at(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      scaled[at(A.col[k])] = std::max(
          scaled[at(A.col[k])], std::ldexp(std::fabs(static_cast<double>(A.val[k])), B.row_exponent[at(i)]));
  B.column_exponent.resize(at(A.rows));
  std::transform(scaled.begin(), scaled.end(), B.column_exponent.begin(),
                 [](double most_of_column) { return most_of_column > 0 ? -std::ilogb(most_of_column) : 0; });
}

template <real T>
void match_rows(csr_view<const T> A, int threads, const std::string& who, scaled_rows& B) {
  const product_matching m = maximum_product_matching(device::cpu(threads), A, matching_scales::powers_of_two);
  if (m.rank < A.rows)
    throw_singular(who,
                   "whatever its values are, as the entries of row " + std::to_string(m.deficient_row + 1) +
                       " and of rows that share their columns stand in fewer columns than rows (rank at most " +
                       std::to_string(m.rank) + ")");
  const auto exponent = [](double power) { return std::ilogb(power); };
  B.sources = m.row_of.to_vector();
  for (const std::int32_t row : B.sources) B.row_exponent.push_back(exponent(m.row_scale[row]));
  B.column_exponent.resize(at(A.rows));
  std::transform(m.column_scale.begin(), m.column_scale.end(), B.column_exponent.begin(), exponent);
  for (std::size_t k = 0; k < B.sources.size(); ++k) B.matched = B.matched || at(B.sources[k]) != k;
  if (!B.matched) B.sources.clear();
}

template <real T>
void take_rows(csr_view<const T> A, int threads, scaled_rows& B) {
  const auto source = [&](std::int64_t k) { return B.sources.empty() ? k : std::int64_t{B.sources[at(k)]}; };
  B.rows.row_ptr.assign(at(A.rows) + 1, 0);
  for (std::int64_t k = 0; k < A.rows; ++k)
    B.rows.row_ptr[at(k) + 1] = B.rows.row_ptr[at(k)] + A.row_ptr[source(k) + 1] - A.row_ptr[source(k)];
  B.rows.col.resize(at(A.nonzeros));
  B.rows.val.resize(at(A.nonzeros));
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros)) schedule(static)
  for (std::int64_t k = 0; k < A.rows; ++k) {
    std::int64_t to = B.rows.row_ptr[at(k)];
    for (std::int64_t m = A.row_ptr[source(k)]; m < A.row_ptr[source(k) + 1]; ++m, ++to) {
      B.rows.col[at(to)] = A.col[m];
      B.rows.val[at(to)] =
          std::ldexp(static_cast<double>(A.val[m]), B.row_exponent[at(k)] + B.column_exponent[at(A.col[m])]);
    }
  }
}

// ||(L D U)^-1 ones||, the largest element; NaN or infinity where that overflows.
double size_of_inverse(const unit_factor& F) {
  std::vector<double> x(F.pivots.size(), 1.0);
  const auto subtract = [&](const sparse_rows& T, std::int64_t i) {
    for (std::int64_t k = T.row_ptr[at(i)]; k < T.row_ptr[at(i) + 1]; ++k)
      x[at(i)] -= T.val[at(k)] * x[at(T.col[at(k)])];
  };
  const std::int64_t n = F.lower.rows();
  for (std::int64_t i = 0; i < n; ++i) subtract(F.lower, i);
  double most = 0;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    x[at(i)] /= F.pivots[at(i)];
    subtract(F.upper, i);
    if (!std::isfinite(x[at(i)])) return x[at(i)];
    most = std::max(most, std::fabs(x[at(i)]));
  }
  return most;
}

}  // namespace

template <real T>
scaled_rows scale_and_match(csr_view<const T> A, matching_use use, int threads, const std::string& who) {
  require_finite_entries(A, threads, who);
  const largest_entries most = find_largest(A);
  require_no_zeros(most, who);
  scaled_rows B;
  if (use == matching_use::always || has_weak_diagonal(A, most))
    match_rows(A, threads, who, B);
  else
    equilibrate(A, most, B);
  take_rows(A, threads, B);
  return B;
}

void reorder(scaled_rows& B, elimination order) {
  const std::vector<std::int32_t>& rows = order.order;
  std::vector<std::int32_t> place(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) place[at(rows[k])] = static_cast<std::int32_t>(k);
  const sparse_rows moved = renumbered(B.rows, rows, place, 1);
  B.rows = transposed(transposed(moved));  // columns ascend again
  const auto pick = [&](auto& all) {
    auto picked = all;
    for (std::size_t k = 0; k < rows.size(); ++k) picked[k] = all[at(rows[k])];
    all = std::move(picked);
  };
  pick(B.row_exponent);
  pick(B.column_exponent);
  if (!B.sources.empty()) pick(B.sources);
  B.order = std::move(order);
}

sparse_rows symmetric_pattern(const sparse_rows& B) {
  const sparse_rows other = transposed(B);
  sparse_rows sum;
  for (std::int64_t i = 0; i < B.rows(); ++i) {
    std::set_union(B.col.begin() + B.row_ptr[at(i)], B.col.begin() + B.row_ptr[at(i) + 1],
                   other.col.begin() + other.row_ptr[at(i)], other.col.begin() + other.row_ptr[at(i) + 1],
                   std::back_inserter(sum.col));
    sum.row_ptr.push_back(std::ssize(sum.col));
  }
  sum.val.assign(sum.col.size(), 1.0);
  return sum;
}

void reorder_for_bandwidth(scaled_rows& B) {
  const array<std::int32_t> order = order_by_symmetric_pattern(
      B.rows, [](csr_view<const double> sum) { return reverse_cuthill_mckee(device::cpu(1), sum); });
  reorder(B, {order.to_vector(), 0});
}

template <real T>
bool has_imaginary_parts(const device& cpu, csr_view<const T> A) {
  if (!detail::holds_complex_numbers(cpu, A)) return false;
  for (std::int64_t i = 0; i < A.rows; i += 2)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] % 2 != 0 && A.val[k] != 0) return true;
  return false;
}

std::int64_t row_of_matrix(const scaled_rows& B, std::int64_t k) {
  if (!B.sources.empty()) return B.sources[at(k)] + 1;
  return (B.order.order.empty() ? k : B.order.order[at(k)]) + 1;
}

void throw_small_pivot(const std::string& who, const scaled_rows& B, std::int64_t k, double pivot) {
  const std::string size = pivot == 0              ? "zero"
                           : !std::isfinite(pivot) ? "not a number"
                                                   : string_printf("%.2g of the largest in its row", pivot);
  throw value_error(
      string_printf("%s: the pivot of row %lld is %s%s", who.c_str(),
                    static_cast<long long>(row_of_matrix(B, k)), size.c_str(),
                    B.matched ? ", though rows were matched" : ""),
      "a shift of the diagonal (ilu0:shift=0.01), ilut, or --method sparse-lu; rows count from 1");
}

factored_matrix unscaled(const std::string& who, scaled_rows B, unit_factor factor) {
  constexpr double most = 1e14;
  if (const double size = size_of_inverse(factor); !(size <= most))
    throw value_error(
        string_printf("%s: the factors are unstable: they make a vector of ones %.2g times as large",
                      who.c_str(), size),
        "another drop and fill of ilut, or --method sparse-lu");
  const auto scale = [](sparse_rows& rows, const std::vector<int>& of_row, const std::vector<int>& of_column,
                        int sign) {
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      for (std::int64_t k = rows.row_ptr[at(i)]; k < rows.row_ptr[at(i) + 1]; ++k)
        rows.val[at(k)] = std::ldexp(rows.val[at(k)], sign * (of_row[at(i)] - of_column[at(rows.col[at(k)])]));
  };
  // R P A Q C = L D U is P A Q = (R^-1 L R) (R^-1 D C^-1) (C U C^-1).
  scale(factor.lower, B.row_exponent, B.row_exponent, -1);
  scale(factor.upper, B.column_exponent, B.column_exponent, 1);
  for (std::size_t k = 0; k < factor.pivots.size(); ++k)
    factor.pivots[k] = std::ldexp(factor.pivots[k], -(B.row_exponent[k] + B.column_exponent[k]));
  factored_matrix F{std::move(B.order), std::move(B.sources), find_levels(factor.lower, factor.upper), {}};
  F.factor = std::move(factor);
  return F;
}

std::string with_remarks(const std::string& name, const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks)
    if (!remark.empty()) text += (text.empty() ? " (" : ", ") + remark;
  return text.empty() ? name : name + text + ")";
}

template bool has_imaginary_parts(const device&, csr_view<const float>);
template bool has_imaginary_parts(const device&, csr_view<const double>);
template scaled_rows scale_and_match(csr_view<const float>, matching_use, int, const std::string&);
template scaled_rows scale_and_match(csr_view<const double>, matching_use, int, const std::string&);

}  // namespace vouch
