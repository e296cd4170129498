// vouch/solve/krylov/cg_engines.hpp -- the implementations of the CG loop, which differ in speed only; private.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/solve/krylov/cg_recurrence.hpp>
#include <vouch/solve/krylov/cg_resident_plan.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

/// The loop fused with the matrix, M absent or diagonal (minv has n elements or is nullptr).
template <real T>
std::unique_ptr<inner_solver<T>> cg_cpu(const device& dev, const spmv_plan<T>& A, const T* minv);

/// The loop for any operator and preconditioner, on the CPU.
template <real T>
std::unique_ptr<inner_solver<T>> cg_cpu_general(const device& dev, const linear_operator<T>& A,
                                                const preconditioner<T>* M);

/// The whole system on chip, one kernel for the whole loop; nullptr where the system does not fit. The shape
/// comes from a stored rule unless wanted gives it.
template <real T>
std::unique_ptr<inner_solver<T>> cg_resident_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                                  const resident_shape* wanted = nullptr);

/// Fused kernels in a CUDA graph that loops by itself, M absent or diagonal.
template <real T>
std::unique_ptr<inner_solver<T>> cg_graph_cuda(const device& dev, const spmv_plan<T>& A, const T* minv);

/// The same over eight slabs of rows on several GPUs, which each other's memory is shared with; A, minv and what run()
/// is given live on home. A GPU may stand more than once in the list.
///
/// Result  The bits depend on the matrix and the kind of the GPUs, not on their number.
/// Throws  no_cuda_error  no such GPU, or no access from one to another
///         value_error    GPUs of different kinds, a layout that cannot hold A
template <real T>
std::unique_ptr<inner_solver<T>> cg_gpus_cuda(const device& home, csr_view<const T> A, const T* minv,
                                              std::span<const int> gpus, layout wanted = layout::automatic);

/// The same with a preconditioner that they share: chebyshev, or amg with a structured hierarchy; M lives on home and
/// must outlive the result. Levels of a hierarchy with fewer than least_rows rows are visited by one GPU alone.
///
/// Throws  as above; value_error  another preconditioner, or a hierarchy on a GPU that is not in the list
inline constexpr std::int64_t least_rows_to_share = 4'000'000;
template <real T>
std::unique_ptr<inner_solver<T>> cg_gpus_general_cuda(const device& home, csr_view<const T> A,
                                                      const preconditioner<T>& M, std::span<const int> gpus,
                                                      layout wanted = layout::automatic,
                                                      std::int64_t least_rows = least_rows_to_share);

/// Both of these fused with the matrix for `width` (2, 4 or 8) columns at once, which share its traffic; runs
/// take up to so many. M is absent or diagonal.
template <real T>
std::unique_ptr<block_inner_solver<T>> cg_many_cpu(const device& dev, csr_view<const T> A, const T* minv,
                                                   int width);
template <real T>
std::unique_ptr<block_inner_solver<T>> cg_many_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                                    int width);

/// The graph for any operator and preconditioner.
template <real T>
std::unique_ptr<inner_solver<T>> cg_graph_cuda_general(const device& dev, const linear_operator<T>& A,
                                                       const preconditioner<T>* M);

/// What the choice depends on.
struct block_cg_shape {
  bool on_gpu = false;
  layout alone = layout::csr;  // how the matrix is kept for one column by itself
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t value_bytes = 8;
  std::int64_t alone_bytes = 0;  // of a product with the matrix kept so; 0 on a GPU: it stays on chip
};

/// Columns of the block that comes next where `columns` (from 1 to 8) are to be solved: 8, 4, 2 or 1, the last
/// meaning one by itself. A block may be wider than the columns left.
///
/// Result  The first of the widths whose iterations together take the least time by a stored model.
/// Source  On the CPU fitted to one core in cache: a block pays 0.4 ns an entry and 2 + 0.65 w ns a row; a
///         column by itself 0.13 and 0.6 (blocks, tiles), 0.1 and 0.4 (diagonals), 0.5 and 0.6 (csr). On a GPU
///         fitted to an H200: a column by itself 8 us and its bytes at 4 TB/s, or cg_iteration_model() on chip;
///         a block 9 us and its bytes at 1.9, 1.5 and, by 8 columns, 2.7 TB/s (1.7 where rows are long).
int block_cg_width(const block_cg_shape& given, int columns);

}  // namespace vouch
