// vouch/sparse/structure_row.hpp -- what structure() finds in a row, and how rows are joined; private, CPU and GPU.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/structure.hpp>

namespace vouch::detail {

inline constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t no_entry = -1;

/// What some rows say. Joining them in any order gives the same: counts, least and largest numbers, none a NaN.
struct row_scan {
  bool positive = true, negative = true, sums_zero = true, dominant = true, strictly = true;
  std::int64_t first_zero = no_row, first_nonpositive = no_row, weakest = no_row, strict_rows = 0;
  double ratio = std::numeric_limits<double>::infinity();
  double least = std::numeric_limits<double>::infinity(), largest = 0;  // |a_ii|
  std::int64_t lower = 0, upper = 0, shortest = no_row, longest = 0, empty = 0;

  VOUCH_HOST_DEVICE void note_ratio(double r, std::int64_t row) {
    if (r < ratio || (r == ratio && row < weakest && r < HUGE_VAL)) {
      ratio = r;
      weakest = row;
    }
  }
  VOUCH_HOST_DEVICE void note_diagonal(double least_size, double largest_size) {
    if (least_size < least) least = least_size;
    if (largest_size > largest) largest = largest_size;
  }
  VOUCH_HOST_DEVICE void note_width(std::int64_t below, std::int64_t above) {
    if (below > lower) lower = below;
    if (above > upper) upper = above;
  }
  VOUCH_HOST_DEVICE void note_length(std::int64_t least_entries, std::int64_t most_entries) {
    if (least_entries < shortest) shortest = least_entries;
    if (most_entries > longest) longest = most_entries;
  }
  VOUCH_HOST_DEVICE void merge(const row_scan& other) {
    positive = positive && other.positive;
    negative = negative && other.negative;
    sums_zero = sums_zero && other.sums_zero;
    dominant = dominant && other.dominant;
    strictly = strictly && other.strictly;
    if (other.first_zero < first_zero) first_zero = other.first_zero;
    if (other.first_nonpositive < first_nonpositive) first_nonpositive = other.first_nonpositive;
    note_ratio(other.ratio, other.weakest);
    strict_rows += other.strict_rows;
    note_diagonal(other.least, other.largest);
    note_width(other.lower, other.upper);
    note_length(other.shortest, other.longest);
    empty += other.empty;
  }
};

/// The sums of a row, in the order of its entries.
struct row_sums {
  double sum = 0, magnitude = 0, diagonal = 0;  // the first two without the diagonal entry

  VOUCH_HOST_DEVICE void add(double value, bool on_diagonal) {
    if (on_diagonal) {
      diagonal = value;
    } else {
      sum += value;
      magnitude += std::fabs(value);
    }
  }
};

template <class T>
VOUCH_HOST_DEVICE void scan_diagonal(row_scan& scan, std::int64_t row, double diagonal, double others) {
  constexpr double slack = 8 * double{std::numeric_limits<T>::epsilon()};
  if (!(diagonal > 0)) {
    scan.positive = false;
    if (row < scan.first_nonpositive) scan.first_nonpositive = row;
  }
  if (!(diagonal < 0)) scan.negative = false;
  if (diagonal == 0 && row < scan.first_zero) scan.first_zero = row;
  scan.note_diagonal(std::fabs(diagonal), std::fabs(diagonal));
  const double ratio = diagonal == 0 ? 0 : std::fabs(diagonal) / others;
  scan.note_ratio(ratio, row);
  const bool strict = ratio > 1 + slack;
  if (strict) ++scan.strict_rows;
  scan.strictly = scan.strictly && strict;
  scan.dominant = scan.dominant && ratio >= 1 - slack;
}

/// Takes a row of a matrix with entries of type T by its sums; square says whether it has a diagonal.
template <class T>
VOUCH_HOST_DEVICE void scan_sums(row_scan& scan, std::int64_t row, const row_sums& of, bool square) {
  constexpr double slack = 16 * double{std::numeric_limits<T>::epsilon()};
  if (!(std::fabs(of.sum + of.diagonal) <= slack * (of.magnitude + std::fabs(of.diagonal))))
    scan.sums_zero = false;
  if (square) scan_diagonal<T>(scan, row, of.diagonal, of.magnitude);
}

/// Takes the length and the width of a row.
template <class T>
VOUCH_HOST_DEVICE void scan_extent(row_scan& scan, csr_view<const T> A, std::int64_t row) {
  const std::int64_t first = A.row_ptr[row], last = A.row_ptr[row + 1];
  scan.note_length(last - first, last - first);
  if (first == last)
    ++scan.empty;
  else
    scan.note_width(row - A.col[first], A.col[last - 1] - row);
}

/// Whether rows first to first + size - 1 hold the same columns, in aligned groups of size.
template <class T>
VOUCH_HOST_DEVICE bool is_block_row(csr_view<const T> A, std::int64_t first, int size) {
  const std::int32_t* columns = A.col + A.row_ptr[first];
  const std::int64_t length = A.row_ptr[first + 1] - A.row_ptr[first];
  if (length % size != 0) return false;
  for (std::int64_t k = 0; k < length; k += size)
    if (columns[k] % size != 0 || columns[k + size - 1] != columns[k] + size - 1) return false;
  for (std::int64_t i = first + 1; i < first + size; ++i) {
    if (A.row_ptr[i + 1] - A.row_ptr[i] != length) return false;
    const std::int32_t* others = A.col + A.row_ptr[i];
    for (std::int64_t k = 0; k < length; ++k)
      if (others[k] != columns[k]) return false;
  }
  return true;
}

/// Whether the columns of a row are those of the row above, one to the right: it has no new diagonal then.
template <class T>
bool continues_row_above(csr_view<const T> A, std::int64_t row) {
  if (row == 0) return false;
  const std::int64_t above = A.row_ptr[row - 1], first = A.row_ptr[row];
  const std::int64_t size = A.row_ptr[row + 1] - first;
  if (first - above != size) return false;
  bool same = true;
  for (std::int64_t k = 0; k < size; ++k) same &= A.col[first + k] == A.col[above + k] + 1;
  return same;
}

/// Where column col stands in a row, or no_entry.
template <class T>
VOUCH_HOST_DEVICE std::int64_t find_entry(csr_view<const T> A, std::int64_t row, std::int64_t col) {
  constexpr std::int64_t short_row = 16;
  const std::int64_t first = A.row_ptr[row], last = A.row_ptr[row + 1];
  std::int64_t place = first;
  if (last - first <= short_row) {
    for (std::int64_t k = first; k < last; ++k) place += A.col[k] < col;
  } else {
    for (std::int64_t count = last - first; count > 0;) {
      const std::int64_t half = count / 2;
      const bool behind = A.col[place + half] < col;
      place += behind ? half + 1 : 0;
      count = behind ? count - half - 1 : half;
    }
  }
  return place < last && A.col[place] == col ? place : no_entry;
}

/// What structure() gives of a matrix on a GPU. Waits for it.
template <real T>
structure_facts structure_cuda(const device& dev, csr_view<const T> A);

/// The facts that rows make together; `diagonals` are the distinct ones, at most diagonals_cap + 1.
structure_facts facts_of(std::int64_t rows, std::int64_t cols, std::int64_t nonzeros, const row_scan& scan,
                         std::int64_t diagonals);

}  // namespace vouch::detail
