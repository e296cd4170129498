// vouch/solve/krylov/gpu_team.cuh -- how kernels on several GPUs wait for each other: flags in peer memory; private.
#pragma once
#include <cstdint>

namespace vouch {

/// Rows are cut into so many slabs, whatever the number of GPUs: sums are taken slab by slab, so that bits do not
/// depend on it. More GPUs than slabs have nothing to do.
inline constexpr int slab_count = 8;

/// What the others write into the memory of one GPU. Flags count meetings and never go back.
struct mailbox {
  static constexpr int most_sums = 5;
  double totals[2][slab_count][most_sums];  // of even and of odd meetings: one GPU can be one ahead of another
  std::int32_t stop[2];                     // the first GPU heard that the host wants an end
  alignas(128) std::uint64_t totals_here[slab_count];
  alignas(128) std::uint64_t rows_here[slab_count];  // by GPU
};

/// The GPUs as one of them sees them; slabs are dealt to them in order.
struct gpu_team {
  int me = 0;
  int size = 1;
  mailbox* box[slab_count] = {};
};

/// How long one GPU waits for another before it gives it up.
inline constexpr std::uint64_t longest_wait_ns = 20'000'000'000;

/// Makes what this thread, and whoever it has synchronised with, wrote before visible to who awaits the flag;
/// behind a __threadfence_system().
__device__ inline void raise_flag(std::uint64_t* flag, std::uint64_t meeting) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(meeting) : "memory");
}

/// One thread: whether the flag has come to this meeting before patience ends.
__device__ inline bool await_flag(const std::uint64_t* flag, std::uint64_t meeting) {
  const auto is_here = [&] {
    std::uint64_t now;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(flag) : "memory");
    return now >= meeting;
  };
  const auto clock = [] {
    std::uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
  };
  constexpr int looks_between_clocks = 256;
  for (std::uint64_t start = 0;;) {
    for (int look = 0; look < looks_between_clocks; ++look)
      if (is_here()) return true;
    if (start == 0) start = clock();
    if (clock() - start > longest_wait_ns) return false;
  }
}

}  // namespace vouch
