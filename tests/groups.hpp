// tests/groups.hpp -- groups of devices that share a batch.
#pragma once
#include <gtest/gtest.h>

#include <vector>

#include <vouch/core/device_group.hpp>

#include "devices.hpp"

namespace vouch::testing {

/// Groups whose results have the bits of `one`: it alone, twice, three times; CPUs have a thread each.
inline std::vector<device_group> groups_of(const device& one) {
  const auto again = [&] { return one.is_cuda() ? device::cuda(one.index()) : one; };
  return {device_group(one, 8), device_group({one, again()}, 8), device_group({one, again(), again()}, 3)};
}

/// One thread, and the GPU where there is one.
inline std::vector<device> single_devices() {
  std::vector<device> all{device::cpu(1)};
  for (const device& gpu : gpus()) all.push_back(gpu);
  return all;
}

}  // namespace vouch::testing

/// A test of the wires between GPUs, or of two links: skipped, by name, where there are fewer than two.
#define VOUCH_NEEDS_TWO_GPUS() \
  if (vouch::cuda_devices().size() < 2) GTEST_SKIP() << "fewer than two GPUs on this machine"
