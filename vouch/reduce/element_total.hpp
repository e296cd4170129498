// vouch/reduce/element_total.hpp -- what parts of a batch in memory join to; private.
#pragma once
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <vouch/core/double_double.hpp>
#include <vouch/core/error.hpp>
#include <vouch/reduce/batch_reduce.hpp>

namespace vouch::detail {

/// What is known of an element, before the sum is rounded.
template <class T>
struct element_total {
  using sum_type = std::conditional_t<std::integral<T>, int128, double_double<double>>;
  T min = std::integral<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
  T max = std::integral<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
  sum_type sum{};

  element_total() = default;
  element_total(T least, T most, sum_type of_all) : min(least), max(most), sum(of_all) {}
  explicit element_total(const element_summary<T>& known) : min(known.min), max(known.max), sum{known.sum} {
    if constexpr (!std::integral<T>) sum.lo = known.rest;
  }

  void join(const element_total& other) {
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
    if constexpr (std::integral<T>)
      sum += other.sum;
    else
      sum = sum + other.sum;
  }
  element_summary<T> summary() const {
    if constexpr (std::integral<T>)
      return {min, max, sum, 0};
    else
      return {min, max, sum.hi, sum.lo};
  }
};

/// Throws  shape_error  what is no batch, or has not that many results
template <batch_scalar T>
void check_batch(const matrix_batch<T>& batch, std::int64_t results) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / sizeof(T);
  if (batch.count <= 0 || batch.elements <= 0 || batch.count > most / batch.elements)
    throw shape_error("reduce_batch: no batch has " + std::to_string(batch.count) + " matrices of " +
                      std::to_string(batch.elements) + " elements");
  if (results != batch.elements)
    throw shape_error("reduce_batch: " + std::to_string(results) + " results for matrices of " +
                      std::to_string(batch.elements) + " elements");
}

}  // namespace vouch::detail
