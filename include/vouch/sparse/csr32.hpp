// vouch/sparse/csr32.hpp -- compressed sparse rows with 32-bit offsets, as many programs hold them.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// As csr_view, with offsets of 32 bits. What takes it widens them.
template <class T>
struct csr32_view {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;
  T* val = nullptr;
};

/// The same numbers in 64 bits.
///
/// Memory  offsets, so many, live on dev as the result does.
/// Throws  value_error  offsets is null and count is not 0
array<std::int64_t> widened(const device& dev, const std::int32_t* offsets, std::int64_t count);

}  // namespace vouch
