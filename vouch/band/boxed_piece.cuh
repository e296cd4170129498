// vouch/band/boxed_piece.cuh -- a lane's rows in shared memory as boxes of the copy engine hold them, reduced
// to their relation or solved from their ends; private.
//
// A warp's tile is 32 pieces of 32 rows, one after another in memory: to the copy engine a piece is a line, and
// a box holds 16 rows, 128 bytes, of all of them. Swizzled, 16 bytes of eight lanes lie on different banks: a
// lane reads and writes pairs of rows.
#pragma once
#include <vouch/band/exchanges.cuh>

namespace vouch::detail {

constexpr int boxed_rows = 32;                      // of a piece
constexpr int box_rows = 16;                        // 128 bytes
constexpr int boxed_tile_rows = 32 * boxed_rows;    // of a warp
constexpr int box_numbers = 32 * box_rows;          // of an array
constexpr int half_tile_numbers = 4 * box_numbers;  // arrays a, d, c, f: rows as in piece.cuh

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
      const pairs rows(*this, quarter);
      if (quarter == 0) {
        at = relation_of(rows.row(0), rows.row(1));
      } else {
        append_only(at, rows.row(0));
        append_only(at, rows.row(1));
      }
#pragma unroll
      for (int k = 2; k < 2 * pairs::count; ++k) append_only(at, rows.row(k));
    }
  }

  /// The unknowns take the place of d. Returns false where one is no number.
  __device__ bool solve(const ends<double>& known) const { return fill(eliminate(known), known); }

 private:
  using eliminated = known_left<double>::eliminated;

  // Rows of a quarter of the piece, which have been read.
  struct pairs {
    static constexpr int count = 4;
    double2 a[count], d[count], c[count], f[count];
    __device__ pairs(const boxed_piece& of, int quarter) {
#pragma unroll
      for (int k = 0; k < count; ++k) {
        a[k] = of.pair(0, quarter * count + k);
        d[k] = of.pair(1, quarter * count + k);
        c[k] = of.pair(2, quarter * count + k);
        f[k] = of.pair(3, quarter * count + k);
      }
    }
    __device__ band_row<double> row(int k) const {
      return balanced(k % 2 == 0 ? band_row<double>{a[k / 2].x, d[k / 2].x, c[k / 2].x, f[k / 2].x}
                                 : band_row<double>{a[k / 2].y, d[k / 2].y, c[k / 2].y, f[k / 2].y});
    }
  };

  // The rows of unknowns 1 to 30 become x_k + c x_{k+1} + a x_{k+2} = f, the last of them the answer.
  __device__ eliminated eliminate(const ends<double>& known) const {
    known_left<double> at;
    eliminated even{};  // of the first row of a pair whose second one has yet to go
#pragma unroll 1
    for (int quarter = 0; quarter < boxed_rows / 2 / pairs::count; ++quarter) {
      const pairs rows(*this, quarter);
#pragma unroll
      for (int k = 0; k < pairs::count; ++k) {
        if (k == 0 && quarter == 0) {
          at = start_known(rows.row(0), rows.row(1), known.left, known.first);
          continue;
        }
        const eliminated odd = append_known(at, rows.row(2 * k));
        const int before = quarter * pairs::count + k - 1;
        pair(0, before) = {even.after, odd.after};
        pair(2, before) = {even.next, odd.next};
        pair(3, before) = {even.rhs, odd.rhs};
        even = append_known(at, rows.row(2 * k + 1));
      }
    }
    return even;
  }
  __device__ bool fill(const eliminated& last, const ends<double>& known) const {
    constexpr int at_once = 5;
    static_assert((boxed_rows / 2 - 1) % at_once == 0);
    double x2 = known.last, x1 = last.rhs - last.next * known.last - last.after * known.right;
    double rest = known.first * 0 + known.last * 0 + x1 * 0;
    pair(1, boxed_rows / 2 - 1) = {x1, x2};
#pragma unroll 1
    for (int above = boxed_rows / 2 - 1; above > 0; above -= at_once) {
      double2 a[at_once], c[at_once], f[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        a[k] = pair(0, above - 1 - k);
        c[k] = pair(2, above - 1 - k);
        f[k] = pair(3, above - 1 - k);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        x2 = f[k].y - a[k].y * x2 - c[k].y * x1;  // the odd one
        x1 = above - 1 - k > 0 ? f[k].x - a[k].x * x1 - c[k].x * x2 : known.first;
        rest = x2 * 0 + (x1 * 0 + rest);
        pair(1, above - 1 - k) = {x1, x2};
      }
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
