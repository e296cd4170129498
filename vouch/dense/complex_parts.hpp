// vouch/dense/complex_parts.hpp -- complex operands as the real routines see them, without copies; private.
#pragma once
#include <type_traits>

#include <vouch/core/view.hpp>
#include <vouch/dense/columns.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace vouch::detail {

template <real T, class Complex>
using part_like = std::conditional_t<std::is_const_v<Complex>, const interval<T>, interval<T>>;

/// The real (which = 0) or the imaginary parts of a vector where they are: that is how they lie.
template <real T, class Complex>
view<part_like<T, Complex>> part_of(view<Complex> z, int which) {
  static_assert(sizeof(Complex) == 2 * sizeof(interval<T>));
  return {reinterpret_cast<part_like<T, Complex>*>(z.data()) + which, z.size(), 2 * z.stride()};
}

/// The matrix with twice the rows, real and imaginary parts in turns, that the memory of A is.
template <real T, class Complex>
columns<part_like<T, Complex>> rows_in_turns(columns<Complex> A) {
  return {reinterpret_cast<part_like<T, Complex>*>(A.data),
          2 * A.rows,
          A.cols,
          2 * A.shift,
          2 * A.step,
          2 * A.growth,
          A.above,
          A.below,
          2};
}

}  // namespace vouch::detail
