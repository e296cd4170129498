// vouch/band/boxed_piece.cuh -- a lane's rows in shared memory as boxes of the copy engine hold them, reduced
// to their relation or solved from their ends; private.
//
// A warp's tile is 32 pieces of 32 rows, one after another in memory: to the copy engine a piece is a line, and
// a box holds 16 rows, 128 bytes, of all of them. Swizzled, 16 bytes of eight lanes lie on different banks: a
// lane reads and writes pairs of rows.
#pragma once
#include <vouch/band/exchanges.cuh>
#include <vouch/band/separators.cuh>

namespace vouch::detail {

constexpr int boxed_rows = 32;                      // of a piece
constexpr int box_rows = 16;                        // 128 bytes
constexpr int boxed_tile_rows = 32 * boxed_rows;    // of a warp
constexpr int box_numbers = 32 * box_rows;          // of an array
constexpr int half_tile_numbers = 4 * box_numbers;  // arrays a, d, c, f: rows as in piece.cuh

/// The run of a lane's rows so far, where all of them dominate. At first x_f is x_l.
struct dominant_run {
  row_run<double> run;
  int dominant = 1;  // so far

  __device__ void begin(const band_row<double>& row) {
    run = {0, -1, 0, row.a, row.d, row.c, row.f};
    dominant = dominant_row(row);
  }
  __device__ void append(const band_row<double>& row) {
    dominant &= dominant_row(row);
    const double inverse = inverse_of(run.diagonal);
    const double spike = run.before * inverse, up = run.after * inverse, rhs = run.rhs * inverse;
    run.first_rhs -= run.first_last * rhs;
    run.first_before -= run.first_last * spike;
    run.first_last = -run.first_last * up;
    run.before = -row.a * spike;
    run.diagonal = row.d - row.a * up;
    run.after = row.c;
    run.rhs = row.f - row.a * rhs;
  }
  __device__ relation<double> whole() const {
    return balanced(relation<double>{{run.first_before, run.before},
                                     {1, 0},
                                     {run.first_last, run.diagonal},
                                     {0, run.after},
                                     {run.first_rhs, run.rhs}});
  }
};

class boxed_piece {
 public:
  __device__ boxed_piece(double* tile, int lane) : tile_(tile), lane_(lane) {}

  /// A number of any piece of the tile.
  __device__ double& number(int array, int piece, int row) const {
    return tile_[place(array, piece, row / 2) + row % 2];
  }

  /// The rows of one half behind those of the other: both make the relation of the piece.
  __device__ void reduce_half(int half, relation<double>& at) const {
#pragma unroll 1
    for (int quarter = 2 * half; quarter < 2 * half + 2; ++quarter) {
      const pairs<4> rows(*this, 4 * quarter);
      if (quarter == 0) {
        at = relation_of(rows.row(0), rows.row(1));
      } else {
        append_only(at, rows.row(0));
        append_only(at, rows.row(1));
      }
#pragma unroll
      for (int k = 2; k < 8; ++k) append_only(at, rows.row(k));
    }
  }

  /// Likewise without interchanges.
  __device__ void reduce_half(int half, dominant_run& at) const {
#pragma unroll 1
    for (int quarter = 2 * half; quarter < 2 * half + 2; ++quarter) {
      const pairs<4> rows(*this, 4 * quarter);
      if (quarter == 0)
        at.begin(rows.as_it_is(0));
      else
        at.append(rows.as_it_is(0));
#pragma unroll
      for (int k = 1; k < 8; ++k) at.append(rows.as_it_is(k));
    }
  }

  /// The unknowns take the place of d. Returns false where one is no number. From both ends to the middle and
  /// back: two chains of instructions that do not wait for each other.
  __device__ bool solve(const ends<double>& known) const {
    sides at;
    eliminated open[2];
    eliminate(known, at, open);
    equation<double> middle[4];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      middle[2 * k] = {at[0].last[k], at[0].right[k], at[0].rhs[k]};
      middle[2 * k + 1] = {at[1].right[k], at[1].last[k], at[1].rhs[k]};
    }
    double upper, lower;
    solve_equations(middle, upper, lower);
    return fill(open, known, upper, lower);
  }

  /// The same without interchanges, where all rows dominate.
  __device__ bool solve_dominant(const ends<double>& known) const {
    // x_k = y - up x_{k+1} above the middle, x_k = z - down x_{k-1} below it; they take the places of c and f.
    double up = 0, y = known.first, down = 0, z = known.last;
#pragma unroll 1
    for (int first = 0; first < all_pairs / 2; first += 2) {
      const pairs<2> upper(*this, first), lower(*this, all_pairs - first - 2);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int here = first + k, there = all_pairs - 1 - here, of_lower = 2 * (1 - k);
        if (k > 0 || first > 0) {
          sweep(upper.as_it_is(2 * k), up, y);
          sweep(mirrored(lower.as_it_is(of_lower + 1)), down, z);
        }
        const double outer[4] = {up, y, down, z};
        sweep(upper.as_it_is(2 * k + 1), up, y);
        sweep(mirrored(lower.as_it_is(of_lower)), down, z);
        pair(2, here) = {outer[0], up};
        pair(3, here) = {outer[1], y};
        pair(2, there) = {down, outer[2]};
        pair(3, there) = {z, outer[3]};
      }
    }
    constexpr int half = all_pairs / 2;
    // The next unknown towards the middle, from above and from below.
    double l = (z - down * y) * inverse_of(1 - down * up), u = l, rest = 0;
    l = y - up * l;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const int here = half - 1 - k, there = half + k;
      const double2 c = pair(2, here), f = pair(3, here), e = pair(2, there), g = pair(3, there);
      const double odd = f.y - c.y * u, even = g.x - e.x * l;
      u = f.x - c.x * odd;
      l = g.y - e.y * even;
      rest = odd * 0 + (even * 0 + (u * 0 + (l * 0 + rest)));
      pair(1, here) = {u, odd};
      pair(1, there) = {even, l};
    }
    return rest == 0;
  }

 private:
  using eliminated = known_left<double>::eliminated;
  using sides = known_left<double>[2];  // from the first row on, and from the last one, mirrored
  static constexpr int all_pairs = boxed_rows / 2;

  // Rows that have been read.
  template <int Count>
  struct pairs {
    static constexpr int count = Count;
    double2 a[count], d[count], c[count], f[count];
    __device__ pairs(const boxed_piece& of, int first) {
#pragma unroll
      for (int k = 0; k < count; ++k) {
        a[k] = of.pair(0, first + k);
        d[k] = of.pair(1, first + k);
        c[k] = of.pair(2, first + k);
        f[k] = of.pair(3, first + k);
      }
    }
    __device__ band_row<double> as_it_is(int k) const {
      return k % 2 == 0 ? band_row<double>{a[k / 2].x, d[k / 2].x, c[k / 2].x, f[k / 2].x}
                        : band_row<double>{a[k / 2].y, d[k / 2].y, c[k / 2].y, f[k / 2].y};
    }
    __device__ band_row<double> row(int k) const { return balanced(as_it_is(k)); }
    __device__ band_row<double> mirrored(int k) const { return boxed_piece::mirrored(row(k)); }
  };

  __device__ static band_row<double> mirrored(const band_row<double>& of) { return {of.c, of.d, of.a, of.f}; }
  // The next row of a sweep: x_k = y - up x_{k+1}.
  __device__ static void sweep(const band_row<double>& row, double& up, double& y) {
    const double inverse = inverse_of(row.d - row.a * up);
    y = (row.f - row.a * y) * inverse;
    up = row.c * inverse;
  }

  __device__ void keep(int k, const eliminated& even, const eliminated& odd) const {
    pair(0, k) = {even.after, odd.after};
    pair(2, k) = {even.next, odd.next};
    pair(3, k) = {even.rhs, odd.rhs};
  }
  // Upper rows become x_k + c x_{k+1} + a x_{k+2} = f, lower ones x_k + c x_{k-1} + a x_{k-2} = f. open: those
  // next to the middle, of which nothing is kept.
  __device__ void eliminate(const ends<double>& known, sides& at, eliminated (&open)[2]) const {
    constexpr int at_once = 2;
    open[0] = open[1] = {};
#pragma unroll 1
    for (int first = 0; first < all_pairs / 2; first += at_once) {
      const pairs<at_once> upper(*this, first), lower(*this, all_pairs - first - at_once);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int here = first + k, there = all_pairs - 1 - here, of_lower = 2 * (at_once - 1 - k);
        const band_row<double> outer[2] = {upper.row(2 * k), lower.mirrored(of_lower + 1)},
                               inner[2] = {upper.row(2 * k + 1), lower.mirrored(of_lower)};
        if (k == 0 && first == 0) {
          at[0] = start_known(outer[0], inner[0], known.left, known.first);
          at[1] = start_known(outer[1], inner[1], known.right, known.last);
          continue;
        }
        eliminated gone[2];
        append_known(at, outer, gone);
        keep(here - 1, open[0], gone[0]);
        keep(there + 1, gone[1], open[1]);
        append_known(at, inner, open);
      }
    }
  }
  // upper and lower: the unknowns in the middle.
  __device__ bool fill(const eliminated (&open)[2], const ends<double>& known, double upper,
                       double lower) const {
    constexpr int half = all_pairs / 2;
    double u1 = open[0].rhs - open[0].next * upper - open[0].after * lower, u2 = upper;
    double l1 = open[1].rhs - open[1].next * lower - open[1].after * upper, l2 = lower;
    double rest = known.first * 0 + known.last * 0 + u1 * 0 + l1 * 0;
    pair(1, half - 1) = {u1, u2};
    pair(1, half) = {l2, l1};
#pragma unroll
    for (int k = 1; k < half; ++k) {
      const int here = half - 1 - k, there = half + k;
      const double2 a = pair(0, here), c = pair(2, here), f = pair(3, here);
      const double2 b = pair(0, there), e = pair(2, there), g = pair(3, there);
      u2 = f.y - a.y * u2 - c.y * u1;
      l2 = g.x - b.x * l2 - e.x * l1;
      u1 = here > 0 ? f.x - a.x * u1 - c.x * u2 : known.first;
      l1 = here > 0 ? g.y - b.y * l1 - e.y * l2 : known.last;
      rest = u2 * 0 + (l2 * 0 + (u1 * 0 + (l1 * 0 + rest)));
      pair(1, here) = {u1, u2};
      pair(1, there) = {l2, l1};
    }
    return rest == 0;
  }

  __device__ static int place(int array, int piece, int pair) {
    return (pair / 8) * half_tile_numbers + array * box_numbers + piece * box_rows +
           ((pair % 8) ^ (piece % 8)) * 2;
  }
  __device__ double2& pair(int array, int k) const {
    return *reinterpret_cast<double2*>(tile_ + place(array, lane_, k));
  }

  double* tile_;
  int lane_;
};

}  // namespace vouch::detail
