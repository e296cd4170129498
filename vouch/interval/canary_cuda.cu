#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/interval/canary_cases.hpp>

namespace vouch::rounding {
namespace {

// One thread. Operands come from memory, so nothing is folded.
__global__ void sing(const canary_operands<float>* singles, const canary_operands<double>* doubles,
                     unsigned* failures) {
  *failures = canary_failures(*singles) | canary_failures(*doubles);
}

}  // namespace

unsigned canary_failures_cuda(const device& dev) {
  const canary_operands<float> singles;
  const canary_operands<double> doubles;
  const auto on_device_singles = array<canary_operands<float>>::from(dev, {&singles, 1});
  const auto on_device_doubles = array<canary_operands<double>>::from(dev, {&doubles, 1});
  auto failures = array<unsigned>::zeros(dev, 1);
  launch(dev, "sing", {1, 1}, sing, on_device_singles.data(), on_device_doubles.data(), failures.data());
  return failures.to_vector()[0];
}

}  // namespace vouch::rounding
