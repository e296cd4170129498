// vouch/dense/elementwise.hpp -- hull, intersection, midpoints and radii of intervals, element by element.
//
// For all routines of this header:
//
// Shapes  Vectors of one call have the same size and any stride other than 0.
// Types   T is float or double.
// Memory  On dev. The result may be an operand, and overlaps none otherwise. On a GPU only enqueued.
// Result  As the functions of these names for single intervals. Same bits on every device.
// Cost    Each element read and written once.
// Throws  shape_error  sizes differ; the text has both
//         value_error  an operand does not lie on dev
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/functions.hpp>

namespace VOUCH_PUBLIC vouch {

/// z_i := the smallest interval that holds x_i and y_i
template <real T>
void hull(const device& dev, view<const interval<T>> x, view<const interval<T>> y, view<interval<T>> z);

/// z_i := what x_i and y_i have in common, which may be empty
template <real T>
void intersection(const device& dev, view<const interval<T>> x, view<const interval<T>> y, view<interval<T>> z);

/// m_i := the midpoint of x_i
template <real T>
void mid(const device& dev, view<const interval<T>> x, view<T> m);

/// r_i := the smallest radius around the midpoint of x_i that encloses x_i
template <real T>
void rad(const device& dev, view<const interval<T>> x, view<T> r);

/// x_i := the smallest interval around the ball with the midpoint m_i and the radius r_i
template <real T>
void enclose(const device& dev, view<const T> m, view<const T> r, view<interval<T>> x);

}  // namespace vouch
