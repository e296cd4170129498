// vouch/dense/blas1.hpp -- vectors: BLAS level 1 for numbers and intervals.
//
// For all routines of this header:
//
// Shapes  Vectors of one call have the same size, which may be 0. Strides may be negative or, for vectors that
//         are only read, 0; element 0 is the first in the view's own order.
// Types   float, double, interval<float>, interval<double>, in one precision per call. Points may meet
//         intervals (TX float, TY interval<float>) and are never widened.
// Memory  On dev. What is written overlaps no other operand. Routines without a result only enqueue on a GPU.
// Result  Intervals enclose the results for all points of the operands, by the rules of IEEE 1788 for empty
//         and unbounded ones. Numbers are rounded to nearest. Same bits for any number of threads, any
//         processor and any GPU.
// Throws  shape_error  sizes differ
//         value_error  an operand does not lie on dev, what is written overlaps another operand; y, where it is
//                      written, has the stride 0
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/scalar.hpp>

namespace VOUCH_PUBLIC vouch {

/// y := x
template <scalar TX, scalar TY>
requires accumulates<TY, TX>
void copy(const device& dev, view<const TX> x, view<TY> y);

/// Exchanges x and y.
template <scalar T>
void swap(const device& dev, view<T> x, view<T> y);

/// x := alpha x; each product rounded once.
template <scalar T>
void scal(const device& dev, std::type_identity_t<T> alpha, view<T> x);

/// y := alpha x + y; each element rounded once, as by fma.
template <scalar TX, scalar TY>
requires accumulates<TY, TX>
void axpy(const device& dev, std::type_identity_t<TY> alpha, view<const TX> x, view<TY> y);

/// The sum of x_i y_i.
///
/// Result  Pieces of 4096 elements are summed by fma in lanes of their own (16 for interval<double>), then
///         lanes and pieces are added in pairs: an error, or an excess width per bound, of at most
///         gamma(4096/lanes + 6 + log2(n/4096)) |x|^T |y|.
template <scalar TX, scalar TY>
requires accumulates<product_of<TX, TY>, TX, TY> product_of<TX, TY> dot(const device& dev, view<const TX> x,
                                                                        view<const TY> y);

/// An interval around the exact inner product of two vectors of numbers; summed as by dot.
template <real T>
interval<T> dot_enclosure(const device& dev, view<const T> x, view<const T> y);

/// The Euclidean norm. Neither overflows nor underflows before its value does.
template <scalar T>
T nrm2(const device& dev, view<const T> x);

/// The sum of the |x_i|.
template <scalar T>
T asum(const device& dev, view<const T> x);

/// The first index of the largest |x_i|, for intervals of the largest magnitude (the largest |point|). NaN and
/// the empty set are passed over; -1 where nothing is left.
template <scalar T>
std::int64_t iamax(const device& dev, view<const T> x);

/// The first index of the smallest |x_i|, for intervals of the smallest mignitude (the smallest |point|).
template <scalar T>
std::int64_t iamin(const device& dev, view<const T> x);

/// x := c x + s y and y := c y - s x. An element of an interval result is rounded twice; it encloses the
/// rotations of all points by all c and s, taken apart from each other.
template <scalar T>
void rot(const device& dev, view<T> x, view<T> y, std::type_identity_t<T> c, std::type_identity_t<T> s);

/// A rotation with c a + s b = r and c b - s a = 0.
template <scalar T>
struct rotation {
  T c;
  T s;
  T r;
};

/// The rotation that brings b to 0.
///
/// Result  For numbers r has the sign of the larger of a and b, as BLAS has it; a = b = 0 gives c = 1, s = 0.
///         For intervals r >= 0: c and s enclose a/r and b/r to a few units in the last place, and are [-1, 1]
///         where a and b both hold 0.
template <scalar T>
rotation<T> rotg(T a, T b);

/// The matrix [h11 h12; h21 h22] of a modified rotation, all four entries spelled out. flag is BLAS's: which
/// entries a caller of BLAS would have to store (-2: identity, 0: unit diagonal, 1: off-diagonal 1 and -1,
/// -1: all).
template <scalar T>
struct modified_rotation {
  int flag;
  T h11, h12, h21, h22;
};

/// (x, y) := H (x, y), element by element.
template <scalar T>
void rotm(const device& dev, view<T> x, view<T> y, const modified_rotation<T>& h);

/// The modified rotation H with (H (x1, y1))_2 = 0 in the scaled form diag(d1, d2)^(1/2); d1, d2 and x1 are
/// updated.
///
/// Result  For intervals the case and the scaling are decided for the midpoints; H, d1, d2 and x1 then enclose
///         what the formulas of that case give for all points.
/// Source  Lawson, Hanson, Kincaid, Krogh, ACM TOMS 5 (1979).
template <scalar T>
modified_rotation<T> rotmg(T& d1, T& d2, T& x1, T y1);

}  // namespace vouch
