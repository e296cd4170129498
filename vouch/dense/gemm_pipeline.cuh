// vouch/dense/gemm_pipeline.cuh -- stages of tiles in shared memory, filled some steps ahead of their use;
// private.
#pragma once
#include <cstdint>

#include <vouch/core/gpu/mbarrier.cuh>

namespace vouch::detail {

/// Step s uses stage s % Stages. Copies run `ahead` steps ahead: the stage they fill was used two steps ago.
/// Warps may be apart by nearly a step, so that a scheduler always has one with products to issue.
template <int Stages>
class gemm_pipeline {
 public:
  static constexpr int stages = Stages, ahead = Stages - 2;

  /// By all threads of the block, `threads` of them; a barrier of the block must follow.
  __device__ void start(unsigned threads) {
    if (threadIdx.x >= Stages) return;
    mbarrier_init(&full_[threadIdx.x], threads);
    mbarrier_init(&empty_[threadIdx.x], threads);
  }
  /// This thread's copies for the step are there.
  __device__ void there(int step) { mbarrier_arrive(&full_[step % Stages]); }
  __device__ void wait_for(int step) { mbarrier_wait(&full_[step % Stages], parity(step)); }
  /// This thread needs the step's stage no longer.
  __device__ void used(int step) { mbarrier_arrive(&empty_[step % Stages]); }
  /// Until the stage of step + ahead is free.
  __device__ void wait_for_room(int step) {
    if (step >= 2) mbarrier_wait(&empty_[(step - 2) % Stages], parity(step - 2));
  }

 private:
  __device__ static unsigned parity(int step) { return static_cast<unsigned>(step / Stages) % 2; }

  std::uint64_t full_[Stages], empty_[Stages];
};

}  // namespace vouch::detail
