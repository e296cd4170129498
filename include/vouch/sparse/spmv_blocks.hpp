// vouch/sparse/spmv_blocks.hpp -- tiles and blocks for the CPU, made from CSR; a detail of public headers.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch::detail {

enum class block_kind { tiles, twos, threes };  // tile_layout; block_layout of 2 by 2; of 3 by 3

/// What a tile_layout or a block_layout points at.
template <real T>
struct block_storage {
  block_kind kind = block_kind::tiles;
  array<std::int64_t> ptr;
  array<std::int32_t> col;
  array<T> val;

  std::int64_t blocks() const { return ptr[ptr.size() - 1]; }
  /// Entries in a block, zeros included.
  int block_size() const {
    return kind == block_kind::tiles  ? tile_layout<T>::height * tile_layout<T>::width
           : kind == block_kind::twos ? 4
                                      : 9;
  }
  /// Bytes of the matrix that a product reads.
  std::int64_t bytes() const {
    return ptr.size() * 8 + blocks() * (4 + block_size() * static_cast<std::int64_t>(sizeof(T)));
  }
};

/// How many blocks A needs: ptr alone. Nothing where they do not fit the shape of A.
template <real T>
std::optional<block_storage<T>> count_blocks(const device& dev, csr_view<const T> A, block_kind kind);

/// The blocks themselves.
template <real T>
void fill_blocks(const device& dev, csr_view<const T> A, block_storage<T>& storage);

}  // namespace vouch::detail
