// vouch/sparse/spmv_sliced.hpp -- the sliced layout of spmv_plan, made on the GPU where the matrix lives;
// a detail of public headers.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch::detail {

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
/// row has too many blocks. Waits for the GPU.
template <real T>
std::optional<sliced_storage<T>> plan_slices_cuda(const device& dev, csr_view<const T> A, int b);

/// Indices and values; entries that A does not store and places that no block row uses are zeros.
template <real T>
void fill_slices_cuda(const device& dev, csr_view<const T> A, sliced_storage<T>& storage);

}  // namespace vouch::detail
