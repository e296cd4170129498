// vouch/core/grid_barrier.cuh -- where all blocks of a cooperative kernel meet; private.
#pragma once
#include <cuda_runtime.h>

namespace vouch {

/// Everybody's writes before it are everybody's to read after it. One thread a block, between two barriers of
/// the block; number counts meetings from 1, counter starts at 0.
__device__ inline void grid_barrier(unsigned* counter, unsigned blocks, unsigned number) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
  unsigned seen;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  } while (seen - number * blocks > 1u << 31);  // seen < number * blocks, also where they wrap around
}

}  // namespace vouch
