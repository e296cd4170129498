// vouch/dense/ball_matrix.hpp -- matrices of balls: midpoints and radii side by side.
#pragma once
#include <vouch/core/error.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/elementwise.hpp>
#include <vouch/dense/matrix.hpp>

namespace VOUCH_PUBLIC vouch {

/// Entry (i, j) is the ball around mid(i, j) of radius rad(i, j), as ball<T> means it.
template <real T>
struct ball_matrix {
  matrix<T> mid, rad;
};

/// The ball around each interval that has the midpoint to nearest: no ball of numbers of type T around the
/// interval has a smaller radius.
///
/// Memory  On A's device; on a GPU only enqueued.
/// Cost    Each entry read twice and written once.
/// Source  Rump, BIT 39 (1999), theorem 3.6.
template <real T>
ball_matrix<T> to_balls(const matrix<interval<T>>& A) {
  ball_matrix<T> balls{{A.where(), A.rows(), A.cols()}, {A.where(), A.rows(), A.cols()}};
  const std::int64_t count = A.rows() * A.cols();
  mid<T>(A.where(), {A.data(), count}, {balls.mid.data(), count});
  rad<T>(A.where(), {A.data(), count}, {balls.rad.data(), count});
  return balls;
}

/// The smallest interval around each ball.
///
/// Memory  On the balls' device; on a GPU only enqueued.
/// Throws  shape_error  midpoints and radii of different shapes
template <real T>
matrix<interval<T>> to_intervals(const ball_matrix<T>& balls) {
  const matrix<T>& m = balls.mid;
  if (m.rows() != balls.rad.rows() || m.cols() != balls.rad.cols())
    throw shape_error("to_intervals: midpoints are " + shape_text(m.rows(), m.cols()) + " and radii " +
                      shape_text(balls.rad.rows(), balls.rad.cols()));
  matrix<interval<T>> A(m.where(), m.rows(), m.cols());
  const std::int64_t count = m.rows() * m.cols();
  enclose<T>(m.where(), {m.data(), count}, {balls.rad.data(), count}, {A.data(), count});
  return A;
}

}  // namespace vouch
