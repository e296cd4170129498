// vouch/verify/tridiagonal/comparison_elimination.cuh -- the comparison matrix of a tridiagonal system, solved in
// parallel; private.
//
// Each thread eliminates the rows of a piece but the last, which leaves a reduced system of the last rows; that is
// solved by parallel cyclic reduction. Nothing is proved of the result.
#pragma once
namespace vouch::detail {

/// An unknown from two others: value + lower times the one before + upper times the one behind; missing = 1 -
/// lower - upper. Of a row divided by its diagonal at first.
template <class Real>
struct comparison_relation {
  Real lower, upper, missing, value;
};

__device__ inline float about_inverse(float p) {
  const float y = __fdividef(1.0f, p);
  return fmaf(y, fmaf(-p, y, 1.0f), y);
}
__device__ inline double about_inverse(double p) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(p));
  y = fma(y, fma(-p, y, 1.0), y);
  return fma(y, fma(-p, y, 1.0), y);
}

/// A row of the comparison matrix, divided by its diagonal; the right-hand side with it.
template <class Real>
__device__ comparison_relation<Real> comparison_row(const double (&a)[3]) {
  const double l = fabs(a[0]), d = fabs(a[1]), u = fabs(a[2]), inverse = about_inverse(d);
  return {static_cast<Real>(l * inverse), static_cast<Real>(u * inverse),
          static_cast<Real>((d - (l + u)) * inverse), 1};
}

/// One step of cyclic reduction: substitutes the relations of both neighbours, each to this unknown and one more.
template <class Real>
__device__ comparison_relation<Real> through(const comparison_relation<Real>& own,
                                             const comparison_relation<Real>& below,
                                             const comparison_relation<Real>& above) {
  const Real w = about_inverse(own.missing + own.lower * (below.missing + below.lower) +
                               own.upper * (above.missing + above.upper));
  return {own.lower * below.lower * w, own.upper * above.upper * w,
          (own.missing + own.lower * below.missing + own.upper * above.missing) * w,
          (own.value + own.lower * below.value + own.upper * above.value) * w};
}

/// The ends of a piece: its last row seen and its first, from the row before the piece and the one behind the
/// last seen.
template <class Real>
struct comparison_piece {
  comparison_relation<Real> last{1, 0, 0, 0}, first{0, 1, 0, 0};

  /// The next row, for all but the last. Returns it from the row before the piece and the one behind.
  __device__ comparison_relation<Real> take(const comparison_relation<Real>& row) {
    last = through(row, last, {0, 1, 0, 0});
    first.value += first.upper * last.value;
    first.missing += first.upper * last.missing;
    first.lower += first.upper * last.lower;
    first.upper *= last.upper;
    return last;
  }
};

/// The unknown of the last row of each piece, a power of two of them in a ring: after ring.publish(mine)
/// ring.published(distance) is what the piece so far away published. All threads call it; where a piece has no rows
/// its last one is related to nothing.
template <class Real, class Ring>
__device__ Real solve_for_last(const comparison_relation<Real>& row, const comparison_piece<Real>& piece,
                               int pieces, Ring& ring) {
  ring.publish(piece.first);
  comparison_relation<Real> own = through(row, piece.last, ring.published(1));
  for (int distance = 1; distance < pieces; distance *= 2) {
    ring.publish(own);
    own = through(own, ring.published(-distance), ring.published(distance));
  }
  return own.value * about_inverse(own.missing);
}

}  // namespace vouch::detail
