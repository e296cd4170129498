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

}  // namespace
}  // namespace vouch
