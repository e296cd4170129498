#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/interval/rounding_check_cases.hpp>

namespace vouch::rounding {
namespace {

// One thread. Operands come from memory, so nothing is folded.
__global__ void check_operations(const check_operands<float>* singles, const check_operands<double>* doubles,
                                 unsigned* failures) {
  *failures = wrong_operations(*singles) | wrong_operations(*doubles);
}

}  // namespace

unsigned wrong_operations_cuda(const device& dev) {
  const check_operands<float> singles;
  const check_operands<double> doubles;
  const auto on_device_singles = array<check_operands<float>>::from(dev, {&singles, 1});
  const auto on_device_doubles = array<check_operands<double>>::from(dev, {&doubles, 1});
  auto failures = array<unsigned>::zeros(dev, 1);
  launch(dev, "check_operations", {1, 1}, check_operations, on_device_singles.data(), on_device_doubles.data(),
         failures.data());
  return failures.to_vector()[0];
}

}  // namespace vouch::rounding
