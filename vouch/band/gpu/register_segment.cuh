// vouch/band/gpu/register_segment.cuh -- a thread's run of rows in registers, condensed to its reduced
// block and filled in; private.
//
// As in segment.cuh the rows are eliminated in place, and the outer rows yield as pivots. Fewer instructions
// than there: a row may have any factor, so that no candidates for the pivot are interchanged.
#pragma once
#include <vouch/band/gpu/segment.cuh>

namespace vouch::detail {

constexpr int register_rows = 17;  // the most that registers have room for; odd, see rows_a_thread

/// Nothing to do between the rows that are reduced.
struct nothing_between {
  __device__ void operator()(int) const {}
};

/// Row k is a[k] x_{k-1} + d[k] x_k + c[k] x_{k+1} = f[k]; those behind the system's last are rows of the
/// identity.
template <real T, int Rows = register_rows>
struct register_segment {
  T a[Rows], d[Rows], c[Rows], f[Rows];

  /// Zeros where entries are not used, rows of the identity behind the last of `left` rows.
  __device__ void complete(bool begins, bool ends, int left) {
    if (begins) a[0] = 0;
    if (left > Rows) return;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      if (k >= left || (ends && k == left - 1)) c[k] = 0;
      if (k < left) continue;
      a[k] = f[k] = 0;
      d[k] = 1;
    }
  }

  /// True where all rows dominate and `asked`. The whole warp calls it, and seldom looks at more than
  /// three rows of each of its segments where few rows dominate.
  __device__ bool dominates(bool asked = true) const {
    bool all = asked;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      all = all && fabs(d[k]) >= fabs(a[k]) + fabs(c[k]) && invertible(d[k]);
      if (k == 2 && !__any_sync(~0u, all)) return false;
    }
    return all;
  }

  /// The reduced block of the rows, with pivoting. far: bit k is eliminated::far of row k. between(k) is
  /// called once row k, a constant, has gone.
  template <class Between = nothing_between>
  __device__ reduced_block<T> reduce_pivoted(unsigned& far, const Between& between = {}) {
    reduced_block<T> at = reduced_block_of(balanced(row(0)), balanced(row(1)));
#pragma unroll
    for (int k = 1; k < Rows - 1; ++k) {
      const eliminated<T> gone = append(at, balanced(row(k + 1)));
      c[k] = gone.next;
      a[k] = gone.other;
      d[k] = gone.left;
      f[k] = gone.rhs;
      far |= gone.far ? 1u << k : 0u;
      between(k);
    }
    return at;
  }
  /// The unknowns from the boundary unknowns into d. Returns false where one is no number.
  __device__ bool fill_pivoted(unsigned far, const boundary_unknowns<T>& known) {
    T x1 = known.last, x2 = known.right, rest = 0;
#pragma unroll
    for (int k = Rows - 2; k > 0; --k) {
      const T other = (far >> k & 1) != 0 ? x2 : known.first;
      d[k] = f[k] - d[k] * known.left - a[k] * other - c[k] * x1;
      rest = d[k] * 0 + rest;
      x2 = x1;
      x1 = d[k];
    }
    return finish(known, rest);
  }

  /// The same for rows that all dominate. Leaves x_k + c[k] x_{k+1} + a[k] x_first = f[k] for the inner ones.
  ///
  /// Beside the sweep down runs x_{first+1} = g - s x_first - u x_{k+1}, the same row seen from above.
  template <class Between = nothing_between>
  __device__ reduced_block<T> reduce_dominant(const Between& between = {}) {
    T up = 0, spike = -1, rhs = 0;  // row `first` as x_first = x_first
    T g = 0, s = 0, u = -1;
#pragma unroll
    for (int k = 1; k < Rows - 1; ++k) {
      const T inverse = inverse_of(d[k] - a[k] * up);
      spike = -a[k] * inverse * spike;
      rhs = (f[k] - a[k] * rhs) * inverse;
      up = c[k] * inverse;
      g = g - u * rhs;
      s = s - u * spike;
      u = -u * up;
      a[k] = spike;
      c[k] = up;
      f[k] = rhs;
      between(k);
    }
    constexpr int last = Rows - 1;
    return {{a[0], T{0}},
            {d[0] - c[0] * s, -a[last] * spike},
            {-c[0] * u, d[last] - a[last] * up},
            {T{0}, c[last]},
            {f[0] - c[0] * g, f[last] - a[last] * rhs}};
  }
  /// Likewise.
  __device__ bool fill_dominant(const boundary_unknowns<T>& known) {
    T next = known.last, rest = 0;
#pragma unroll
    for (int k = Rows - 2; k > 0; --k) {
      d[k] = next = f[k] - a[k] * known.first - c[k] * next;
      rest = next * 0 + rest;
    }
    return finish(known, rest);
  }

 private:
  __device__ band_row<T> row(int k) const { return {a[k], d[k], c[k], f[k]}; }

  // Puts the boundary unknowns into d, and says whether all unknowns are numbers: rest is 0 times those
  // between.
  __device__ bool finish(const boundary_unknowns<T>& known, T rest) {
    d[Rows - 1] = known.last;
    d[0] = known.first;
    return known.first * 0 + known.last * 0 + rest == 0;
  }

  // append_keeping() of segment.cuh. What is left of the two candidates is one times the other's entry
  // minus the other times the one's, over the pivot: the same whichever that is, but for a sign that does
  // not matter. An outer row that is much larger is added to its fellow instead of being interchanged with
  // it.
  __device__ static eliminated<T> append(reduced_block<T>& at, const band_row<T>& row) {
    constexpr T pivot_threshold = 2;
    const T outer = at.last[0] * (1 / pivot_threshold);
    if (fabs(outer) > fabs(row.a) && fabs(outer) > fabs(at.last[1])) {
      asm volatile("");  // rare: a branch, not additions in every row
      at.left[1] += at.left[0];
      at.first[1] += at.first[0];
      at.last[1] += at.last[0];
      at.right[1] += at.right[0];
      at.rhs[1] += at.rhs[0];
    }
    const bool far = fabs(row.a) > fabs(at.last[1]);  // not where the outer row has just been added
    const T inverse = inverse_of(far ? row.a : at.last[1]), multiple = -at.last[0];
    const T of_row = -at.last[1] * inverse, of_last = row.a * inverse;
    eliminated<T> gone;
    gone.far = far;
    if (far) {  // short enough for instructions with a condition, fewer than selections before each product
      gone.next = row.d * inverse;
      gone.other = row.c * inverse;
      gone.left = 0;
      gone.rhs = row.f * inverse;
      at.last[0] = at.right[0] + multiple * gone.next;
      at.right[0] = multiple * gone.other;
    } else {
      gone.next = at.right[1] * inverse;
      gone.other = at.first[1] * inverse;
      gone.left = at.left[1] * inverse;
      gone.rhs = at.rhs[1] * inverse;
      at.last[0] = at.right[0] + multiple * gone.next;
      at.right[0] = 0;
      at.left[0] += multiple * gone.left;
      at.first[0] += multiple * gone.other;
    }
    at.rhs[0] += multiple * gone.rhs;
    at.last[1] = (row.a * at.right[1] - at.last[1] * row.d) * inverse;
    at.rhs[1] = at.rhs[1] * of_last + row.f * of_row;
    at.right[1] = row.c * of_row;
    at.left[1] *= of_last;
    at.first[1] *= of_last;
    return gone;
  }
};

}  // namespace vouch::detail
