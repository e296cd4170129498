// Batches on every device against sums in 128 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/reduce/batch_reduce.hpp>

#include "groups.hpp"

namespace vouch {
namespace {

__extension__ typedef __float128 quad;

constexpr batch_parts all_parts[] = {batch_parts::min, batch_parts::max, batch_parts::sum, batch_parts::all};

template <class T>
class reduce_batches : public ::testing::Test {};
using scalars = ::testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(reduce_batches, scalars);

template <class T>
T random_value(std::uint64_t k) {
  if constexpr (std::integral<T>)
    return static_cast<T>(random_bits(3, k)) >> (random_bits(4, k) % 8 * sizeof(T));
  else
    return static_cast<T>(std::ldexp(random_unit(3, k) - 0.5, static_cast<int>(random_bits(4, k) % 40)));
}

template <class T>
struct slow_element {
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
  std::conditional_t<std::integral<T>, int128, quad> sum{};
  quad magnitudes = 0;
};

template <class T>
std::vector<slow_element<T>> slowly(const std::vector<T>& values, const matrix_batch<T>& shape) {
  std::vector<slow_element<T>> all(static_cast<std::size_t>(shape.elements));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool after = shape.layout == batch_layout::element_after_element;
    const std::size_t e = after ? k / static_cast<std::size_t>(shape.count) : k % all.size();
    all[e].min = std::min(all[e].min, values[k]);
    all[e].max = std::max(all[e].max, values[k]);
    all[e].sum += values[k];
    all[e].magnitudes += values[k] < 0 ? -static_cast<quad>(values[k]) : static_cast<quad>(values[k]);
  }
  return all;
}

template <class T>
void expect_sum(const element_summary<T>& got, const slow_element<T>& slow, std::int64_t count) {
  if constexpr (std::integral<T>) {
    EXPECT_TRUE(got.sum == slow.sum);
  } else {
    const quad error = got.sum - slow.sum, n = static_cast<quad>(count);
    const quad bound = std::same_as<T, float> ? (n + 16) * 0x1p-53 * slow.magnitudes
                                              : quad{0x1p-53} * std::abs(static_cast<double>(slow.sum)) +
                                                    n * n * 0x1p-104 * slow.magnitudes;
    EXPECT_TRUE(error <= bound && -error <= bound)
        << static_cast<double>(error) << " " << static_cast<double>(bound);
  }
}

// skew: the batch starts so many values behind a boundary of memory.
template <class T>
void check(std::int64_t count, std::int64_t elements, std::int64_t skew, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(count * elements + skew));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = random_value<T>(seed * 1000000 + k);
  const std::vector<T> used(values.begin() + skew, values.end());
  for (const batch_layout layout : {batch_layout::matrix_after_matrix, batch_layout::element_after_element}) {
    matrix_batch<T> batch{nullptr, count, elements, layout};
    const std::vector<slow_element<T>> slow = slowly(used, batch);
    for (const device& dev : testing::devices()) {
      const array<T> data = array<T>::from(dev, values);
      batch.data = data.data() + skew;
      for (const batch_parts parts : all_parts) {
        if (parts != batch_parts::all && elements != 9 && elements < 500) continue;
        SCOPED_TRACE(::testing::Message() << dev.kind() << " " << dev.threads() << ", " << count << " of "
                                          << elements << ", layout " << static_cast<int>(layout) << ", parts "
                                          << static_cast<unsigned>(parts) << ", skew " << skew);
        const auto has = [&](batch_parts part) {
          return (static_cast<unsigned>(parts) & static_cast<unsigned>(part)) != 0;
        };
        const std::vector<element_summary<T>> got = reduce_batch(dev, batch, parts);
        for (std::size_t e = 0; e < slow.size() && !::testing::Test::HasFailure(); ++e) {
          EXPECT_TRUE(!has(batch_parts::min) || got[e].min == slow[e].min) << e;
          EXPECT_TRUE(!has(batch_parts::max) || got[e].max == slow[e].max) << e;
          if (has(batch_parts::sum)) expect_sum(got[e], slow[e], count);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(reduce_batches, every_small_shape) {
  for (std::int64_t elements = 1; elements <= 20 && !::testing::Test::HasFailure(); ++elements)
    for (const std::int64_t count : {1, 2, 3, 7, 64, 1001}) check<TypeParam>(count, elements, elements % 4, 1);
}

TYPED_TEST(reduce_batches, long_batches) {
  check<TypeParam>(100003, 9, 0, 2);
  check<TypeParam>(1000000, 1, 1, 3);
  check<TypeParam>(5000, 100, 3, 4);
}

TYPED_TEST(reduce_batches, large_matrices) {
  check<TypeParam>(700, 511, 1, 5);
  check<TypeParam>(300, 1024, 0, 6);
  check<TypeParam>(300, 1025, 2, 7);
  check<TypeParam>(40, 20000, 1, 8);
  check<TypeParam>(2, 300000, 0, 9);
}

// Called again on the same scratch, with other shapes in between.
TYPED_TEST(reduce_batches, same_bits_again) {
  using T = TypeParam;
  std::vector<T> values(900000);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = random_value<T>(k);
  std::vector<element_summary<T>> on_cpu;
  for (const device& dev : testing::devices()) {
    const array<T> data = array<T>::from(dev, values);
    batch_reducer<T> reduce(dev);
    const auto run = [&](std::int64_t elements) {
      array<element_summary<T>> results(dev, elements);
      reduce({data.data(), static_cast<std::int64_t>(values.size()) / elements, elements}, batch_parts::all,
             results);
      return results.to_vector();
    };
    const auto once = run(9);
    for (const std::int64_t elements : {1, 900, 9, 90000, 4, 9}) {
      const auto again = run(elements);
      if (elements != 9) continue;
      for (std::size_t e = 0; e < 9; ++e) {
        EXPECT_EQ(again[e].min, once[e].min);
        EXPECT_EQ(again[e].max, once[e].max);
        EXPECT_TRUE(again[e].sum == once[e].sum);
      }
    }
    if (dev.is_cuda()) continue;
    if (on_cpu.empty()) on_cpu = once;
    for (std::size_t e = 0; e < 9; ++e) EXPECT_TRUE(on_cpu[e].sum == once[e].sum);
  }
}

// By one device, by it in groups, and by the slow way.
template <class T>
void check_groups(std::int64_t count, std::int64_t elements, const std::vector<device>& ones,
                  const std::vector<device_group>& others = {}) {
  std::vector<T> values(static_cast<std::size_t>(count * elements));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = random_value<T>(k);
  for (const batch_layout layout : {batch_layout::matrix_after_matrix, batch_layout::element_after_element}) {
    const matrix_batch<T> batch{values.data(), count, elements, layout};
    const std::vector<slow_element<T>> slow = slowly(values, batch);
    for (const device& one : ones) {
      const std::vector<element_summary<T>> alone = reduce_batch(device_group(one), batch);
      std::vector<device_group> groups = testing::groups_of(one);
      groups.insert(groups.end(), others.begin(), others.end());
      for (const device_group& devices : groups) {
        const std::vector<element_summary<T>> got = reduce_batch(devices, batch);
        ASSERT_EQ(got.size(), slow.size());
        for (std::size_t e = 0; e < slow.size(); ++e) {
          ASSERT_EQ(got[e].min, slow[e].min) << e;
          ASSERT_EQ(got[e].max, slow[e].max) << e;
          expect_sum(got[e], slow[e], count);
          ASSERT_TRUE(got[e].sum == alone[e].sum && got[e].rest == alone[e].rest) << e;
        }
      }
    }
  }
}

// A block has 4 MB of at most 1,024 elements.
TYPED_TEST(reduce_batches, a_group_has_the_bits_of_one_device) {
  check_groups<TypeParam>(3, 2, testing::single_devices());
  check_groups<TypeParam>((9 << 20) / sizeof(TypeParam), 1, testing::single_devices());
  check_groups<TypeParam>(100'003, 9, testing::single_devices());
  check_groups<TypeParam>(1500, 1025, testing::single_devices());
}

TYPED_TEST(reduce_batches, two_gpus_have_the_bits_of_one) {
  VOUCH_NEEDS_TWO_GPUS();
  check_groups<TypeParam>(1'000'000, 9, {device::cuda(1)}, {device_group::cuda({0, 1})});
}

// What a sum lacks is there: sums of parts in twice the precision lose nothing.
TEST(reduce_batch, the_rest_of_a_sum_is_known) {
  const std::vector<double> values{0x1p60, 1, -0x1p60, 0x1p-40, 3};
  for (const device& dev : testing::devices()) {
    const auto data = array<double>::from(dev, values);
    const auto whole = reduce_batch<double>(dev, {data.data(), 2, 1});
    EXPECT_EQ(whole[0].sum, 0x1p60);
    EXPECT_EQ(whole[0].rest, 1);
  }
}

TEST(reduce_batch, integers_at_the_edge) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> values(100000, least);
  for (const device& dev : testing::devices()) {
    const auto data = array<std::int64_t>::from(dev, values);
    const auto all = reduce_batch<std::int64_t>(dev, {data.data(), 100000, 1});
    EXPECT_TRUE(all[0].sum == int128{least} * 100000);
    EXPECT_EQ(all[0].max, least);
  }
}

TEST(reduce_batch, not_a_number_passes_extremes_by) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{nan, nan, 1, nan, 3, nan};
  for (const device& dev : testing::devices()) {
    const auto data = array<double>::from(dev, values);
    const auto all = reduce_batch<double>(dev, {data.data(), 3, 2});
    EXPECT_EQ(all[0].min, 1);
    EXPECT_EQ(all[0].max, 3);
    EXPECT_TRUE(std::isnan(all[0].sum));
    EXPECT_EQ(all[1].min, std::numeric_limits<double>::infinity());
  }
}

TEST(reduce_batch, refuses_impossible_shapes) {
  const float value = 0;
  const device cpu = device::cpu(1);
  EXPECT_THROW(reduce_batch<float>(cpu, {&value, 0, 1}), shape_error);
  EXPECT_THROW(reduce_batch<float>(cpu, {&value, 1, -1}), shape_error);
  EXPECT_THROW(reduce_batch<float>(cpu, {&value, std::int64_t{1} << 40, std::int64_t{1} << 40}), shape_error);
}

}  // namespace
}  // namespace vouch
