// Blocks of a batch given to the devices of a group. CPUs with different numbers of threads stand in for GPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <vouch/core/block_lanes.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/memory.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

using detail::block_lane;
using detail::for_each_block;

device_group cpus(int count) {
  std::vector<device> all;
  for (int k = 1; k <= count; ++k) all.push_back(device::cpu(k));
  return device_group(all);
}

// Groups of CPUs; and of one GPU by itself, and twice.
std::vector<device_group> groups() {
  std::vector<device_group> all{cpus(1), cpus(2), cpus(3), cpus(8)};
  for (const device& gpu : testing::gpus()) {
    all.emplace_back(gpu);
    all.push_back(device_group({gpu, device::cuda(gpu.index())}));
  }
  return all;
}

TEST(block_lanes, every_block_is_done_once_on_the_device_that_it_is_given_to) {
  for (const device_group& devices : groups())
    for (const std::int64_t blocks : {0, 1, 2, 3, 7, 8, 9, 100}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(blocks));
      std::atomic<int> elsewhere = 0;
      for_each_block(devices, blocks, [&](block_lane& lane, std::int64_t block) {
        ++done[static_cast<std::size_t>(block)];
        const device& wanted = devices[block % devices.size()];
        elsewhere += lane.dev().index() != wanted.index() || lane.dev().threads() != wanted.threads();
      });
      for (const std::atomic<int>& times : done) ASSERT_EQ(times, 1) << blocks;
      EXPECT_EQ(elsewhere, 0) << blocks;
    }
}

TEST(block_lanes, devices_have_as_many_blocks_give_or_take_one) {
  for (std::int64_t devices = 1; devices <= 8; ++devices)
    for (std::int64_t blocks = 0; blocks < 40; ++blocks) {
      std::vector<std::int64_t> of(static_cast<std::size_t>(devices));
      for (std::int64_t k = 0; k < blocks; ++k)
        ++of[static_cast<std::size_t>(detail::device_of_block(k, devices))];
      for (const std::int64_t count : of)
        EXPECT_TRUE(count == blocks / devices || count == blocks / devices + 1);
    }
}

TEST(block_lanes, blocks_are_as_many_as_wanted_within_limits) {
  for (std::int64_t items = 1; items < 2000; items += 7) {
    const std::int64_t each = detail::items_a_block(items, 16, 10, 50), blocks = (items + each - 1) / each;
    EXPECT_GE(each, 10);
    EXPECT_LE(each, 50);
    if (each > 10 && each < 50) {
      EXPECT_LE(blocks, 16);
      EXPECT_GE(blocks, 11);
    }
  }
}

TEST(block_lanes, throws_what_the_first_block_threw_whoever_had_it) {
  for (const device_group& devices : groups())
    for (int run = 0; run < 20; ++run) {
      std::atomic<int> begun = 0;
      try {
        for_each_block(devices, 100000, [&](block_lane&, std::int64_t block) {
          ++begun;
          if (block == 12 || block == 13 || block >= 40) throw value_error("block " + std::to_string(block));
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const value_error& failure) {
        EXPECT_STREQ(failure.what(), "block 12");
      }
      EXPECT_LE(begun, 40 + 16);
    }
}

TEST(block_lanes, hears_a_request_to_end) {
  for (const device_group& devices : groups()) {
    cancellation stop;
    const cancellation_scope listens(stop);
    std::atomic<int> begun = 0;
    const auto work = [&](block_lane&, std::int64_t block) {
      ++begun;
      if (block == 0) stop.request();
      while (!stop.requested()) std::this_thread::yield();
    };
    EXPECT_THROW(for_each_block(devices, 100000, work), cancelled);
    EXPECT_LE(begun, 16);  // one a lane
  }
}

TEST(block_lanes, blocks_inside_a_parallel_region_are_all_done) {
  const device_group devices = cpus(3);
  std::atomic<std::int64_t> sum = 0;
#pragma omp parallel num_threads(2)
  for_each_block(devices, 50, [&](block_lane&, std::int64_t block) { sum += block; });
  EXPECT_EQ(sum, 2 * 49 * 50 / 2);
}

TEST(block_lanes, staging_is_kept_and_apart_from_that_of_other_slots) {
  for (const device_group& devices : groups())
    for_each_block(devices, 1, [&](block_lane& lane, std::int64_t) {
      double* const first = lane.staging<double>(0, 1000);
      int* const second = lane.staging<int>(1, 3000);
      std::fill_n(first, 1000, 1.5);
      std::fill_n(second, 3000, 7);
      EXPECT_EQ(lane.staging<double>(0, 500), first);
      EXPECT_EQ(std::accumulate(first, first + 1000, 0.0), 1500);
      const double* const larger = lane.staging<double>(0, 5000);
      EXPECT_TRUE(is_accessible(lane.dev(), larger));
      EXPECT_EQ(std::accumulate(second, second + 3000, 0), 21000);
    });
}

TEST(block_lanes, lanes_have_streams_of_their_own) {
  for (const device& gpu : testing::gpus()) {
    std::mutex adding;
    std::set<void*> streams;
    const device_group devices(gpu, 4);
    ASSERT_EQ(devices.feeders(), 4);
    for_each_block(devices, 1000, [&](block_lane& lane, std::int64_t) {
      const std::lock_guard hold(adding);
      streams.insert(lane.dev().stream());
    });
    EXPECT_GE(streams.size(), 1U);
    EXPECT_LE(streams.size(), 4U);
  }
}

TEST(device_group, refuses_what_cannot_share) {
  EXPECT_THROW(device_group(std::vector<device>{}), value_error);
  EXPECT_THROW(device_group::cuda({}), value_error);
  EXPECT_THROW(device_group::cuda({0, 0}), value_error);
  EXPECT_THROW(device_group::cuda({1000}), no_cuda_error);
  EXPECT_THROW(cpus(most_gpus + 1), value_error);
  for (const device& gpu : testing::gpus()) {
    EXPECT_THROW(device_group({gpu, device::cpu(1)}), value_error);
    EXPECT_THROW(device_group({device::cpu(1), gpu}), value_error);
  }
}

TEST(device_group, feeders_are_few_and_share_the_hosts_threads) {
  for (const device& gpu : testing::gpus()) {
    EXPECT_EQ(device_group(gpu, 16).feeders(), 8);
    EXPECT_EQ(device_group(gpu, 5).feeders(), 5);
    EXPECT_EQ(device_group({gpu, gpu}, 5).feeders(), 2);
    EXPECT_EQ(device_group({gpu, gpu}, 1).feeders(), 1);
  }
  EXPECT_EQ(cpus(2).feeders(), 1);
}

TEST(device_group, lists_of_gpus_are_read_and_refused) {
  EXPECT_EQ(gpus_named("3,0,12"), (std::vector<int>{3, 0, 12}));
  for (const char* wrong : {"", "0,", ",1", "0,x", "1,1", "-1", "0,1,2,3,4,5,6,7,8"})
    EXPECT_THROW(gpus_named(wrong), value_error) << wrong;
  EXPECT_TRUE(names_several_gpus("cuda:all"));
  EXPECT_TRUE(names_several_gpus("cuda:0,1"));
  for (const char* one : {"cuda", "cuda:0", "cpu", "auto", "0,1"}) EXPECT_FALSE(names_several_gpus(one)) << one;
}

}  // namespace
}  // namespace vouch
