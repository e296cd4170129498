// CUB in one source: its headers take longer to compile than what calls it.
#include <vouch/core/scan_and_sort.hpp>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <vouch/core/check.cuh>
#include <vouch/core/scratch.cuh>

namespace vouch {
namespace {

// call(space, bytes, stream) says the bytes of space that it needs where there is none, and else does the work.
template <class Call>
void with_space(const device& dev, const char* what, const Call& call) {
  const auto stream = static_cast<cudaStream_t>(dev.stream());
  check(cudaSetDevice(dev.index()), what);
  std::size_t bytes = 0;
  check(call(nullptr, bytes, stream), what);
  const scratch<std::byte> space(dev, static_cast<std::int64_t>(bytes));
  check(call(space.data(), bytes, stream), what);
}

}  // namespace

void inclusive_scan(const device& dev, std::int64_t* v, std::int64_t n) {
  with_space(dev, "scanning", [&](void* space, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(space, bytes, v, v, n, stream);
  });
}

void exclusive_scan(const device& dev, const std::int64_t* v, std::int64_t* sums, std::int64_t n) {
  with_space(dev, "scanning", [&](void* space, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, v, sums, n, stream);
  });
}

template <class Key, class Value>
void sort_pairs(const device& dev, const Key* keys, Key* sorted_keys, const Value* values, Value* sorted_values,
                std::int64_t n, int bits) {
  with_space(dev, "sorting", [&](void* space, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(space, bytes, keys, sorted_keys, values, sorted_values, n, 0, bits,
                                           stream);
  });
}

#define VOUCH_SORT(Key, Value) \
  template void sort_pairs(const device&, const Key*, Key*, const Value*, Value*, std::int64_t, int);
VOUCH_SORT(std::int32_t, std::int32_t)
VOUCH_SORT(std::int32_t, std::int64_t)
VOUCH_SORT(std::uint64_t, double)

}  // namespace vouch
