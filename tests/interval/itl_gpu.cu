#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>

#include "interval/itl_run.hpp"

namespace vouch::testing {
namespace {

// One thread a case.
template <class Interval>
__global__ void evaluate(const itl_case<Interval>* cases, itl_outcome<Interval>* outcomes, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) outcomes[i] = itl_evaluate(cases[i].operation, cases[i].operands);
}

template <class Interval>
std::vector<itl_outcome<Interval>> run(const std::vector<itl_case<Interval>>& cases) {
  const device gpu = device::cuda(0);
  const auto in = array<itl_case<Interval>>::from(gpu, cases);
  array<itl_outcome<Interval>> out(gpu, in.size());
  launch(gpu, "evaluate", {ceil_div(in.size(), std::int64_t{128}), 128}, evaluate<Interval>, in.data(),
         out.data(), in.size());
  return out.to_vector();
}

}  // namespace

std::vector<itl_outcome<interval<double>>> evaluate_on_gpu(
    const std::vector<itl_case<interval<double>>>& cases) {
  return run(cases);
}

std::vector<itl_outcome<decorated_interval<double>>> evaluate_on_gpu(
    const std::vector<itl_case<decorated_interval<double>>>& cases) {
  return run(cases);
}

}  // namespace vouch::testing
