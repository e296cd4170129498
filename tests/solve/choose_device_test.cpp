// Which device auto takes, by the model.
#include <gtest/gtest.h>

#include <devices.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/solve/loop/choose_device.hpp>

namespace vouch {
namespace {

TEST(choose_device, small_systems_stay_where_they_are) {
  for (const device_choice& choice :
       {choose_device(1000, 5000, 2), choose_device({.rows = 500, .bytes_an_entry = 24}, 2)}) {
    EXPECT_FALSE(choice.dev.is_cuda());
    EXPECT_EQ(choice.dev.threads(), 2);
    EXPECT_EQ(choice.why.find("the CPU is faster for this size (model: "), 0u) << choice.why;
  }
}

TEST(choose_device, large_dense_matrices_go_to_a_gpu_that_has_room) {
  const device_choice fits = choose_device({.rows = 20000, .bytes_an_entry = 24}, 2);
  const device_choice does_not = choose_device({.rows = 20000, .bytes_an_entry = 1 << 20}, 2);
  EXPECT_FALSE(does_not.dev.is_cuda());
  if (testing::gpus().empty()) {
    EXPECT_FALSE(fits.dev.is_cuda());
    return;
  }
  EXPECT_EQ(does_not.why, "the GPU has no room for the matrix");
  EXPECT_EQ(fits.dev.is_cuda(), cusolver::present()) << fits.why;
}

// Seven points of N^3.
int gpus_for(std::int64_t N, int there) { return gpus_that_pay(N * N * N, 7 * N * N * N, there); }

TEST(choose_device, gpus_join_where_iterations_take_longer_than_their_start) {
  for (const std::int64_t N : {10, 64, 128}) EXPECT_EQ(gpus_for(N, 8), 1) << N;
  EXPECT_EQ(gpus_for(512, 1), 1);
  EXPECT_EQ(gpus_for(512, 2), 2);
  // Each one more saves less and takes as long to start.
  EXPECT_GT(gpus_for(800, 8), 2);
  for (std::int64_t N = 100; N < 800; N += 50) EXPECT_LE(gpus_for(N, 8), gpus_for(N + 50, 8)) << N;
  EXPECT_EQ(gpus_for(2000, 100), 8);
}

TEST(choose_device, one_gpu_is_enough_for_small_systems) {
  for (const device& gpu : testing::gpus()) EXPECT_TRUE(choose_gpus(gpu, 1000, 5000).empty());
  EXPECT_TRUE(choose_gpus(device::cpu(2), 1 << 30, std::int64_t{7} << 30).empty());
}

}  // namespace
}  // namespace vouch
