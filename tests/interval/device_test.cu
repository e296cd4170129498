// On the GPU: every directed operation gives the host's bits, and interval operations enclose.
#include <gtest/gtest.h>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>

#include "devices.hpp"
#include "interval/inclusion_cases.hpp"

namespace vouch {
namespace {

using testing::all_directed;
using testing::all_reverse;
using testing::directed_results;
using testing::inclusion_case;
using testing::reverse_results;

// One thread a case.
template <class T>
__global__ void evaluate_directed(const T* operands, directed_results<T>* out, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) out[i] = all_directed(operands[3 * i], operands[3 * i + 1], operands[3 * i + 2]);
}

template <class T>
__global__ void find_violations(const inclusion_case<T>* cases, unsigned* out, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) out[i] = testing::violations(cases[i]);
}

template <class T>
__global__ void evaluate_reverse(const inclusion_case<T>* cases, reverse_results<T>* out, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) out[i] = all_reverse(cases[i].x, cases[i].y, cases[i].z);
}

template <class T>
class device_interval : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(device_interval, types);

TYPED_TEST(device_interval, directed_operations_are_the_hosts) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device gpu = device::cuda(0);
  const std::int64_t count = testing::campaign(20'000'000);
  std::vector<T> operands;
  for (std::int64_t k = 0; k < 3 * count; ++k)
    operands.push_back(testing::adversarial_number<T>(8000, static_cast<std::uint64_t>(k)));
  const auto in = array<T>::from(gpu, operands);
  array<directed_results<T>> out(gpu, count);
  launch(gpu, "evaluate_directed", {ceil_div(count, std::int64_t{128}), 128}, evaluate_directed<T>, in.data(),
         out.data(), count);
  const auto found = out.to_vector();
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto here = all_directed(operands[3 * k], operands[3 * k + 1], operands[3 * k + 2]);
    for (int operation = 0; operation < directed_results<T>::count; ++operation) {
      const T a = found[k].of[operation];
      const T b = here.of[operation];
      ASSERT_TRUE(a == b || (a != a && b != b)) << "operation " << operation << " of case " << k << ": " << a
                                                << " on the GPU, " << b << " on the host";
    }
  }
}

TYPED_TEST(device_interval, operations_enclose) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device gpu = device::cuda(0);
  const std::int64_t count = testing::campaign(20'000'000);
  std::vector<inclusion_case<T>> cases;
  for (std::int64_t k = 0; k < count; ++k)
    cases.push_back(testing::random_case<T>(static_cast<std::uint64_t>(k)));
  const auto in = array<inclusion_case<T>>::from(gpu, cases);
  array<unsigned> out(gpu, count);
  launch(gpu, "find_violations", {ceil_div(count, std::int64_t{128}), 128}, find_violations<T>, in.data(),
         out.data(), count);
  const auto found = out.to_vector();
  for (std::size_t k = 0; k < found.size(); ++k) ASSERT_EQ(found[k], 0U) << "case " << k;
}

TYPED_TEST(device_interval, reverse_operations_are_the_hosts) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device gpu = device::cuda(0);
  const std::int64_t count = testing::campaign(2'000'000);
  std::vector<inclusion_case<T>> cases;
  for (std::int64_t k = 0; k < count; ++k)
    cases.push_back(testing::random_case<T>(static_cast<std::uint64_t>(k)));
  const auto in = array<inclusion_case<T>>::from(gpu, cases);
  array<reverse_results<T>> out(gpu, count);
  launch(gpu, "evaluate_reverse", {ceil_div(count, std::int64_t{128}), 128}, evaluate_reverse<T>, in.data(),
         out.data(), count);
  const auto found = out.to_vector();
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto here = all_reverse(cases[k].x, cases[k].y, cases[k].z);
    for (int operation = 0; operation < reverse_results<T>::count; ++operation)
      ASSERT_TRUE(found[k].of[operation] == here.of[operation])
          << "operation " << operation << " of case " << k;
  }
}

}  // namespace
}  // namespace vouch
