// vouch/sparse/spmv_blocks.hpp -- tiles and blocks for the CPU, made from CSR; private.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch::detail {

/// What a tile_layout or a block_layout points at.
template <real T>
struct block_storage {
  array<std::int64_t> ptr;
  array<std::int32_t> col;
  array<T> val;

  /// Bytes of the matrix that a product reads.
  std::int64_t bytes() const {
    return ptr.size() * 8 + col.size() * 4 + val.size() * static_cast<std::int64_t>(sizeof(T));
  }
};

/// A as tiles, or as blocks of 3 by 3; nothing where more than `most` of them would be needed, or where they do
/// not fit the shape of A.
///
/// Cost  Counting reads the columns once; making reads A once more.
template <real T>
std::optional<block_storage<T>> make_tiles(const device& dev, csr_view<const T> A, std::int64_t most);
template <real T>
std::optional<block_storage<T>> make_blocks(const device& dev, csr_view<const T> A, std::int64_t most);

}  // namespace vouch::detail
