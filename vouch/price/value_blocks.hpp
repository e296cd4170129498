// vouch/price/value_blocks.hpp -- options valued by a group of devices, block by block; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include <vouch/core/block_lanes.hpp>
#include <vouch/price/batch.hpp>

namespace vouch::detail {

/// Calls value(dev, some options, their values) for blocks of up to `most` options, which devices take in turn; on a
/// GPU both lie in memory that it copies fast.
template <class Value>
void value_blocks(const device_group& devices, std::span<const batch_option> options,
                  std::span<valuation> values, std::int64_t most, const Value& value) {
  constexpr std::int64_t blocks = 128;  // so that eight GPUs end together
  const auto count = static_cast<std::int64_t>(options.size());
  const std::int64_t each = items_a_block(count, blocks, most / 32, most);
  for_each_block(devices, (count + each - 1) / each, [&](block_lane& lane, std::int64_t block) {
    const auto from = static_cast<std::size_t>(block * each);
    const std::size_t size = std::min(static_cast<std::size_t>(each), options.size() - from);
    const auto some = options.subspan(from, size);
    const auto of_them = values.subspan(from, size);
    if (!lane.dev().is_cuda()) return value(lane.dev(), some, of_them);
    const auto room = static_cast<std::int64_t>(size);
    const std::span<batch_option> in(lane.staging<batch_option>(0, room), size);
    const std::span<valuation> out(lane.staging<valuation>(1, room), size);
    std::ranges::copy(some, in.begin());
    value(lane.dev(), in, out);
    std::ranges::copy(out, of_them.begin());
  });
}

}  // namespace vouch::detail
