#include <gtest/gtest.h>
#include <omp.h>

#include <cstdint>
#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

TEST(device, on_the_cpu_is_a_number_of_threads) {
  const device dev = device::cpu(3);
  EXPECT_FALSE(dev.is_cuda());
  EXPECT_EQ(dev.threads(), 3);
  EXPECT_EQ(dev.index(), -1);
  EXPECT_STREQ(dev.kind(), "cpu");
  EXPECT_EQ(dev.stream(), nullptr);
  EXPECT_LE(device::cpu().threads(), omp_get_max_threads());  // fewer by the quota of a container
  EXPECT_EQ(device::cpu(3), dev);
  EXPECT_FALSE(device::cpu(2) == dev);
}

TEST(device, refuses_a_negative_number_of_threads) {
  try {
    device::cpu(-2);
    FAIL();
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "a negative number of threads: -2");
  }
}

TEST(device, knows_its_hardware) {
  for (const device& dev : testing::devices()) {
    EXPECT_FALSE(dev.name().empty());
    EXPECT_GE(dev.processors(), 1);
    EXPECT_GT(dev.memory_free(), 0);
    dev.synchronize();
  }
}

TEST(device, that_is_not_there_is_refused_with_a_hint) {
  for (const int index : {-1, 4096}) {
    try {
      device::cuda(index);
      FAIL();
    } catch (const no_cuda_error& e) {
      EXPECT_FALSE(e.hint().empty());
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(device, adopts_no_default_stream_and_no_stream_of_a_gpu_that_is_not_there) {
  for (const std::uintptr_t stream : {0, 1, 2})
    EXPECT_THROW(device::cuda(0, reinterpret_cast<void*>(stream)), value_error) << stream;
  int memory = 0;
  for (const int index : {-1, 4096}) EXPECT_THROW(device::cuda(index, &memory), no_cuda_error) << index;
}

TEST(device, best_is_a_gpu_only_where_there_is_one) {
  const bool any = !cuda_devices().empty();
  EXPECT_TRUE(any || !device::best().is_cuda());
  EXPECT_TRUE(cuda_may_be_present() || !any);
  EXPECT_TRUE(built_with_cuda || !any);
}

TEST(device, on_a_gpu_has_its_own_stream_that_copies_share) {
  VOUCH_NEEDS_GPU();
  const device a = device::cuda(0);
  const device copy = a;
  EXPECT_EQ(a, copy);
  EXPECT_NE(a.stream(), nullptr);
  EXPECT_FALSE(a == device::cuda(0));
  EXPECT_EQ(a.threads(), 1);
  EXPECT_STREQ(a.kind(), "cuda");
  const cuda_device_facts facts = cuda_devices().front();
  EXPECT_EQ(facts.name, a.name());
  EXPECT_EQ(facts.processors, a.processors());
  EXPECT_LE(facts.memory_free, facts.memory_total);
}

}  // namespace
}  // namespace vouch
