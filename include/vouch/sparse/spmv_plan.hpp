// vouch/sparse/spmv_plan.hpp -- a matrix kept in the layout that multiplies fastest for its structure.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace VOUCH_PUBLIC vouch {

/// How a plan keeps its matrix; automatic chooses by the rule of spmv_plan::make.
///
///   csr   as it came
///   dia   values by diagonal, no indices; of a symmetric matrix the upper half
///   sell  sliced rows with 16-bit columns where they suffice; on GPUs
///   bsr   blocks of 3 by 3 or 2 by 2 with one column index each
///   tile  tiles of 2 by 4 (float: 4 by 4) entries that begin at any column; on CPUs
///   complex  blocks [a -b; b a], the real form of complex numbers, as a and b with one column index each; on GPUs
///            by diagonals as dia, of symmetric and Hermitian matrices the upper half, or sliced as sell
enum class layout { automatic, csr, dia, sell, bsr, tile, complex };

/// The layout as printed: "csr", "dia", ...
const char* name(layout kept_as);

/// Products with one matrix, many times.
///
/// Memory  Everything lives on the device of make(). A plan that keeps csr points at the caller's arrays, which
///         must outlive it, and on a GPU has 4 bytes a row besides; every other layout is a copy.
/// Result  Every stored entry of A is represented exactly, so layouts differ in the order of summation only;
///         row i errs by at most gamma(nnz_i + 2) (|A||x|)_i. The same bits on every run on one device and
///         instruction set; on the CPU for any partition of the rows. dia also multiplies the zeros between the
///         entries of a diagonal with x: there an infinity or NaN in x can spread to rows that do not refer to
///         it; so it can where complex is kept by diagonals, and within a block of bsr or complex and a tile.
template <real T>
class spmv_plan {
 public:
  /// Chooses a layout, converts, and waits until it is done.
  ///
  /// Shapes  A is m-by-n; m, n and nnz may be 0.
  /// Result  dia where at most 64 diagonals hold all entries and storing them takes no more bytes than csr
  ///         does, nor than complex does; of a symmetric matrix (proved entry by entry, unless `symmetric` says
  ///         that the caller has done so) only the upper half is stored. Else complex, where all blocks are such
  ///         and it reads at most 9/10 of the bytes of csr: on a GPU by at most 64 diagonals of blocks where these take
  ///         fewer bytes than slices. Else, on a GPU, the first of bsr with 3 by 3 blocks, with
  ///         2 by 2 blocks, and sell that reads at most 9/10 of the bytes of csr; on a CPU the cheapest of bsr
  ///         and tile if it costs at most 9/10 of csr, counting instructions up to 32 MiB of csr and bytes
  ///         beyond. Else csr. Nothing is timed: one matrix gives one layout.
  /// Cost    A few passes over A.
  /// Throws  value_error  the layout wanted cannot hold A; A is not what csr_view says
  static spmv_plan make(const device& dev, csr_view<const T> A, bool symmetric = false,
                        layout wanted = layout::automatic);

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  /// The layout and why, one line for the log: "dia (7 diagonals, 99 % full; symmetric, upper half stored)".
  std::string format() const { return format_; }
  /// Bytes that a product cannot do without: the matrix as stored, x once, y once.
  std::int64_t bytes() const { return bytes_; }

  /// y := alpha*A*x + beta*y; beta == 0 overwrites y. On a GPU it only enqueues, and can be captured.
  ///
  /// Memory  x and y live on the plan's device, are contiguous and do not overlap.
  /// Throws  shape_error  lengths that do not fit, a stride other than 1
  void multiply(T alpha, view<const T> x, T beta, view<T> y) const;

  /// y[i] := (A x)_i for row_begin <= i < row_end, on the CPU by the calling thread; threads may work on
  /// disjoint rows at the same time. x and y are whole vectors. The bits of a row depend on A and x alone.
  void multiply_rows(const T* x, T* y, std::int64_t row_begin, std::int64_t row_end) const;

  layout kept_as() const { return kept_as_; }
  /// For kernels: the parts of the layout kept; as_csr is always there. complex is as_dia() where that says so, else
  /// as_sliced().
  const detail::csr_layout<T>& as_csr() const { return csr_; }
  const detail::dia_layout<T>& as_dia() const { return dia_; }
  const detail::sliced_layout<T>& as_sliced() const { return sliced_.shape; }
  /// Blocks of a GPU kernel over the rows.
  unsigned blocks() const { return blocks_; }

 private:
  explicit spmv_plan(const device& dev) : device_(dev) {}
  void keep_csr(const std::string& why);
  std::int64_t keep_dia(csr_view<const T> A, bool complex, bool symmetric, std::int64_t most_bytes);
  std::int64_t plan_complex(csr_view<const T> A, bool symmetric, bool forced);
  void keep_complex(csr_view<const T> A);
  bool keep_blocks(csr_view<const T> A, layout wanted);
  bool keep_sliced(csr_view<const T> A, int b, bool forced);
  bool keep_sliced_blocks(csr_view<const T> A, bool forced);
  bool keep(csr_view<const T> A, bool symmetric, layout wanted);
  void set_blocks();
  void rows_into(const T* x, T* sums, std::int64_t row_begin, std::int64_t row_end) const;

  device device_;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  layout kept_as_ = layout::csr;
  std::string format_;
  std::int64_t bytes_ = 0;
  unsigned blocks_ = 1;
  detail::csr_layout<T> csr_;
  array<std::int64_t> tile_;
  array<std::uint32_t> row_end_;
  detail::dia_layout<T> dia_;
  array<T> values_;
  detail::sliced_storage<T> sliced_;
  detail::block_storage<T> storage_;
  detail::tile_layout<T> tiles_;
  detail::block_layout<T> blocks_of_entries_;
  detail::complex_layout<T> complex_;
};

namespace detail {
/// multiply() on a GPU.
template <real T>
void multiply_cuda(const device& dev, const spmv_plan<T>& plan, T alpha, const T* x, T beta, T* y);
}  // namespace detail

}  // namespace vouch
