// vouch/solve/krylov/shared_rows.hpp -- which rows of a vector each of several GPUs needs of the others; private, for
// CUDA builds.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/krylov/slab_matrix.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Rows of a block of the kernels that hand rows to other GPUs: 256 threads with 16 bytes each.
template <class T>
inline constexpr std::int64_t shared_rows_block = 256 * 16 / static_cast<std::int64_t>(sizeof(T));

/// Of the rows of one GPU, which others need which.
struct shared_rows {
  array<std::uint8_t> needed_by;  // a bit for each GPU, for each row; whole blocks
  // All blocks with such rows are among so many from the first one on; behind the last block comes block 0.
  std::int64_t first_sharing_block = 0;
  std::int64_t sharing_blocks = 0;
  unsigned readers = 0;  // GPUs, as bits, that need some
  unsigned writers = 0;  // GPUs of which this one needs some
};

/// parts: the rows of each GPU, one after another; A lives on home. The result's arrays live on home, too.
template <real T>
std::vector<shared_rows> find_shared_rows(const device& home, csr_view<const T> A,
                                          std::span<const row_range> parts);

}  // namespace vouch
