#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/sparse/coo.hpp>

namespace vouch {
namespace {

template <class T>
struct triplet {
  std::int32_t row;
  std::int32_t col;
  T val;
};

template <class T>
struct entry {
  std::int32_t col;
  T val;
};

double mirrored(symmetry stored_as, double value) {
  return stored_as == symmetry::skew_symmetric ? -value : value;
}
std::complex<double> mirrored(symmetry stored_as, std::complex<double> value) {
  if (stored_as == symmetry::hermitian) return std::conj(value);
  return stored_as == symmetry::skew_symmetric ? -value : value;
}

struct facts {
  std::int64_t off_diagonal = 0;
  bool by_rows = true;     // by row, then strictly by column
  bool by_columns = true;  // by column, then strictly by row
  bool lower = true;       // nothing above the diagonal
};

// Of some entries, each beside the one before it.
struct counts {
  std::int32_t outside = 0, off_diagonal = 0, above = 0, rows_back = 0, cols_back = 0;
};

// row[-1] and col[-1] are there. Both limits are at most 2^31, so that negative indices are beyond them.
VOUCH_SIMD_CLONES counts count_entries(const std::int32_t* row, const std::int32_t* col, std::int32_t size,
                                       std::uint32_t rows, std::uint32_t cols) {
  std::int32_t outside = 0, off_diagonal = 0, above = 0, rows_back = 0, cols_back = 0;
  for (std::int32_t k = 0; k < size; ++k) {
    const std::int32_t i = row[k], j = col[k], i_before = row[k - 1], j_before = col[k - 1];
    outside += static_cast<int>(static_cast<std::uint32_t>(i) >= rows) |
               static_cast<int>(static_cast<std::uint32_t>(j) >= cols);
    off_diagonal += i != j;
    above += i < j;
    rows_back +=
        static_cast<int>(i < i_before) | (static_cast<int>(i == i_before) & static_cast<int>(j <= j_before));
    cols_back +=
        static_cast<int>(j < j_before) | (static_cast<int>(j == j_before) & static_cast<int>(i <= i_before));
  }
  return {outside, off_diagonal, above, rows_back, cols_back};
}

template <class T>
[[noreturn]] void refuse_first_outside(const triplets<T>& A) {
  std::int64_t k = 0;
  while (A.row[k] >= 0 && A.row[k] < A.rows && A.col[k] >= 0 && A.col[k] < A.cols) ++k;
  throw value_error("triplet " + std::to_string(k) + ": (" + std::to_string(A.row[k]) + ", " +
                    std::to_string(A.col[k]) + ") lies outside a " + std::to_string(A.rows) + " by " +
                    std::to_string(A.cols) + " matrix");
}

template <class T>
facts check_indices(const triplets<T>& A, int threads) {
  const std::int64_t count = A.val.size();
  if (count == 0) return {};
  const auto limit = [](std::int64_t size) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(size, 0, std::int64_t{1} << 31));
  };
  const std::uint32_t rows = limit(A.rows), cols = limit(A.cols);
  constexpr std::int64_t chunk = std::int64_t{1} << 16;
  // The first entry has none before it: it is compared with one that every legal entry is behind.
  const std::int32_t first_row[] = {-1, A.row[0]}, first_col[] = {-1, A.col[0]};
  const counts first = count_entries(first_row + 1, first_col + 1, 1, rows, cols);
  std::int64_t outside = first.outside, off_diagonal = first.off_diagonal, above = first.above, rows_back = 0,
               cols_back = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, count)) schedule(static) \
    reduction(+ : outside, off_diagonal, above, rows_back, cols_back)
  for (std::int64_t begin = 1; begin < count; begin += chunk) {
    const counts some = count_entries(A.row.data() + begin, A.col.data() + begin,
                                      static_cast<std::int32_t>(std::min(chunk, count - begin)), rows, cols);
    outside += some.outside;
    off_diagonal += some.off_diagonal;
    above += some.above;
    rows_back += some.rows_back;
    cols_back += some.cols_back;
  }
  if (outside > 0) refuse_first_outside(A);
  return {off_diagonal, rows_back == 0, cols_back == 0, above == 0};
}

// Where the rows of triplets begin that are in order already.
template <class T>
array<std::int64_t> row_starts(const device& dev, const triplets<T>& A) {
  const std::int64_t count = A.val.size();
  array<std::int64_t> start(dev, A.rows + 1);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, count)) schedule(static)
  for (std::int64_t k = 0; k <= count; ++k) {
    // Rows behind that of triplet k - 1, up to that of triplet k, start here.
    const std::int64_t before = k > 0 ? A.row[k - 1] : -1;
    const std::int64_t last = k < count ? A.row[k] : A.rows;
    for (std::int64_t i = before + 1; i <= last; ++i) start[i] = k;
  }
  return start;
}

// Rows in pieces of 2^shift.
struct pieces {
  int shift = 0;
  std::int64_t count = 1;

  static pieces of_one_row(std::int64_t rows) { return {0, rows}; }
  // So that the entries of a piece fit in a core's cache.
  static pieces cached(std::int64_t rows, std::int64_t entries, int threads) {
    constexpr std::int64_t fit = 32 * 1024;
    constexpr std::int64_t most = 4096;  // places that a thread writes to in turn
    const std::int64_t wanted =
        std::clamp<std::int64_t>(entries / fit, std::min<std::int64_t>(4 * threads, 64), most);
    int shift = 0;
    while (((rows - 1) >> shift) >= wanted) ++shift;
    return {shift, ((rows - 1) >> shift) + 1};
  }
};

// Calls put(triplet) for the triplets of one slab and their mirror images, in order.
template <class T, class Put>
void for_slab(const triplets<T>& A, std::int64_t slab, std::int64_t slabs, Put put) {
  const bool both = A.stored_as != symmetry::general;
  const std::int64_t count = A.val.size();
  const std::int64_t last = (slab + 1) * ceil_div(count, slabs);
  for (std::int64_t k = slab * ceil_div(count, slabs); k < std::min(last, count); ++k) {
    put(triplet<T>{A.row[k], A.col[k], A.val[k]});
    if (both && A.row[k] != A.col[k]) put(triplet<T>{A.col[k], A.row[k], mirrored(A.stored_as, A.val[k])});
  }
}

// Brings all triplets, mirror images included, together by pieces: put(k, triplet), k from 0. Those of a piece keep their
// order; piece p is given places start[p] to start[p+1]-1, which place(start) hears of before.
//
// Each thread counts, then moves, one slab of the triplets: no atomics.
template <class T, class Place, class Put>
void group(const device& dev, const triplets<T>& A, const pieces& rows, Place place, Put put) {
  const std::int64_t slabs = dev.threads();
  std::vector<std::int64_t> next(static_cast<std::size_t>(slabs * rows.count), 0);  // by slab, then piece
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.val.size())) schedule(static)
  for (std::int64_t slab = 0; slab < slabs; ++slab) {
    std::int64_t* const count = next.data() + slab * rows.count;
    for_slab(A, slab, slabs, [&](const triplet<T>& t) { ++count[t.row >> rows.shift]; });
  }
  std::int64_t total = 0;
  for (std::int64_t p = 0; p < rows.count; ++p) {
    place(p, total);
    for (std::int64_t slab = 0; slab < slabs; ++slab)
      total += std::exchange(next[static_cast<std::size_t>(slab * rows.count + p)], total);
  }
  place(rows.count, total);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.val.size())) schedule(static)
  for (std::int64_t slab = 0; slab < slabs; ++slab) {
    std::int64_t* const to = next.data() + slab * rows.count;
    for_slab(A, slab, slabs, [&](const triplet<T>& t) { put(to[t.row >> rows.shift]++, t); });
  }
}

bool ascends(const std::int32_t* col, std::int64_t first, std::int64_t last) {
  for (std::int64_t k = first + 1; k < last; ++k)
    if (col[k] <= col[k - 1]) return false;
  return true;
}

// Sorts by column and keeps entries of one column in their order.
template <class T>
void sort_row(std::vector<entry<T>>& row) {
  constexpr std::size_t short_row = 32;
  if (row.size() > short_row) {
    std::stable_sort(row.begin(), row.end(),
                     [](const entry<T>& a, const entry<T>& b) { return a.col < b.col; });
    return;
  }
  for (std::size_t k = 1; k < row.size(); ++k) {
    const entry<T> moving = row[k];
    std::size_t to = k;
    for (; to > 0 && row[to - 1].col > moving.col; --to) row[to] = row[to - 1];
    row[to] = moving;
  }
}

// Sorts entries first to last-1 of a row by column, adds those of one column in their order, and moves what is
// left to out; returns its end.
template <class T>
std::int64_t sort_and_sum(csr<T>& B, std::int64_t first, std::int64_t last, std::int64_t out,
                          std::vector<entry<T>>& row) {
  row.clear();
  for (std::int64_t k = first; k < last; ++k) row.push_back({B.col[k], B.val[k]});
  sort_row(row);
  for (std::size_t in = 0; in < row.size(); ++out) {
    entry<T> sum = row[in++];
    for (; in < row.size() && row[in].col == sum.col; ++in) sum.val += row[in].val;
    B.col[out] = sum.col;
    B.val[out] = sum.val;
  }
  return out;
}

// Puts the triplets of one piece in their rows, from entry base of B on; returns the end of what is left.
template <class T>
std::int64_t finish_piece(csr<T>& B, const triplet<T>* first, const triplet<T>* last, std::int64_t first_row,
                          std::int64_t last_row, std::int64_t base) {
  thread_local std::vector<std::int64_t> next;
  thread_local std::vector<entry<T>> row;
  next.assign(static_cast<std::size_t>(last_row - first_row) + 1, 0);
  for (const triplet<T>* t = first; t < last; ++t) ++next[static_cast<std::size_t>(t->row - first_row) + 1];
  next[0] = base;
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  for (const triplet<T>* t = first; t < last; ++t) {
    const std::int64_t k = next[static_cast<std::size_t>(t->row - first_row)]++;
    B.col[k] = t->col;
    B.val[k] = t->val;
  }
  // next[i] is now where row i ends.
  std::int64_t in = base;
  std::int64_t out = base;
  for (std::int64_t i = first_row; i < last_row; ++i) {
    const std::int64_t end = next[static_cast<std::size_t>(i - first_row)];
    if (out == in && ascends(B.col.data(), in, end))
      out = end;
    else
      out = sort_and_sum(B, in, end, out, row);
    in = end;
    B.row_ptr[i + 1] = out;
  }
  return out;
}

// Closes the gaps that summed duplicates have left behind each piece: kept[p] is where piece p ends now.
template <class T>
void close_gaps(const device& dev, csr<T>& B, const pieces& rows, const std::vector<std::int64_t>& start,
                const std::vector<std::int64_t>& kept) {
  std::vector<std::int64_t> place(kept.size() + 1, 0);
  for (std::size_t p = 0; p < kept.size(); ++p) place[p + 1] = place[p] + kept[p] - start[p];
  if (place.back() == B.val.size()) return;
  array<std::int32_t> col(dev, place.back());
  array<T> val(dev, place.back());
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, place.back())) schedule(dynamic, 1)
  for (std::int64_t p = 0; p < rows.count; ++p) {
    const auto at = static_cast<std::size_t>(p);
    std::copy(B.col.data() + start[at], B.col.data() + kept[at], col.data() + place[at]);
    std::copy(B.val.data() + start[at], B.val.data() + kept[at], val.data() + place[at]);
    const std::int64_t last_row = std::min(B.rows, (p + 1) << rows.shift);
    for (std::int64_t i = p << rows.shift; i < last_row; ++i) B.row_ptr[i + 1] -= start[at] - place[at];
  }
  B.col = std::move(col);
  B.val = std::move(val);
}

template <class T>
csr<T> room_for(const device& dev, const triplets<T>& A, std::int64_t entries) {
  return {A.rows, A.cols, array<std::int64_t>(dev, A.rows + 1), array<std::int32_t>(dev, entries),
          array<T>(dev, entries)};
}

// Of a lower triangle in order, by rows or by columns: entries of a row come by ascending columns, those that stand
// there first, then their mirror images.
template <class T>
csr<T> both_triangles(const device& dev, const triplets<T>& A, std::int64_t entries) {
  csr<T> B = room_for(dev, A, entries);
  group(
      dev, A, pieces::of_one_row(A.rows), [&](std::int64_t i, std::int64_t start) { B.row_ptr[i] = start; },
      [&](std::int64_t k, const triplet<T>& t) {
        B.col[k] = t.col;
        B.val[k] = t.val;
      });
  return B;
}

template <class T>
csr<T> sorted_and_summed(const device& dev, const triplets<T>& A, std::int64_t entries) {
  const pieces rows = pieces::cached(A.rows, entries, dev.threads());
  std::vector<std::int64_t> start(static_cast<std::size_t>(rows.count) + 1);
  array<triplet<T>> grouped(dev, entries);
  group(
      dev, A, rows, [&](std::int64_t p, std::int64_t first) { start[static_cast<std::size_t>(p)] = first; },
      [&](std::int64_t k, const triplet<T>& t) { grouped[k] = t; });
  csr<T> B = room_for(dev, A, entries);
  B.row_ptr[0] = 0;
  std::vector<std::int64_t> kept(static_cast<std::size_t>(rows.count));
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, entries)) schedule(dynamic, 1)
  for (std::int64_t p = 0; p < rows.count; ++p) {
    const auto at = static_cast<std::size_t>(p);
    kept[at] = finish_piece(B, grouped.data() + start[at], grouped.data() + start[at + 1], p << rows.shift,
                            std::min(A.rows, (p + 1) << rows.shift), start[at]);
  }
  close_gaps(dev, B, rows, start, kept);
  return B;
}

// take(array) copies an array of A's or moves it.
template <class T, class Triplets, class Take>
csr<T> matrix_of(const device& dev, Triplets& A, Take take) {
  if (A.row.size() != A.val.size() || A.col.size() != A.val.size())
    throw shape_error("triplets: row, col and val differ in length");
  const facts seen = check_indices(A, dev.threads());
  const bool whole = A.stored_as == symmetry::general;
  if (A.val.size() == 0 || (whole && seen.by_rows))
    return {A.rows, A.cols, row_starts(dev, A), take(A.col), take(A.val)};
  const std::int64_t entries = A.val.size() + (whole ? 0 : seen.off_diagonal);
  const bool few_rows = A.rows <= entries / dev.threads();  // each thread counts the entries of every row
  if (!whole && seen.lower && (seen.by_rows || seen.by_columns) && few_rows)
    return both_triangles(dev, A, entries);
  return sorted_and_summed(dev, A, entries);
}

template <class T>
csr<T> copied(const device& dev, const triplets<T>& A) {
  return matrix_of<T>(dev, A, [&](const auto& elements) { return elements.to(dev); });
}

template <class T>
csr<T> moved(const device& dev, triplets<T>& A) {
  return matrix_of<T>(dev, A, [](auto& elements) { return std::move(elements); });
}

}  // namespace

csr<double> to_csr(const device& dev, const coo& A) {
  const ieee_environment here;
  return copied(dev, A);
}

csr<double> to_csr(const device& dev, coo&& A) {
  const ieee_environment here;
  return moved(dev, A);
}

csr<std::complex<double>> to_csr(const device& dev, const complex_coo& A) {
  const ieee_environment here;
  return copied(dev, A);
}

csr<std::complex<double>> to_csr(const device& dev, complex_coo&& A) {
  const ieee_environment here;
  return moved(dev, A);
}

}  // namespace vouch
