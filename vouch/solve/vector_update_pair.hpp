// vouch/solve/vector_update_pair.hpp -- one element of accumulate_pair, the same on every device; private.
#pragma once
#include <vouch/core/double_double.hpp>

namespace vouch {

template <real T>
VOUCH_HOST_DEVICE inline void add_to_pair(T& hi, T& lo, T d) {
  const double_double<T> sum = double_double<T>{hi, lo} + d;
  hi = sum.hi;
  lo = sum.lo;
}

}  // namespace vouch
