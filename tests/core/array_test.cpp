#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

using testing::devices;

std::vector<std::int32_t> counted(std::size_t size) {
  std::vector<std::int32_t> all(size);
  std::iota(all.begin(), all.end(), 7);
  return all;
}

TEST(array, goes_from_device_to_device_unchanged) {
  for (const std::size_t size : {0, 1, 1000, 3 << 20})
    for (const device& from : devices())
      for (const device& to : devices()) {
        const std::vector<std::int32_t> source = counted(size);
        const auto a = array<std::int32_t>::from(from, source);
        const auto b = a.to(to);
        EXPECT_EQ(b.where(), to);
        EXPECT_EQ(b.size(), static_cast<std::int64_t>(size));
        EXPECT_EQ(b.to_vector(), source);
        EXPECT_EQ(a.to_vector(), source);
        if (size > 0) {
          EXPECT_NE(a.data(), b.data());
        }
      }
}

TEST(array, zeros_are_zeros_at_every_size) {
  for (const device& dev : devices())
    for (const std::size_t size : {0, 1, 1001, (1 << 19) + 3}) {
      // Dirty memory first, so that fresh pages of the system do not pass for ours.
      { const auto dirty = array<double>::from(dev, std::vector<double>(size, 1.5)); }
      const auto a = array<double>::zeros(dev, static_cast<std::int64_t>(size));
      EXPECT_EQ(a.to_vector(), std::vector<double>(size, 0.0)) << dev.kind() << ' ' << size;
    }
}

TEST(array, owns_aligned_memory_or_none) {
  for (const device& dev : devices()) {
    EXPECT_EQ(array<double>(dev, 0).data(), nullptr);
    for (const std::int64_t size : {1, 100, 1 << 20}) {
      const array<char> a(dev, size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
    }
  }
  EXPECT_EQ(array<double>().size(), 0);
}

TEST(array, is_moved_and_never_copied_silently) {
  static_assert(!std::is_copy_constructible_v<array<double>>);
  static_assert(!std::is_copy_assignable_v<array<double>>);
  static_assert(std::is_nothrow_move_constructible_v<array<double>>);
  auto a = array<std::int32_t>::from(device::cpu(2), counted(10));
  const std::int32_t* data = a.data();
  array<std::int32_t> b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.size(), 0);  // NOLINT(bugprone-use-after-move): what is left is an empty array
  EXPECT_EQ(a.data(), nullptr);
  array<std::int32_t> c(device::cpu(1), 3);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.size(), 10);
  EXPECT_EQ(c.where(), device::cpu(2));
  EXPECT_EQ(b.size(), 0);  // NOLINT(bugprone-use-after-move)
}

TEST(array, is_a_range_and_a_view) {
  auto a = array<std::int32_t>::from(device::cpu(1), counted(5));
  EXPECT_EQ(std::vector<std::int32_t>(a.begin(), a.end()), counted(5));
  a[4] = -1;
  view<std::int32_t> v = a;
  EXPECT_EQ(v.size(), 5);
  EXPECT_EQ(v[4], -1);
  v[0] = 42;
  EXPECT_EQ(std::as_const(a)[0], 42);
}

TEST(array, refuses_a_negative_size) {
  try {
    array<double>(device::cpu(1), -3);
    FAIL();
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "array: negative size -3");
  }
}

TEST(array, says_how_much_memory_was_asked_and_is_free) {
  for (const device& dev : devices())
    for (const std::int64_t size : {std::int64_t{1} << 50, std::numeric_limits<std::int64_t>::max()}) {
      try {
        array<double>(dev, size);
        FAIL();
      } catch (const out_of_memory& e) {
        const bool countable = size == std::int64_t{1} << 50;
        EXPECT_EQ(e.bytes_asked(), countable ? size * 8 : std::numeric_limits<std::int64_t>::max());
        EXPECT_GT(e.bytes_free(), 0);
        EXPECT_LT(e.bytes_free(), e.bytes_asked());
        EXPECT_NE(std::string(e.what()).find(dev.is_cuda() ? "on GPU 0" : "on the host"), std::string::npos);
      }
    }
}

TEST(device_peak_bytes, grows_with_what_arrays_hold_on_gpus) {
  const std::int64_t before = device_peak_bytes();
  const array<double> on_cpu(device::cpu(1), 1000);
  EXPECT_EQ(device_peak_bytes(), before);
  for (const device& gpu : testing::gpus()) {
    const array<char> held(gpu, before + 1);
    EXPECT_GT(device_peak_bytes(), before);
  }
}

TEST(host_peak_bytes, grows_with_what_this_process_touches) {
  const std::int64_t before = host_peak_bytes();
  ASSERT_GT(before, 0);
  const auto touched = array<char>::zeros(device::cpu(1), before + (16 << 20));
  EXPECT_GE(host_peak_bytes(), touched.size());
}

}  // namespace
}  // namespace vouch
