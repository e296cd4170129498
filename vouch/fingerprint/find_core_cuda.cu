// A warp a print: its angles by all threads into shared memory, the search in them by one, as on the CPU.
#include <vouch/core/launch.cuh>
#include <vouch/fingerprint/core_finder.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>

namespace vouch::fingerprint::gpu {
namespace {

using core_finder::angle_grid;
using core_finder::turn_list;

__global__ void __launch_bounds__(32) find_core(const float* averages, pixel* cores) {
  __shared__ float angles[angle_grid::size];
  __shared__ alignas(turn_list) unsigned char turns[sizeof(turn_list)];
  const std::int64_t print = blockIdx.x;
  for (int i = static_cast<int>(threadIdx.x); i < angle_grid::size; i += 32)
    angles[i] = angle_grid::angle(averages + print * orientation_size, i);
  __syncwarp();
  if (threadIdx.x == 0)
    cores[print] = core_finder::core_within(angle_grid(angles), *reinterpret_cast<turn_list*>(turns));
}

}  // namespace

void find_cores(const device& dev, std::int64_t n, const float* averages, pixel* cores) {
  launch(dev, "find_core", {n, 32}, find_core, averages, cores);
}

}  // namespace vouch::fingerprint::gpu
