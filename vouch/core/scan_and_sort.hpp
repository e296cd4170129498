// vouch/core/scan_and_sort.hpp -- prefix sums and stable sorts on a GPU; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>

namespace vouch {

/// Enqueues v[i] := v[0] + ... + v[i] for every i below n.
void inclusive_scan(const device& dev, std::int64_t* v, std::int64_t n);

/// Enqueues sums[i] := v[0] + ... + v[i - 1] for every i below n; the two may be one.
void exclusive_scan(const device& dev, const std::int64_t* v, std::int64_t* sums, std::int64_t n);

/// Enqueues a sort of n pairs by the lowest bits of their keys; pairs of equal keys stay in their order.
///
/// Types  Key, Value are std::int32_t, std::int32_t or std::int64_t; std::uint64_t, double.
/// Cost   Bound by memory: a pass over the pairs for every 8 bits.
template <class Key, class Value>
void sort_pairs(const device& dev, const Key* keys, Key* sorted_keys, const Value* values, Value* sorted_values,
                std::int64_t n, int bits);

}  // namespace vouch
