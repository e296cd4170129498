// vouch/band/gpu/self_validating_words.cuh -- numbers that blocks tell each other in memory of zeros; private.
//
// Numbers are told with all bits turned, and what is no number as one that turns to none: who finds zero waits.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>

namespace vouch::detail {

__device__ inline std::int64_t turned(double v) { return v == v ? ~__double_as_longlong(v) : 1; }
__device__ inline int turned(float v) { return v == v ? ~__float_as_int(v) : 1; }
__device__ inline double turned(std::int64_t bits) { return __longlong_as_double(~bits); }
__device__ inline float turned(int bits) { return __int_as_float(~bits); }

template <real T>
using turned_bits = decltype(turned(T{}));

template <int Count, real T>
__device__ void tell(T* to, const T (&numbers)[Count]) {
  auto* const bits = reinterpret_cast<volatile turned_bits<T>*>(to);
  for (int k = 0; k < Count; ++k) bits[k] = turned(numbers[k]);
}
/// Whether all numbers have been told.
template <int Count, real T>
__device__ bool hear(const T* from, T (&numbers)[Count]) {
  const auto* const bits = reinterpret_cast<const volatile turned_bits<T>*>(from);
  turned_bits<T> heard[Count];
  bool all = true;
  for (int k = 0; k < Count; ++k) heard[k] = bits[k];
  for (int k = 0; k < Count; ++k) {
    numbers[k] = turned(heard[k]);
    all = all && heard[k] != 0;
  }
  return all;
}

}  // namespace vouch::detail
