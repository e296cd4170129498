#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/core_finder.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {

pixel core_of_print(const float* averages) {
  using namespace core_finder;
  float angles[angle_grid::size];
  for (int i = 0; i < angle_grid::size; ++i) angles[i] = angle_grid::angle(averages, i);
  turn_list turns;
  return core_within(angle_grid(angles), turns);
}

void find_cores(const device& dev, std::span<const float> averages, std::span<pixel> cores) {
  const ieee_environment here;
  const std::size_t n = prints_in("find_cores", "averages", averages.size(), orientation_size);
  require_elements("find_cores", "cores", cores.size(), n, 1);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::find_cores(dev, averages, cores);
  for_each_print(dev, n, [&](std::size_t i) { cores[i] = core_of_print(&averages[i * orientation_size]); });
}

}  // namespace vouch::fingerprint
