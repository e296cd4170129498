// vouch/dense/rounded_sums.hpp -- sums and scalar products of numbers that are rounded once: the reductions of
// IEEE 1788 and IEEE 754.
//
// For all routines of this header:
//
// Shapes  Vectors of any stride and size; of one call the same size.
// Types   T is float or double.
// Memory  On dev.
// Result  The exact sum, rounded once in each of three ways: nearest (ties to even), and the two that enclose
//         it. Beyond the largest number nearest is infinite where IEEE 754 says so. A NaN, infinities of both
//         signs or 0 times infinity give NaN; other infinities give infinity, in all three. A sum of 0 is +0.
//         The exact sum depends on no order, so the bits are the same for any number of threads and any device.
// Cost    About 15 us a call. On a core with AVX-512 sums run at the speed of memory and products of doubles
//         take about 1 ns, where exponents lie within some 60 of each other; 42 more bits of range cost one
//         more pass in cache. Blocks of 2048 terms with numbers beyond 2^990, or with products below 2^-900,
//         cost about 10 ns an element. On a GPU as on the CPU, bound by memory.
// Throws  shape_error  sizes differ; the text has both
//         value_error  an operand does not lie on dev
// Source  Blocks are split without error after Rump, Ogita, Oishi, SIAM J. Sci. Comput. 31 (2008), Theorem 3.4;
//         products after Dekker (1971) by fma. The sums of the parts, which are exact, meet in an accumulator
//         after Kulisch.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A real number, rounded to the T nearest and in both directions.
template <real T>
struct rounded {
  T down, nearest, up;
};

/// The sum of the x_i.
template <real T>
rounded<T> rounded_sum(const device& dev, view<const T> x);

/// The sum of the |x_i|.
template <real T>
rounded<T> rounded_sum_abs(const device& dev, view<const T> x);

/// The sum of the squares of the x_i.
template <real T>
rounded<T> rounded_sum_square(const device& dev, view<const T> x);

/// The sum of the x_i y_i.
template <real T>
rounded<T> rounded_dot(const device& dev, view<const T> x, view<const T> y);

}  // namespace vouch
