// vouch/core/scan.cuh -- prefix sums on a GPU.
#pragma once
#include <cub/device/device_scan.cuh>

#include <cstdint>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>
#include <vouch/core/scratch.cuh>

namespace vouch {

/// Enqueues v[i] := v[0] + ... + v[i] for every i below n.
inline void inclusive_scan(const device& dev, std::int64_t* v, std::int64_t n) {
  const auto stream = static_cast<cudaStream_t>(dev.stream());
  check(cudaSetDevice(dev.index()), "scanning");
  std::size_t bytes = 0;
  check(cub::DeviceScan::InclusiveSum(nullptr, bytes, v, v, n, stream), "sizing a scan");
  const scratch<std::byte> space(dev, static_cast<std::int64_t>(bytes));
  check(cub::DeviceScan::InclusiveSum(space.data(), bytes, v, v, n, stream), "scanning");
}

}  // namespace vouch
