// vouch/sparse/spmv_layouts.hpp -- how spmv_plan keeps a matrix: plain views that kernels take by value, and what
// owns the memory they refer to; a detail of public headers.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {
namespace detail {

/// What the grid of a layout's GPU kernel is made from; resident_blocks is what its launch bounds guarantee.
struct kernel_shape {
  int rows_a_block;
  int resident_blocks;
};

/// CSR with the number of GPU threads that share a row. A block takes tiles of 256 / lanes rows; where a row
/// ends is kept besides in half the bytes: tile t holds entries tile[t] to tile[t+1] - 1, and its row i ends
/// before entry tile[t] + row_end[i].
template <class T>
struct csr_layout {
  csr_view<const T> A;
  int lanes = 1;  // a power of two, at most 32
  const std::int64_t* tile = nullptr;
  const std::uint32_t* row_end = nullptr;

  static constexpr int resident_blocks = 2;
  VOUCH_HOST_DEVICE int tile_rows() const { return 256 / lanes; }
  std::int64_t tiles() const { return ceil_div(A.rows, std::int64_t{tile_rows()}); }
  kernel_shape shape() const { return {tile_rows(), resident_blocks}; }
};

/// Diagonals, ascending by offset: the value of row i on diagonal k is val[start[k] + i] and belongs to column
/// i + offset[k]. Where only the upper half of a symmetric matrix is stored, start of a lower diagonal points
/// into its mirror image.
///
/// Of blocks [a -b; b a], as complex_layout has them, rows, columns and offsets are those of the blocks, and a and b
/// stand side by side at val[2 (start[k] + i)].
template <class T>
struct dia_layout {
  static constexpr int max_diagonals = 64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int count = 0;
  bool complex = false;
  bool conjugated = false;  // diagonals below the main one have -b in the place of b
  std::int64_t start[max_diagonals] = {};
  std::int64_t offset[max_diagonals] = {};
  const T* val = nullptr;

  static constexpr int resident_blocks = 4;
  int parts() const { return complex ? 2 : 1; }
  kernel_shape shape() const { return {256 * parts(), resident_blocks}; }
};

/// For CPUs: tiles of height rows by 4 columns that fill one vector, row by row, zeros between the entries. A
/// tile's first column is where the entries not yet covered begin, so neighbouring columns share a tile
/// wherever they are. Group g holds rows g height and on, its tiles are ptr[g] to ptr[g+1] - 1.
template <class T>
struct tile_layout {
  static constexpr int width = 4;
  static constexpr int height = 64 / static_cast<int>(sizeof(T)) / width;
  const std::int64_t* ptr = nullptr;
  const std::int32_t* col = nullptr;
  const T* val = nullptr;  // width * height a tile
};

/// For CPUs: blocks of b by b, 2 or 3, column by column; block row i has blocks ptr[i] to ptr[i+1] - 1.
template <class T>
struct block_layout {
  int b = 3;
  const std::int64_t* ptr = nullptr;
  const std::int32_t* col = nullptr;  // block columns
  const T* val = nullptr;             // b * b a block, and one more at the very end
};

/// For CPUs: pairs of rows and columns whose blocks are all [a -b; b a], kept as a and b: the real form of complex
/// numbers (vouch/solve/complex.hpp). Rows 2i and 2i + 1 have blocks ptr[i] to ptr[i+1] - 1.
template <class T>
struct complex_layout {
  const std::int64_t* ptr = nullptr;
  const std::int32_t* col = nullptr;  // columns 2 col and 2 col + 1
  const T* val = nullptr;             // a and b of each block
};

/// Where a slice of a sliced_layout begins, in steps, and the block column its 16-bit indices count from.
struct slice_place {
  std::int64_t start = 0;
  std::int32_t base = 0;
  std::int32_t width = 0;  // steps: the most blocks that a block row of the slice has
};

/// Blocks of b by b entries for GPUs, one element of a block row's column per lane. A slice is 32/b block rows;
/// step j of a slice holds the j-th block of each of them, so that a warp reads it side by side:
///
///   index[(start + j) (32/b) + l]                     block column of block row l, less base where indices are
///   short val[((start + j) b + r) b (32/b) + l b + c]       its entry (r, c)
///
/// Of blocks [a -b; b a], as complex_layout has them, one lane takes both rows: a slice is 32 block rows, and
///
///   val[((start + j) 32 + l) 2]                       a, followed by b
///
/// 16 slices are a window. Within it the block rows stand by falling number of blocks, so that slices have few
/// holes: order[slot] gives the block row within the window and, times 2^16, how many blocks it has.
template <class T>
struct sliced_layout {
  static constexpr int slices_a_window = 16;
  static constexpr unsigned absent = 0xffff;  // the block row of a slot past the end
  static constexpr int longest = 0xffff;      // blocks of a block row
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int b = 1;
  bool complex = false;      // blocks [a -b; b a]; b is 2
  bool short_index = false;  // 16 bits, else 32
  std::int64_t windows = 0;
  std::int64_t steps = 0;
  const slice_place* slices = nullptr;
  const std::uint32_t* order = nullptr;
  const void* index = nullptr;
  const T* val = nullptr;

  static constexpr int resident_blocks = 4, complex_resident_blocks = sizeof(T) == 8 ? 3 : 4;
  int slice_rows() const { return complex ? 32 : 32 / b; }  // block rows
  int values() const { return complex ? 2 : b * b; }        // of a block
  int window_rows() const { return slices_a_window * slice_rows() * b; }
  kernel_shape shape() const { return {window_rows(), complex ? complex_resident_blocks : resident_blocks}; }
};

/// Threads that share a row, so that each adds about 7 entries at most.
inline int csr_lanes(std::int64_t rows, std::int64_t nonzeros) {
  int lanes = 1;
  while (lanes < 32 && 2 * nonzeros > 15 * rows * lanes) lanes *= 2;
  return lanes;
}

// ---- tiles and blocks for the CPU, made from CSR

// tile_layout; block_layout of 2 by 2, of 3 by 3; complex_layout
enum class block_kind { tiles, twos, threes, complex };

/// What a tile_layout, a block_layout or a complex_layout points at.
template <real T>
struct block_storage {
  block_kind kind = block_kind::tiles;
  array<std::int64_t> ptr;
  array<std::int32_t> col;
  array<T> val;

  std::int64_t blocks() const { return ptr[ptr.size() - 1]; }
  /// Values of a block, zeros included.
  int block_size() const {
    return kind == block_kind::tiles     ? tile_layout<T>::height * tile_layout<T>::width
           : kind == block_kind::twos    ? 4
           : kind == block_kind::complex ? 2
                                         : 9;
  }
  /// Bytes of the matrix that a product reads.
  std::int64_t bytes() const {
    return ptr.size() * 8 + blocks() * (4 + block_size() * static_cast<std::int64_t>(sizeof(T)));
  }
};

/// Whether A is the real form of complex numbers: blocks [a -b; b a] alone.
template <real T>
bool holds_complex_numbers(const device& dev, csr_view<const T> A);

/// How many blocks A needs: ptr alone. Nothing where they do not fit the shape of A; complex ones are taken to be such.
template <real T>
std::optional<block_storage<T>> count_blocks(const device& dev, csr_view<const T> A, block_kind kind);

/// The blocks themselves.
template <real T>
void fill_blocks(const device& dev, csr_view<const T> A, block_storage<T>& storage);

// ---- slices, made on the GPU where the matrix lives

/// What a sliced_layout points at.
template <real T>
struct sliced_storage {
  sliced_layout<T> shape;
  std::int64_t blocks = 0;  // without the holes at the ends of slices
  array<slice_place> slices;
  array<std::uint32_t> order;
  array<std::int32_t> long_index;
  array<std::uint16_t> short_index;
  array<T> val;

  /// Bytes of the matrix that a product reads.
  std::int64_t bytes() const;
  /// Bytes that it occupies.
  std::int64_t held_bytes() const;
};

/// Everything but indices and values, which cost far more; nothing where b does not divide the shape or a block
/// row has too many blocks. complex: A holds complex numbers, and b is 2. Waits for the GPU.
template <real T>
std::optional<sliced_storage<T>> plan_slices_cuda(const device& dev, csr_view<const T> A, int b,
                                                  bool complex = false);

/// holds_complex_numbers() where the matrix lives on a GPU.
template <real T>
bool holds_complex_numbers_cuda(const device& dev, csr_view<const T> A);

/// Indices and values; entries that A does not store and places that no block row uses are zeros.
template <real T>
void fill_slices_cuda(const device& dev, csr_view<const T> A, sliced_storage<T>& storage);

}  // namespace detail
}  // namespace vouch
