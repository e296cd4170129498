#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/sparse/coo.hpp>

namespace vouch {
namespace {

struct entry {
  std::int32_t col;
  double val;
};

void check_indices(const coo& A, int threads) {
  std::int64_t bad = A.val.size();
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : bad)
  for (std::int64_t k = 0; k < A.val.size(); ++k)
    if (A.row[k] < 0 || A.row[k] >= A.rows || A.col[k] < 0 || A.col[k] >= A.cols) bad = std::min(bad, k);
  if (bad < A.val.size())
    throw value_error("triplet " + std::to_string(bad) + ": (" + std::to_string(A.row[bad]) + ", " +
                      std::to_string(A.col[bad]) + ") lies outside a " + std::to_string(A.rows) + " by " +
                      std::to_string(A.cols) + " matrix");
}

// Sorts a row by column, keeps triplets of one column in their order and adds them; returns what is left.
std::int64_t sort_and_sum(entry* first, entry* last) {
  if (!std::is_sorted(first, last, [](entry a, entry b) { return a.col < b.col; }))
    std::stable_sort(first, last, [](entry a, entry b) { return a.col < b.col; });
  entry* out = first;
  for (entry* in = first; in != last;) {
    entry sum = *in++;
    for (; in != last && in->col == sum.col; ++in) sum.val += in->val;
    *out++ = sum;
  }
  return out - first;
}

}  // namespace

csr<double> to_csr(const device& dev, const coo& A) {
  if (A.row.size() != A.val.size() || A.col.size() != A.val.size())
    throw shape_error("triplets: row, col and val differ in length");
  const int threads = dev.threads();
  check_indices(A, threads);
  const bool both = A.stored_as != symmetry::general;
  const double mirrored_sign = A.stored_as == symmetry::skew_symmetric ? -1.0 : 1.0;

  // Each thread owns a block of rows and reads all triplets: no atomics, so triplets stay in order.
  // Counting first gives every row its place.
  array<std::int64_t> start = array<std::int64_t>::zeros(dev, A.rows + 1);
  for (std::int64_t k = 0; k < A.val.size(); ++k) {
    ++start[A.row[k] + 1];
    if (both && A.row[k] != A.col[k]) ++start[A.col[k] + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());

  array<entry> entries(dev, A.rows > 0 ? start[A.rows] : 0);
  {
    std::vector<std::int64_t> next(start.begin(), start.end());
    for (std::int64_t k = 0; k < A.val.size(); ++k) {
      entries[next[static_cast<std::size_t>(A.row[k])]++] = {A.col[k], A.val[k]};
      if (both && A.row[k] != A.col[k])
        entries[next[static_cast<std::size_t>(A.col[k])]++] = {A.row[k], mirrored_sign * A.val[k]};
    }
  }

  csr<double> B{A.rows, A.cols, array<std::int64_t>(dev, A.rows + 1), {}, {}};
  B.row_ptr[0] = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024)
  for (std::int64_t i = 0; i < A.rows; ++i)
    B.row_ptr[i + 1] = sort_and_sum(entries.data() + start[i], entries.data() + start[i + 1]);
  std::partial_sum(B.row_ptr.begin(), B.row_ptr.end(), B.row_ptr.begin());
  B.col = array<std::int32_t>(dev, B.row_ptr[A.rows]);
  B.val = array<double>(dev, B.row_ptr[A.rows]);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k) {
      const entry e = entries[start[i] + k - B.row_ptr[i]];
      B.col[k] = e.col;
      B.val[k] = e.val;
    }
  return B;
}

}  // namespace vouch
