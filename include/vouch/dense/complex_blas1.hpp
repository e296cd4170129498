// vouch/dense/complex_blas1.hpp -- vectors of rectangles of complex numbers: BLAS level 1.
//
// For all routines of this header:
//
// Shapes  as in blas1.hpp
// Types   T is float or double.
// Memory  On dev. What is written overlaps no other operand.
// Result  Encloses, as rectangles: each part is what the real routine gives for the parts that make it, added
//         up. Same bits on every device and for any number of threads, the signs of zeros apart.
// Cost    Sums of products four times the real routine.
// Throws  as the real routines
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace VOUCH_PUBLIC vouch {

/// y := x
template <real T>
void copy(const device& dev, view<const complex_interval<T>> x, view<complex_interval<T>> y);

/// Exchanges x and y.
template <real T>
void swap(const device& dev, view<complex_interval<T>> x, view<complex_interval<T>> y);

/// x := alpha x, by an interval of real numbers or by a rectangle.
template <real T>
void scal(const device& dev, std::type_identity_t<interval<T>> alpha, view<complex_interval<T>> x);
template <real T>
void scal(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<complex_interval<T>> x);

/// y := alpha x + y
template <real T>
void axpy(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<complex_interval<T>> y);

/// The sum of the x_i y_i, or of the conj(x_i) y_i.
template <real T>
complex_interval<T> dotu(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y);
template <real T>
complex_interval<T> dotc(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y);

/// The Euclidean norm.
template <real T>
interval<T> nrm2(const device& dev, view<const complex_interval<T>> x);

/// The sum of |real| + |imaginary|, as BLAS has it.
template <real T>
interval<T> asum(const device& dev, view<const complex_interval<T>> x);

/// The first index of the largest |real| + |imaginary|, as BLAS has it: of the sum of the parts' magnitudes, to
/// nearest. The empty set is passed over; -1 where nothing is left.
template <real T>
std::int64_t iamax(const device& dev, view<const complex_interval<T>> x);

/// The same for the smallest, of the sum of the parts' mignitudes.
template <real T>
std::int64_t iamin(const device& dev, view<const complex_interval<T>> x);

/// A rotation with c a + s b = r and c b - conj(s) a = 0; c is real.
template <real T>
struct complex_rotation {
  interval<T> c;
  complex_interval<T> s, r;
};

/// The rotation that brings b to 0.
///
/// Result  c and s enclose |a|/|(a, b)| and a conj(b) / (|a| |(a, b)|) for all points, r encloses a |(a, b)| /
///         |a|; a/|a| is taken as 1 where a is 0, and lies anywhere where a holds 0 beside others; so does
///         b/|b|.
template <real T>
complex_rotation<T> rotg(complex_interval<T> a, complex_interval<T> b);

/// x := c x + s y and y := c y - s x for real c and s.
template <real T>
void rot(const device& dev, view<complex_interval<T>> x, view<complex_interval<T>> y,
         std::type_identity_t<interval<T>> c, std::type_identity_t<interval<T>> s);

}  // namespace vouch
