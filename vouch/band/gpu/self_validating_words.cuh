// vouch/band/gpu/self_validating_words.cuh -- numbers that blocks exchange in memory of zeros; private.
//
// Numbers are published with all bits inverted, and NaN as a word whose inverse is NaN: a reader that finds
// zero waits.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>

namespace vouch::detail {

__device__ inline std::int64_t encode_word(double v) { return v == v ? ~__double_as_longlong(v) : 1; }
__device__ inline int encode_word(float v) { return v == v ? ~__float_as_int(v) : 1; }
__device__ inline double decode_word(std::int64_t bits) { return __longlong_as_double(~bits); }
__device__ inline float decode_word(int bits) { return __int_as_float(~bits); }

template <real T>
using word_bits = decltype(encode_word(T{}));

template <int Count, real T>
__device__ void publish(T* to, const T (&numbers)[Count]) {
  auto* const bits = reinterpret_cast<volatile word_bits<T>*>(to);
  for (int k = 0; k < Count; ++k) bits[k] = encode_word(numbers[k]);
}
/// Whether all numbers have been published.
template <int Count, real T>
__device__ bool try_read(const T* from, T (&numbers)[Count]) {
  const auto* const bits = reinterpret_cast<const volatile word_bits<T>*>(from);
  word_bits<T> words[Count];
  bool all = true;
  for (int k = 0; k < Count; ++k) words[k] = bits[k];
  for (int k = 0; k < Count; ++k) {
    numbers[k] = decode_word(words[k]);
    all = all && words[k] != 0;
  }
  return all;
}

}  // namespace vouch::detail
