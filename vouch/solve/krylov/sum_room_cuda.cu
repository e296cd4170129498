#include <vouch/core/check.cuh>
#include <vouch/solve/krylov/sum_room.hpp>
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch {

std::shared_ptr<sums_box> pinned_sums_cuda() { return acquire_pinned<sums_box>(); }

void wait_for_mail_cuda(const device& dev, const sum_mail& mail) {
  const volatile std::int64_t* const arrived = mail.arrived;
  constexpr int looks = 1000;  // between two at the stream, which take longer
  for (;;) {
    for (int k = 0; k < looks; ++k)
      if (*arrived == mail.number) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        return;
      }
    const cudaError_t state = cudaStreamQuery(static_cast<cudaStream_t>(dev.stream()));
    if (state != cudaErrorNotReady) check(state, "sums of vectors");
  }
}

}  // namespace vouch
