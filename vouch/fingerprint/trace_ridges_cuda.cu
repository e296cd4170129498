// A block a print: its places by all threads into shared memory, then a path a thread.
#include <vouch/core/launch.cuh>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/ridge_tracer.hpp>

namespace vouch::fingerprint::gpu {
namespace {

using namespace ridge_tracer;

constexpr int threads = 384;

// Both coordinates, twice: smoothing goes from one to the other. Then angle, right and down stand in three of them.
struct planes {
  float x[2][fine_size], y[2][fine_size];
};

__global__ void __launch_bounds__(threads)
    trace_print(const float* averages, const std::uint8_t* foreground, std::uint8_t* whorls) {
  extern __shared__ unsigned char shared_memory[];
  __shared__ int found;
  planes& p = *reinterpret_cast<planes*>(shared_memory);
  const std::int64_t print = blockIdx.x;
  averages += print * 2 * fine_size;
  foreground += print * cells;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) found = 0;
  for (int i = thread; i < fine_size; i += threads) {
    const bool kept = is_foreground(foreground, i / fine_columns, i % fine_columns);
    p.x[0][i] = kept ? averages[i] : 0.0F;
    p.y[0][i] = kept ? averages[fine_size + i] : 0.0F;
  }
  for (int k = 0; k < smoothings; ++k) {
    __syncthreads();
    for (int i = thread; i < fine_size; i += threads) {
      p.x[1 - k % 2][i] = smoothed(p.x[k % 2], i / fine_columns, i % fine_columns);
      p.y[1 - k % 2][i] = smoothed(p.y[k % 2], i / fine_columns, i % fine_columns);
    }
  }
  __syncthreads();
  constexpr int last = smoothings % 2;
  float *const angle = p.x[1 - last], *const right = p.y[1 - last], *const down = p.x[last];
  for (int i = thread; i < fine_size; i += threads) {
    const bool kept = is_foreground(foreground, i / fine_columns, i % fine_columns);
    const place here = place_of(p.x[last][i], p.y[last][i], kept);
    angle[i] = here.angle;
    right[i] = here.right;
    down[i] = here.down;
  }
  __syncthreads();
  const auto places = [=](int at) { return place{angle[at], right[at], down[at]}; };
  // Whether one is found, not which, is the answer: that others see it late does not change it.
  for (int i = thread; i < starts && atomicOr(&found, 0) == 0; i += threads)
    if (has_lobe(places, start_of(i))) atomicOr(&found, 1);
  __syncthreads();
  if (thread == 0) whorls[print] = static_cast<std::uint8_t>(found);
}

}  // namespace

void trace_ridges(const device& dev, std::int64_t n, const float* averages, const std::uint8_t* foreground,
                  std::uint8_t* whorls) {
  launch(dev, "trace_print", {n, threads, sizeof(planes)}, trace_print, averages, foreground, whorls);
}

}  // namespace vouch::fingerprint::gpu
