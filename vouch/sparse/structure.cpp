#include <vouch/sparse/structure.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/structure_symmetry.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 4096;  // rows that a thread takes at a time
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// Offsets j - i met so far, ascending; more than the cap are not kept apart.
class offset_set {
 public:
  void insert(std::int64_t offset) {
    if (full_) return;
    const auto place = std::lower_bound(offsets_.begin(), offsets_.end(), offset);
    if (place != offsets_.end() && *place == offset) return;
    if (std::ssize(offsets_) == structure_facts::diagonals_cap) {
      full_ = true;
      return;
    }
    offsets_.insert(place, offset);
  }
  void insert(const offset_set& other) {
    full_ = full_ || other.full_;
    for (const std::int64_t offset : other.offsets_) insert(offset);
  }
  bool full() const { return full_; }
  std::int64_t size() const { return full_ ? structure_facts::diagonals_cap + 1 : std::ssize(offsets_); }

 private:
  std::vector<std::int64_t> offsets_;
  bool full_ = false;
};

// What one thread finds in its rows; merging in any order gives the same.
struct row_scan {
  bool positive = true, negative = true, sums_zero = true, dominant = true, strictly = true;
  std::int64_t first_zero = never, first_nonpositive = never, weakest = never, strict_rows = 0;
  double ratio = std::numeric_limits<double>::infinity();
  double least = std::numeric_limits<double>::infinity(), largest = 0;  // |a_ii|
  std::int64_t lower = 0, upper = 0, shortest = never, longest = 0, empty = 0;
  offset_set offsets;

  void note_ratio(double r, std::int64_t row) {
    if (r < ratio || (r == ratio && row < weakest && !std::isinf(r))) {
      ratio = r;
      weakest = row;
    }
  }
  void merge(const row_scan& other) {
    positive = positive && other.positive;
    negative = negative && other.negative;
    sums_zero = sums_zero && other.sums_zero;
    dominant = dominant && other.dominant;
    strictly = strictly && other.strictly;
    first_zero = std::min(first_zero, other.first_zero);
    first_nonpositive = std::min(first_nonpositive, other.first_nonpositive);
    note_ratio(other.ratio, other.weakest);
    strict_rows += other.strict_rows;
    least = std::min(least, other.least);
    largest = std::max(largest, other.largest);
    lower = std::max(lower, other.lower);
    upper = std::max(upper, other.upper);
    shortest = std::min(shortest, other.shortest);
    longest = std::max(longest, other.longest);
    empty += other.empty;
    offsets.insert(other.offsets);
  }
};

template <class T>
void scan_diagonal(row_scan& scan, std::int64_t row, double diagonal, double others) {
  constexpr double slack = 8 * double{std::numeric_limits<T>::epsilon()};
  if (!(diagonal > 0)) {
    scan.positive = false;
    scan.first_nonpositive = std::min(scan.first_nonpositive, row);
  }
  if (!(diagonal < 0)) scan.negative = false;
  if (diagonal == 0) scan.first_zero = std::min(scan.first_zero, row);
  scan.least = std::min(scan.least, std::abs(diagonal));
  scan.largest = std::max(scan.largest, std::abs(diagonal));
  const double ratio = diagonal == 0 ? 0 : std::abs(diagonal) / others;
  scan.note_ratio(ratio, row);
  const bool strict = ratio > 1 + slack;
  if (strict) ++scan.strict_rows;
  scan.strictly = scan.strictly && strict;
  scan.dominant = scan.dominant && ratio >= 1 - slack;
}

template <class T>
void scan_values(row_scan& scan, csr_view<const T> A, std::int64_t row) {
  constexpr double slack = 16 * double{std::numeric_limits<T>::epsilon()};
  double sum = 0, magnitude = 0, diagonal = 0;
  for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k) {
    const double value{A.val[k]};
    if (A.col[k] == row)
      diagonal = value;
    else {
      sum += value;
      magnitude += std::abs(value);
    }
  }
  if (!(std::abs(sum + diagonal) <= slack * (magnitude + std::abs(diagonal)))) scan.sums_zero = false;
  if (A.rows == A.cols) scan_diagonal<T>(scan, row, diagonal, magnitude);
}

// A row whose columns are those of the row above, one to the right, has no new diagonal.
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

template <class T>
void scan_pattern(row_scan& scan, csr_view<const T> A, std::int64_t row) {
  const std::int64_t first = A.row_ptr[row], last = A.row_ptr[row + 1];
  scan.shortest = std::min(scan.shortest, last - first);
  scan.longest = std::max(scan.longest, last - first);
  if (first == last) {
    ++scan.empty;
    return;
  }
  scan.lower = std::max(scan.lower, row - A.col[first]);
  scan.upper = std::max(scan.upper, A.col[last - 1] - row);
  if (scan.offsets.full() || continues_row_above(A, row)) return;
  for (std::int64_t k = first; k < last; ++k) scan.offsets.insert(A.col[k] - row);
}

template <class T>
row_scan scan_rows(csr_view<const T> A, int threads) {
  row_scan all;
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros))
  {
    row_scan mine;
#pragma omp for schedule(dynamic, chunk) nowait
    for (std::int64_t i = 0; i < A.rows; ++i) {
      scan_pattern(mine, A, i);
      scan_values(mine, A, i);
    }
#pragma omp critical(vouch_structure)
    all.merge(mine);
  }
  return all;
}

// Rows first to first + size - 1 hold the same columns, in aligned groups of size.
template <class T>
bool is_block_row(csr_view<const T> A, std::int64_t first, int size) {
  const std::int32_t* columns = A.col + A.row_ptr[first];
  const std::int64_t length = A.row_ptr[first + 1] - A.row_ptr[first];
  if (length % size != 0) return false;
  for (std::int64_t k = 0; k < length; k += size) {
    if (columns[k] % size != 0 || columns[k + size - 1] != columns[k] + size - 1) return false;
  }
  for (std::int64_t i = first + 1; i < first + size; ++i)
    if (A.row_ptr[i + 1] - A.row_ptr[i] != length ||
        !std::equal(columns, columns + length, A.col + A.row_ptr[i]))
      return false;
  return true;
}

template <class T>
bool has_blocks(csr_view<const T> A, int size, int threads) {
  if (A.nonzeros == 0 || A.rows % size != 0 || A.cols % size != 0) return false;
  bool all = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros)) schedule(static) \
    reduction(&& : all)
  for (std::int64_t i = 0; i < A.rows / size; ++i) all = all && is_block_row(A, i * size, size);
  return all;
}

template <class T>
int block_size(csr_view<const T> A, int threads) {
  for (const int size : {6, 3, 2})
    if (has_blocks(A, size, threads)) return size;
  return 1;
}

std::int64_t or_none(std::int64_t row) { return row == never ? -1 : row; }

void copy_scan(structure_facts& facts, const row_scan& scan) {
  const bool has_diagonal = facts.square && facts.rows > 0;
  facts.diagonal_positive = has_diagonal && scan.positive;
  facts.diagonal_negative = has_diagonal && scan.negative;
  facts.first_zero_diagonal = or_none(scan.first_zero);
  facts.first_nonpositive_diagonal = or_none(scan.first_nonpositive);
  if (has_diagonal) {
    facts.diagonal_least = scan.least;
    facts.diagonal_largest = scan.largest;
    facts.dominant = !scan.dominant ? dominance::none : scan.strictly ? dominance::strict : dominance::weak;
    facts.dominance_ratio = scan.ratio;
    facts.weakest_row = or_none(scan.weakest);
    facts.strictly_dominant_rows = scan.strict_rows;
  }
  facts.bandwidth_lower = scan.lower;
  facts.bandwidth_upper = scan.upper;
  facts.entries_min = facts.rows > 0 ? scan.shortest : 0;
  facts.entries_max = scan.longest;
  facts.empty_rows = scan.empty;
  facts.row_sums_zero = facts.rows > 0 && scan.sums_zero;
  facts.distinct_diagonals = scan.offsets.size();
}

}  // namespace

const char* name(dominance kind) {
  switch (kind) {
    case dominance::strict:
      return "strict";
    case dominance::weak:
      return "weak";
    case dominance::none:
      break;
  }
  return "none";
}

template <real T>
structure_facts structure(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  if (dev.is_cuda()) throw value_error("structure: runs on the CPU, the device is a GPU");
  const valid_csr valid("structure", dev, A);
  structure_facts facts;
  facts.rows = A.rows;
  facts.cols = A.cols;
  facts.nonzeros = A.nonzeros;
  facts.square = A.rows == A.cols;
  if (A.rows > 0) facts.entries_mean = static_cast<double>(A.nonzeros) / static_cast<double>(A.rows);
  copy_scan(facts, scan_rows(A, dev.threads()));
  facts.block_size = block_size(A, dev.threads());
  if (facts.square) {
    const symmetry_facts found = check_symmetry(A, dev.threads());
    facts.pattern_symmetric = found.pattern_symmetric;
    facts.symmetric = !found.first;
    facts.first_unsymmetric = found.first;
  }
  return facts;
}

template structure_facts structure(const device&, csr_view<const float>);
template structure_facts structure(const device&, csr_view<const double>);

// ---- connected components

namespace {

using parent = std::atomic_ref<std::int32_t>;

// The root of i's tree; each node passed is hung one step higher, which never changes the sets.
std::int32_t root(std::int32_t* parents, std::int32_t i) {
  for (;;) {
    std::int32_t up = parent(parents[i]).load(std::memory_order_relaxed);
    const std::int32_t upper = parent(parents[up]).load(std::memory_order_relaxed);
    if (up == upper) return up;
    parent(parents[i]).compare_exchange_weak(up, upper, std::memory_order_relaxed);
    i = upper;
  }
}

// Hangs the larger root under the smaller one, so that trees never close to a cycle.
void unite(std::int32_t* parents, std::int32_t a, std::int32_t b) {
  for (;;) {
    a = root(parents, a);
    b = root(parents, b);
    if (a == b) return;
    if (a < b) std::swap(a, b);
    std::int32_t expected = a;
    if (parent(parents[a]).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
  }
}

}  // namespace

template <real T>
std::int64_t connected_components(const device& dev, csr_view<const T> A) {
  if (dev.is_cuda()) throw value_error("connected_components: runs on the CPU, the device is a GPU");
  const valid_csr valid("connected_components", dev, A);
  if (A.rows != A.cols) throw shape_error("connected_components: the matrix is not square");
  array<std::int32_t> parents(dev, A.rows);
  std::int64_t roots = 0;
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros))
  {
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < A.rows; ++i) parents[i] = static_cast<std::int32_t>(i);
#pragma omp for schedule(dynamic, chunk)
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col[k] != i) unite(parents.data(), static_cast<std::int32_t>(i), A.col[k]);
#pragma omp for schedule(static) reduction(+ : roots)
    for (std::int64_t i = 0; i < A.rows; ++i) roots += parents[i] == i;
  }
  return roots;
}

template std::int64_t connected_components(const device&, csr_view<const float>);
template std::int64_t connected_components(const device&, csr_view<const double>);

}  // namespace vouch
