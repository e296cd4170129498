// vouch/sparse/spmv_layouts.hpp -- how spmv_plan keeps a matrix: plain views that kernels take by value;
// private.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::detail {

/// What the grid of a layout's GPU kernel is made from; resident_blocks is what its launch bounds guarantee.
struct kernel_shape {
  int rows_a_block;
  int resident_blocks;
};

/// CSR with the number of GPU threads that share a row.
template <class T>
struct csr_layout {
  csr_view<const T> A;
  int lanes = 1;  // a power of two, at most 32

  static constexpr int resident_blocks = 4;
  kernel_shape shape() const { return {256 / lanes, resident_blocks}; }
};

/// Diagonals, ascending by offset: the value of row i on diagonal k is val[start[k] + i] and belongs to column
/// i + offset[k]. Where only the upper half of a symmetric matrix is stored, start of a lower diagonal points
/// into its mirror image.
template <class T>
struct dia_layout {
  static constexpr int max_diagonals = 64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int count = 0;
  std::int64_t start[max_diagonals] = {};
  std::int64_t offset[max_diagonals] = {};
  const T* val = nullptr;

  static constexpr int resident_blocks = 6;
  kernel_shape shape() const { return {256, resident_blocks}; }
};

/// Threads that share a row so that the rows of one warp's tile come to about csr_piece entries.
constexpr int csr_piece = 256;
inline int csr_lanes(std::int64_t rows, std::int64_t nonzeros) {
  int lanes = 1;
  while (lanes < 32 && nonzeros * 32 > rows * lanes * (csr_piece - csr_piece / 16)) lanes *= 2;
  return lanes;
}

}  // namespace vouch::detail
