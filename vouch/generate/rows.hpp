// vouch/generate/rows.hpp -- builds a CSR matrix from a function that lists the entries of a row; private.
#pragma once
#include <cstdint>
#include <numeric>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Counts the entries of a row.
struct entry_counter {
  std::int64_t size = 0;
  void add(std::int64_t, double) { ++size; }
};

/// Writes them one after the other.
struct entry_writer {
  std::int32_t* col;
  double* val;
  void add(std::int64_t column, double value) {
    *col++ = static_cast<std::int32_t>(column);
    *val++ = value;
  }
};

/// The matrix whose row i is what list(i, out) gives to out.add(column, value), columns ascending.
/// list is called twice a row, by several threads, and must list the same both times.
template <class List>
csr<double> build_rows(const device& dev, std::int64_t rows, std::int64_t cols, const List& list) {
  csr<double> A{rows, cols, array<std::int64_t>(dev, rows + 1), {}, {}};
  A.row_ptr[0] = 0;
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, rows)) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    entry_counter out;
    if (!stop.requested()) list(i, out);
    A.row_ptr[i + 1] = out.size;
  }
  stop.check();
  std::partial_sum(A.row_ptr.begin(), A.row_ptr.end(), A.row_ptr.begin());
  A.col = array<std::int32_t>(dev, A.row_ptr[rows]);
  A.val = array<double>(dev, A.row_ptr[rows]);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, rows)) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    entry_writer out{A.col.data() + A.row_ptr[i], A.val.data() + A.row_ptr[i]};
    if (!stop.requested()) list(i, out);
  }
  stop.check();
  return A;
}

}  // namespace vouch
