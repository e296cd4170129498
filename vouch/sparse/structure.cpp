#include <vouch/sparse/structure.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/structure_row.hpp>
#include <vouch/sparse/structure_symmetry.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using namespace detail;

constexpr std::int64_t chunk = 4096;  // rows that a thread takes at a time

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

// What one thread finds in its rows.
struct thread_scan {
  row_scan rows;
  offset_set offsets;

  void merge(const thread_scan& other) {
    rows.merge(other.rows);
    offsets.insert(other.offsets);
  }
};

template <class T>
void scan_values(row_scan& scan, csr_view<const T> A, std::int64_t row) {
  row_sums sums;
  for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
    sums.add(double{A.val[k]}, A.col[k] == row);
  scan_sums<T>(scan, row, sums, A.rows == A.cols);
}

template <class T>
void scan_offsets(offset_set& offsets, csr_view<const T> A, std::int64_t row) {
  if (offsets.full() || continues_row_above(A, row)) return;
  for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k) offsets.insert(A.col[k] - row);
}

template <class T>
thread_scan scan_rows(csr_view<const T> A, int threads) {
  thread_scan all;
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros))
  {
    thread_scan mine;
#pragma omp for schedule(dynamic, chunk) nowait
    for (std::int64_t i = 0; i < A.rows; ++i) {
      scan_extent(mine.rows, A, i);
      scan_offsets(mine.offsets, A, i);
      scan_values(mine.rows, A, i);
    }
#pragma omp critical(vouch_structure)
    all.merge(mine);
  }
  return all;
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

std::int64_t or_none(std::int64_t row) { return row == no_row ? -1 : row; }

}  // namespace

structure_facts detail::facts_of(std::int64_t rows, std::int64_t cols, std::int64_t nonzeros,
                                 const row_scan& scan, std::int64_t diagonals) {
  structure_facts facts;
  facts.rows = rows;
  facts.cols = cols;
  facts.nonzeros = nonzeros;
  facts.square = rows == cols;
  if (rows > 0) facts.entries_mean = static_cast<double>(nonzeros) / static_cast<double>(rows);
  const bool has_diagonal = facts.square && rows > 0;
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
  facts.entries_min = rows > 0 ? scan.shortest : 0;
  facts.entries_max = scan.longest;
  facts.empty_rows = scan.empty;
  facts.row_sums_zero = rows > 0 && scan.sums_zero;
  facts.distinct_diagonals = diagonals;
  return facts;
}

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
  const valid_csr valid("structure", dev, A);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return structure_cuda(dev, A);
  const cancellation_probe stop;  // each part below takes tens of milliseconds of a million rows
  const thread_scan scan = scan_rows(A, dev.threads());
  stop.check();
  structure_facts facts = facts_of(A.rows, A.cols, A.nonzeros, scan.rows, scan.offsets.size());
  facts.block_size = block_size(A, dev.threads());
  stop.check();
  if (facts.square) {
    const symmetry_facts found = check_symmetry(A, dev.threads());
    facts.pattern_symmetric = found.pattern_symmetric;
    facts.symmetric = !found.first;
    facts.first_unsymmetric = found.first;
    stop.check();
    facts.complex_symmetric = !facts.symmetric && is_complex_symmetric(dev, A);
  }
  return facts;
}

template VOUCH_PUBLIC structure_facts structure(const device&, csr_view<const float>);
template VOUCH_PUBLIC structure_facts structure(const device&, csr_view<const double>);

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

template VOUCH_PUBLIC std::int64_t connected_components(const device&, csr_view<const float>);
template VOUCH_PUBLIC std::int64_t connected_components(const device&, csr_view<const double>);

}  // namespace vouch
