// The doors to the GPU: launch(), check() and while_graph; and double_double arithmetic, which nvcc must not
// contract.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/random.hpp>
#include <vouch/core/while_graph.cuh>

#include "core/double_double_cases.hpp"
#include "devices.hpp"

namespace vouch {
namespace {

__global__ void write_index(std::int64_t* out, std::int64_t size) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) out[i] = i;
}

TEST(launch, runs_every_thread_once) {
  VOUCH_NEEDS_GPU();
  const device gpu = device::cuda(0);
  for (const std::int64_t size : {1, 128, 1000}) {
    auto out = array<std::int64_t>::zeros(gpu, size);
    launch(gpu, "write_index", {ceil_div(size, std::int64_t{128}), 128}, write_index, out.data(), size);
    const std::vector<std::int64_t> found = out.to_vector();
    for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], i);
  }
}

// Work stands in the caller's stream, before and behind the caller's own, and the stream outlives the handles.
TEST(device, adopts_a_stream_of_the_caller) {
  VOUCH_NEEDS_GPU();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  std::vector<std::int64_t> found(1000);
  {
    const device gpu = device::cuda(0, stream);
    EXPECT_EQ(gpu.stream(), stream);
    EXPECT_EQ(gpu, device::cuda(0, stream));
    EXPECT_FALSE(gpu == device::cuda(0));
    array<std::int64_t> out(gpu, 1000);
    ASSERT_EQ(cudaMemsetAsync(out.data(), -1, 8000, stream), cudaSuccess);
    launch(gpu, "write_index", {8, 128}, write_index, out.data(), 500);
    ASSERT_EQ(cudaMemcpyAsync(found.data(), out.data(), 8000, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    gpu.synchronize();
  }
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], i < 500 ? i : -1);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(launch, of_no_blocks_is_no_work_and_of_too_many_an_error) {
  const device cpu = device::cpu(1);  // neither case may reach a GPU
  launch(cpu, "nothing", {0, 128}, write_index, static_cast<std::int64_t*>(nullptr), 0);
  EXPECT_THROW(launch(cpu, "too_much", {std::int64_t{1} << 31, 128}, write_index,
                      static_cast<std::int64_t*>(nullptr), 0),
               value_error);
}

TEST(launch, that_is_refused_names_the_kernel_and_leaves_no_error_behind) {
  VOUCH_NEEDS_GPU();
  const device gpu = device::cuda(0);
  try {
    launch(gpu, "write_index", {1, 4096}, write_index, static_cast<std::int64_t*>(nullptr), 0);
    FAIL();
  } catch (const device_error& e) {
    EXPECT_EQ(std::string(e.what()).rfind("write_index: ", 0), 0u) << e.what();
    EXPECT_NE(e.code(), static_cast<int>(cudaSuccess));
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

__global__ void count_down(int* left, int* turns, cudaGraphConditionalHandle handle) {
  ++*turns;
  if (--*left == 0) cudaGraphSetConditional(handle, 0);
}

TEST(while_graph, turns_until_a_kernel_says_stop) {
  VOUCH_NEEDS_GPU();
  const device gpu = device::cuda(0);
  auto left = array<int>::zeros(gpu, 1);
  auto turns = array<int>::zeros(gpu, 1);
  const while_graph loop(gpu, [&](cudaGraphConditionalHandle handle) {
    launch(gpu, "count_down", {1, 1}, count_down, left.data(), turns.data(), handle);
  });
  EXPECT_EQ(turns.to_vector()[0], 0);  // recorded, not run
  for (const int wanted : {1, 1000}) {
    copy_bytes(left.data(), gpu, &wanted, device::cpu(1), sizeof wanted);
    zero_bytes(gpu, turns.data(), sizeof(int));
    loop.launch();
    EXPECT_EQ(turns.to_vector()[0], wanted);
  }
}

template <class T>
struct results {
  double_double<T> sum, product, total, shifted, accumulated;
};

template <class T>
VOUCH_HOST_DEVICE results<T> all_operations(testing::operands<T> x) {
  return {two_sum(x.a.hi, x.b.hi), two_prod(x.a.hi, x.b.hi), x.a + x.b, x.a + x.b.hi,
          add_product(x.a, x.b.hi, x.a.hi)};
}

template <class T>
__global__ void apply(const testing::operands<T>* in, results<T>* out, std::int64_t size) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) out[i] = all_operations(in[i]);
}

template <class T>
void expect_the_host_s_bits() {
  const device gpu = device::cuda(0);
  const std::vector<testing::operands<T>> cases = testing::double_double_cases<T>();
  const auto in = array<testing::operands<T>>::from(gpu, cases);
  array<results<T>> out(gpu, in.size());
  launch(gpu, "apply", {ceil_div(in.size(), std::int64_t{128}), 128}, apply<T>, in.data(), out.data(),
         in.size());
  const std::vector<results<T>> found = out.to_vector();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const results<T> expected = all_operations(cases[i]);
    ASSERT_EQ(std::memcmp(&found[i], &expected, sizeof expected), 0) << "case " << i;
  }
}

TEST(double_double, has_the_same_bits_on_the_gpu) {
  VOUCH_NEEDS_GPU();
  expect_the_host_s_bits<double>();
  expect_the_host_s_bits<float>();
}

__global__ void draw(std::uint64_t* bits, double* units) {
  bits[threadIdx.x] = random_bits(9, threadIdx.x);
  units[threadIdx.x] = random_unit(9, threadIdx.x);
}

TEST(random_bits, are_the_same_on_the_gpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = device::cuda(0);
  array<std::uint64_t> bits(gpu, 256);
  array<double> units(gpu, 256);
  launch(gpu, "draw", {1, 256}, draw, bits.data(), units.data());
  for (std::uint64_t k = 0; k < 256; ++k) {
    EXPECT_EQ(bits.to_vector()[k], random_bits(9, k));
    EXPECT_EQ(units.to_vector()[k], random_unit(9, k));
  }
}

}  // namespace
}  // namespace vouch
