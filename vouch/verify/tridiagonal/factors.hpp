// vouch/verify/tridiagonal/factors.hpp -- factors near a tridiagonal matrix whose inverses can be bounded;
// private, CPU and GPU.
//
// For systems whose comparison matrix proves nothing. Elimination without interchanges, a pivot being one entry
// or a square of two rows, gives L and U near A, E = L U - A: L has the unit matrix in the places of its pivots
// and one row of multipliers left of each, U the pivots and A's entries above them. In their inverses every
// entry is one product of entries and of inverses of pivots, so that the same with magnitudes gives |L^-1| and
// |U^-1|. With v >= |U^-1| |L^-1| w, w > 0 and |E| v <= delta w, delta < 1, |A^-1 r| <= max_i (|r_i| / w_i) /
// (1 - delta) v.
//
// A periodic matrix is factored without its last row and column, see bordered_factors.hpp.
//
// Nothing depends on how pivots were found: systems are cut into chunks that find theirs at the same time, each
// from some rows before it, since most recurrences forget where they began; E shows where they do not. The sums
// with magnitudes are linear in what comes from the neighbouring chunk, base + slope times that, all rounded
// upwards.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/verify/outward.hpp>
#include <vouch/verify/tridiagonal/row_certificate.hpp>

namespace vouch::detail {

/// The task that the steps below share, in their order.
struct tridiagonal_factors {
  tridiagonal_view<const double> A;
  batch_shape shape;  // of v
  uncertainty within;
  bool bordered;  // the last row and column of every system are left out
  const std::int64_t* systems;
  std::int64_t rows, chunks;  // rows a chunk, chunks of the longest system; no pivot is of two chunks
  double* pivot;              // scratch, stored as v is: `second` in the second row of a square
  double* v;                  // of these systems
  double* base;               // scratch of every chunk of these systems
  double* slope;              // likewise
  double* margin;             // of each system: at most 1 - delta, or 0 where nothing was proved

  // Pivots of a chunk begin as transfers say, or so many rows before it.
  double* start;     // of every chunk of these systems; nullptr: there are none
  double* transfer;  // scratch, four for each
  std::int64_t rows_before;

  static constexpr double second = HUGE_VAL;

  struct chunk {
    std::int64_t system, begin, end, n;
    bool last;
  };
  VOUCH_HOST_DEVICE chunk chunk_of(std::int64_t k) const {
    const std::int64_t s = systems[k / chunks], n = factored_rows(s), begin = k % chunks * rows;
    const std::int64_t end = begin + rows < n ? begin + rows : n;
    return {s, begin, end, n, end == n};
  }
  VOUCH_HOST_DEVICE std::int64_t factored_rows(std::int64_t s) const {
    return shape.rows(s) - (bordered ? 1 : 0);
  }
  VOUCH_HOST_DEVICE tridiagonal_row row_at(std::int64_t s, std::int64_t i) const {
    tridiagonal_row row(A, shape, s, i);
    if (bordered && i == 0) row.l = 0, row.lower = row.here;
    if (bordered && i + 1 == factored_rows(s)) row.u = 0, row.upper = row.here;
    return row;
  }

  /// What L has left of a row's pivot.
  struct multipliers {
    double far = 0, near = 0;  // of rows i - 2 and i - 1
  };
  /// The pivot before a row: of one row, `last`, or of two.
  struct pivot_before {
    bool square;
    double p;
    tridiagonal_row first, last;

    VOUCH_HOST_DEVICE multipliers of(const tridiagonal_row& row) const {
      if (row.l == 0) return {};
      if (!square) return {0, row.l / p};
      const double det = rounded_product(p, last.d) - rounded_product(last.l, first.u);
      return {-rounded_product(row.l, last.l / det), rounded_product(row.l, p / det)};
    }
  };
  /// That of row i > 0, as it was found.
  VOUCH_HOST_DEVICE pivot_before found_before(std::int64_t s, std::int64_t i) const {
    const tridiagonal_row last = row_at(s, i - 1);
    const bool square = pivot[last.here] == second;
    const tridiagonal_row first = square ? row_at(s, i - 2) : last;
    return {square, pivot[first.here], first, last};
  }
  /// Whether the pivot of row i is a square with the row after it: where p alone is so small that the next one
  /// would be larger than 2.6 times its row's weight, at most.
  VOUCH_HOST_DEVICE bool takes_square(const chunk& of, std::int64_t i, double p,
                                      const tridiagonal_row& row) const {
    if (i + 1 == of.n || (i + 1) % rows == 0) return false;
    constexpr double golden = 0.6180339887498949;
    const tridiagonal_row next = row_at(of.system, i + 1);
    return std::fabs(p) * row_weight(next) < golden * std::fabs(row.u) * std::fabs(next.l);
  }

  /// At least |near| a + |far| b.
  VOUCH_HOST_DEVICE static double through(const multipliers& m, double a, double b) {
    const double sum = m.near == 0 ? 0 : outward::product_above(std::fabs(m.near), a);
    return m.far == 0 ? sum : outward::sum_above(sum, outward::product_above(std::fabs(m.far), b));
  }
  VOUCH_HOST_DEVICE static double fused_above(double a, double x, double y) {
    return x == 0 || a == 0 ? y : outward::sum_above(y, outward::product_above(a, x));
  }

  // v := |U^-1| v in a chunk, from what is known of the row behind it; store: else v remains, and only the first
  // row's base and slope are found.
  template <bool Store>
  VOUCH_HOST_DEVICE void substitute(std::int64_t k, const chunk& of, double later, double slope_later) const {
    for (std::int64_t i = of.end - 1; i >= of.begin; --i) {
      const tridiagonal_row row = row_at(of.system, i);
      const double y = fused_above(std::fabs(row.u), later, v[row.here]);
      const double y_slope = fused_above(std::fabs(row.u), slope_later, 0);
      if (pivot[row.here] != second) {
        const double p = std::fabs(pivot[row.here]);
        later = outward::quotient_above(y, p);
        slope_later = y_slope == 0 ? 0 : outward::quotient_above(y_slope, p);
      } else {
        const tridiagonal_row first = row_at(of.system, --i);
        const double p = pivot[first.here], x = v[first.here], det = least_determinant(p, first, row);
        later = outward::quotient_above(
            fused_above(std::fabs(row.d), x, outward::product_above(std::fabs(first.u), y)), det);
        slope_later = y_slope == 0
                          ? 0
                          : outward::quotient_above(outward::product_above(std::fabs(first.u), y_slope), det);
        if (Store)
          v[row.here] = outward::quotient_above(
              fused_above(std::fabs(row.l), x, outward::product_above(std::fabs(p), y)), det);
        if (Store) v[first.here] = later;
        continue;
      }
      if (Store) v[row.here] = later;
    }
    base[k] = later;
    slope[k] = slope_later;
  }
  /// At most |p d - l u|; NaN where that is not positive.
  VOUCH_HOST_DEVICE static double least_determinant(double p, const tridiagonal_row& first,
                                                    const tridiagonal_row& last) {
    const double low = sub_down(mul_down(p, last.d), mul_up(last.l, first.u)),
                 high = sub_up(mul_up(p, last.d), mul_down(last.l, first.u));
    const double det = ::fmax(low, -high);
    return det > 0 ? det : rounding::not_a_number<double>;
  }
};

/// transfer of a chunk := how the last two leading minors before it make its last two, scaled by any number. A
/// pivot, of one row alone, is a quotient of leading minors that follow one another.
struct tridiagonal_transfer_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const chunk of = chunk_of(k);
    double here[2] = {1, 0}, before[2] = {0, 1};
    double u = of.begin > 0 && of.begin < of.end ? row_at(of.system, of.begin - 1).u : 0;
    for (std::int64_t i = of.begin; i < of.end; ++i) {
      const tridiagonal_row row = row_at(of.system, i);
      const double lu = row.l * u;
      u = row.u;
      for (int c = 0; c < 2; ++c) {
        const double next = row.d * here[c] - lu * before[c];
        before[c] = here[c];
        here[c] = next;
      }
      if (i % 4 != 3) continue;
      const double size = ::fmax(::fmax(std::fabs(here[0]), std::fabs(here[1])),
                                 ::fmax(std::fabs(before[0]), std::fabs(before[1])));
      const double scale = size > 0 ? 1 / size : 1;
      for (int c = 0; c < 2; ++c) here[c] *= scale, before[c] *= scale;
    }
    double* const to = transfer + 4 * k;
    to[0] = here[0], to[1] = here[1], to[2] = before[0], to[3] = before[1];
  }
};

/// start of a chunk := its first pivot, from the transfers of those before it, for every system.
struct tridiagonal_start_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t s = systems[k], n = factored_rows(s);
    double here = 1, before = 0;
    for (std::int64_t c = k * chunks, i = 0; i < n; ++c, i += rows) {
      const tridiagonal_row row = row_at(s, i);
      start[c] = row.d - (i == 0 ? 0 : row.l * row_at(s, i - 1).u * (before / here));
      if (i + rows >= n) return;
      const double* const of = transfer + 4 * c;
      const double next = of[0] * here + of[1] * before;
      before = of[2] * here + of[3] * before;
      here = next;
      const double size = ::fmax(std::fabs(here), std::fabs(before));
      if (size > 0) here /= size, before /= size;
    }
  }
};

/// Pivots of a chunk, and v := |L^-1| w as if nothing came from before it; base and slope: what goes to the
/// chunk behind it.
struct tridiagonal_eliminate_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const chunk of = chunk_of(k);
    if (of.begin >= of.end) return;
    const std::int64_t ahead = start != nullptr ? 0 : rows_before;
    const std::int64_t first = of.begin > ahead ? of.begin - ahead : 0;
    pivot_before previous{false, 1, row_at(of.system, first), row_at(of.system, first)};
    double y[2] = {0, 0}, g[2] = {0, 0};  // of the last row and the one before: v, and its slope
    for (std::int64_t i = first; i < of.end; ++i) {
      const tridiagonal_row row = row_at(of.system, i);
      const multipliers m = i > first ? previous.of(row) : multipliers{};
      const double p = i > first          ? row.d - rounded_product(m.near, previous.last.u)
                       : start != nullptr ? start[k]
                                          : row.d;
      const bool own = i >= of.begin, square = takes_square(of, i, p, row);
      const double value = outward::sum_above(row_weight(row), i > of.begin ? through(m, y[0], y[1]) : 0.0);
      const double part = i > of.begin ? through(m, g[0], g[1]) : 1.0;
      previous = {square, p, row, row};
      y[1] = y[0], y[0] = value;
      g[1] = g[0], g[0] = part;
      if (own) pivot[row.here] = rounding::finite(p) ? p : rounding::not_a_number<double>;
      if (own) v[row.here] = value;
      if (!square) continue;
      previous.last = row_at(of.system, ++i);
      y[1] = y[0], y[0] = row_weight(previous.last);
      g[1] = g[0], g[0] = 0;
      if (own) pivot[previous.last.here] = second;
      if (own) v[previous.last.here] = y[0];
    }
    if (of.last) return;
    const multipliers next = previous.of(row_at(of.system, of.end));
    base[k] = through(next, y[0], y[1]);
    slope[k] = through(next, g[0], g[1]);
  }
};

/// base of a chunk := what comes to it from those before, for every system.
struct tridiagonal_carry_down_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t used = (factored_rows(systems[k]) + rows - 1) / rows;
    double comes = 0;
    for (std::int64_t c = k * chunks; c + 1 < k * chunks + used; ++c) {
      const double goes = fused_above(slope[c], comes, base[c]);
      base[c] = comes;
      comes = goes;
    }
    if (used > 0) base[k * chunks + used - 1] = comes;
  }
};

/// v := |L^-1| w of a chunk; base and slope: its first row of |U^-1| |L^-1| w from the row behind the chunk.
/// The last chunk is complete.
struct tridiagonal_turn_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const chunk of = chunk_of(k);
    if (of.begin >= of.end) return;
    const double comes = of.begin > 0 ? base[k] : 0;
    if (comes != 0) add(of, comes);
    if (of.last)
      substitute<true>(k, of, 0, 0);
    else
      substitute<false>(k, of, 0, 1);
  }

 private:
  // The part of v that comes from before the chunk.
  VOUCH_HOST_DEVICE void add(const chunk& of, double comes) const {
    double g[2] = {0, 0};
    for (std::int64_t i = of.begin; i < of.end; ++i) {
      const std::int64_t here = shape.at(of.system, i);
      const bool inside = pivot[here] == second;
      const double part = inside ? 0
                          : i == of.begin
                              ? comes
                              : through(found_before(of.system, i).of(row_at(of.system, i)), g[0], g[1]);
      if (part != 0) v[here] = outward::sum_above(v[here], part);
      g[1] = g[0], g[0] = part;
    }
  }
};

/// base of a chunk := v of the row behind it, for every system.
struct tridiagonal_carry_up_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t used = (factored_rows(systems[k]) + rows - 1) / rows;
    double comes = 0;
    for (std::int64_t c = k * chunks + used - 1; c >= k * chunks; --c) {
      const double goes = fused_above(slope[c], comes, base[c]);
      base[c] = comes;
      comes = goes;
    }
  }
};

/// v := |U^-1| |L^-1| w in all chunks but the last.
struct tridiagonal_substitute_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const chunk of = chunk_of(k);
    if (of.begin < of.end && !of.last) substitute<true>(k, of, base[k], 0);
  }
};

/// base of a chunk := at least the largest (|E| v)_i / w_i, or 1 where v is no proof.
struct tridiagonal_delta_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const chunk of = chunk_of(k);
    double delta = 0;
    for (std::int64_t i = of.begin; i < of.end && delta < 1; ++i) {
      const tridiagonal_row row = row_at(of.system, i);
      double sum = 0;
      if (i > 0 && pivot[row.here] != second) sum = error_of_row(row, found_before(of.system, i));
      if (within.matrix > 0) sum = outward::sum_above(sum, spread_of_row(row));
      const double quotient = sum == 0 ? 0 : outward::quotient_above(sum, row_weight(row));
      const bool proof = v[row.here] > 0 && rounding::finite(v[row.here]) && quotient < 1;
      delta = proof ? ::fmax(delta, quotient) : 1;
    }
    base[k] = delta;
  }

 private:
  // At least (|E| v)_i for the first row of a pivot.
  VOUCH_HOST_DEVICE double error_of_row(const tridiagonal_row& row, const pivot_before& before) const {
    const double p = pivot[row.here], q = before.p;
    const multipliers m = before.of(row);
    const tridiagonal_row &last = before.last, &first = before.first;
    double sum = 0;
    const auto add = [&](double size, double of_v) {
      sum = outward::sum_above(sum, outward::product_above(size, of_v));
    };
    if (before.square) {
      add(outward::size_of_fused_above(m.far, q, rounded_product(m.near, last.l), false), v[first.here]);
      add(outward::size_of_fused_above(m.far, first.u, std::fma(m.near, last.d, -row.l), false), v[last.here]);
    } else if (row.l != 0) {
      add(outward::size_of_fused_above(m.near, q, -row.l, true), v[last.here]);
    }
    add(outward::size_of_fused_above(1.0, p, std::fma(m.near, last.u, -row.d), m.near == 0), v[row.here]);
    return sum;
  }
  // At least (radius |A| v)_i.
  VOUCH_HOST_DEVICE double spread_of_row(const tridiagonal_row& row) const {
    const double sum =
        outward::sum_above(outward::product_above(std::fabs(row.d), v[row.here]),
                           outward::sum_above(outward::product_above(std::fabs(row.l), v[row.lower]),
                                              outward::product_above(std::fabs(row.u), v[row.upper])));
    return outward::product_above(within.matrix, sum);
  }
};

/// What all chunks of a system prove.
struct tridiagonal_margin_body : tridiagonal_factors {
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t used = (factored_rows(systems[k]) + rows - 1) / rows;
    double delta = 0;
    for (std::int64_t c = k * chunks; c < k * chunks + used; ++c) delta = ::fmax(delta, base[c]);
    margin[systems[k]] = delta < 1 ? sub_down(1.0, delta) : 0;
  }
};

}  // namespace vouch::detail

// X(body) for the steps.
#define VOUCH_VERIFY_FACTOR_STEPS(X) \
  X(tridiagonal_eliminate_body)      \
  X(tridiagonal_carry_down_body)     \
  X(tridiagonal_turn_body)           \
  X(tridiagonal_carry_up_body)       \
  X(tridiagonal_substitute_body)     \
  X(tridiagonal_delta_body)          \
  X(tridiagonal_margin_body)
