// vouch/sparse/spmv_convert.hpp -- from CSR to the layouts of spmv_plan, where the matrix lives; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch::detail {

// Diagonals of blocks [a -b; b a], where `complex` or the shape says so, are found on GPUs alone.

/// Offsets col - row of the diagonals that hold entries, ascending. More than dia_layout::max_diagonals come
/// back as just one more than that.
template <real T>
std::vector<std::int64_t> occupied_diagonals(const device& dev, csr_view<const T> A, bool complex = false);

/// Entries of A into the diagonals of `shape` whose offset is at least `lowest`; val holds zeros before.
template <real T>
void fill_diagonals(const device& dev, csr_view<const T> A, const dia_layout<T>& shape, std::int64_t lowest,
                    T* val);

enum class mirrored { no, yes, conjugated };

/// Whether the entries below the diagonal equal their mirror images in val, as filled with lowest = 0, or their
/// conjugates, and those above it have mirror images, zeros aside.
template <real T>
mirrored mirrors_upper_half(const device& dev, csr_view<const T> A, const dia_layout<T>& shape, const T* val);

/// Where the tiles begin and the rows of a csr_layout end, on its GPU: tile has tiles + 1 elements, row_end
/// rows. Modulo 2^32 in a tile of more entries than that.
template <real T>
void mark_tiles_cuda(const device& dev, const csr_layout<T>& shape, std::int64_t* tile, std::uint32_t* row_end);

// The same on a GPU.
template <real T>
std::vector<std::int64_t> occupied_diagonals_cuda(const device& dev, csr_view<const T> A, bool complex);
template <real T>
void fill_diagonals_cuda(const device& dev, csr_view<const T> A, const dia_layout<T>& shape,
                         std::int64_t lowest, T* val);
template <real T>
mirrored mirrors_upper_half_cuda(const device& dev, csr_view<const T> A, const dia_layout<T>& shape,
                                 const T* val);

}  // namespace vouch::detail
