// vouch/solve/distributed/sweep.hpp -- passes over the rows of this rank, block by block; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/distributed/row_matrix.hpp>

namespace vouch::distributed {

/// y := A x for some rows; each is added up in the order of its columns.
inline void multiply_rows(csr_view<const double> A, const double* x, double* y, std::int64_t first,
                          std::int64_t count) {
  for (std::int64_t i = first; i < first + count; ++i) {
    double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += A.val[k] * x[A.col[k]];
    y[i] = sum;
  }
}

/// body(block, first row, rows) for the blocks named.
template <class Body>
void for_blocks(const device& cpu, std::int64_t rows, std::span<const std::int64_t> blocks, const Body& body) {
  const auto count = static_cast<std::int64_t>(blocks.size());
  const int threads = count < 8 ? 1 : cpu.threads();
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (threads > 1)
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t block = blocks[static_cast<std::size_t>(k)], first = block * row_partition::block_rows;
    body(block, first, std::min(row_partition::block_rows, rows - first));
  }
}

/// The same for all blocks of A; those that need x's halo come once it is there, and it travels while the others work.
template <class Body>
void for_blocks_with_halo(const device& cpu, const row_matrix& A, double* x, const Body& body) {
  A.begin_halo(x);
  for_blocks(cpu, A.rows(), A.inner_blocks(), body);
  A.end_halo();
  for_blocks(cpu, A.rows(), A.outer_blocks(), body);
}

/// The same for all blocks, in their order.
template <class Body>
void for_all_blocks(const device& cpu, const row_matrix& A, const Body& body) {
  const std::int64_t blocks = A.blocks();
  const int threads = blocks < 8 ? 1 : cpu.threads();
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (threads > 1)
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first = block * row_partition::block_rows;
    body(block, first, std::min(row_partition::block_rows, A.rows() - first));
  }
}

}  // namespace vouch::distributed
