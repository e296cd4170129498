// vouch/band/band_rows.hpp -- what the rows of tridiagonal systems show: facts of matrices, and residuals
// in twice the working precision; private.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/double_double.hpp>

namespace vouch::detail {

/// Throws  value_error  a negative size or stride; the text begins with `who`
void require_shape(const char* who, const batch_shape& shape);

/// Throws  value_error  that too; a shape in which elements of a solution would lie upon each other
void require_apart(const char* who, const batch_shape& shape);

/// The larger magnitude; NaN once one has been seen.
VOUCH_HOST_DEVICE inline double worse(double now, double before) {
  return before >= now || before != before ? before : now;
}

/// b - A x of a row, and the magnitudes a verdict needs.
struct residual_row {
  double residual, matrix, x, rhs;
};

template <real T>
VOUCH_HOST_DEVICE inline residual_row residual_at(const tridiagonal_view<const T>& A,
                                                  const batch_view<const T>& b, const batch_view<const T>& x,
                                                  std::int64_t s, std::int64_t i, std::int64_t n) {
  const std::int64_t at = A.shape.at(s, i);
  const bool below = i > 0 || A.periodic, above = i + 1 < n || A.periodic;
  const T a = below ? A.dl[at] : T{0}, d = A.d[at], c = above ? A.du[at] : T{0}, rhs = b(s, i), own = x(s, i);
  const T before = below ? x(s, i > 0 ? i - 1 : n - 1) : T{0},
          after = above ? x(s, i + 1 < n ? i + 1 : 0) : T{0};
  const double da = a, dd = d, dc = c;
  residual_row row;
  if constexpr (sizeof(T) == sizeof(double)) {
    const auto scaled_by = [&](T scale) {
      double_double<T> sum{rhs * scale, 0};
      sum = add_product(sum, -a, before * scale);
      sum = add_product(sum, -d, own * scale);
      sum = add_product(sum, -c, after * scale);
      return sum.hi;
    };
    row.residual = scaled_by(1);
    // Products may overflow where their sum does not.
    if (!(std::fabs(row.residual) < HUGE_VAL)) row.residual = scaled_by(0x1p-100) * 0x1p100;
  } else {
    const double df = rhs, dx = own, x0 = before, x1 = after;
    row.residual = df - rounded_product(da, x0) - rounded_product(dd, dx) - rounded_product(dc, x1);
  }
  row.matrix = std::fabs(da) + std::fabs(dd) + std::fabs(dc);
  row.x = std::fabs(static_cast<double>(own));
  row.rhs = std::fabs(static_cast<double>(rhs));
  return row;
}

/// Facts of matrices, from their rows.
struct matrix_facts {
  std::int32_t symmetric = 1, positive = 1;  // so wide that no byte between the facts is without a value
  double dominance = HUGE_VAL, column_dominance = HUGE_VAL, largest = 0;
  std::int64_t weakest = 0;  // row of the least dominance
  std::int64_t bad = -1;     // row of the first entry that is no number

  /// Joins the facts of other rows; of several bad rows the first counts.
  VOUCH_HOST_DEVICE void add(const matrix_facts& other) {
    symmetric &= other.symmetric;
    positive &= other.positive;
    if (other.dominance < dominance) {
      dominance = other.dominance;
      weakest = other.weakest;
    }
    column_dominance = other.column_dominance < column_dominance ? other.column_dominance : column_dominance;
    largest = other.largest > largest ? other.largest : largest;
    bad = bad < 0 || (other.bad >= 0 && other.bad < bad) ? other.bad : bad;
  }
};

template <real T>
VOUCH_HOST_DEVICE inline matrix_facts facts_of_row(const tridiagonal_view<const T>& A, std::int64_t s,
                                                   std::int64_t i, std::int64_t n) {
  const auto entry = [&](const T* of, std::int64_t k) { return static_cast<double>(of[A.shape.at(s, k)]); };
  const auto below = [&](std::int64_t k) { return k > 0 || A.periodic ? entry(A.dl, k) : 0.0; };
  const auto above = [&](std::int64_t k) { return k + 1 < n || A.periodic ? entry(A.du, k) : 0.0; };
  const auto over = [](double p, double q) { return q > 0 ? p / q : p > 0 ? HUGE_VAL : 0.0; };
  const double a = below(i), d = entry(A.d, i), c = above(i);
  const double size_a = std::fabs(a), size_d = std::fabs(d), size_c = std::fabs(c);
  matrix_facts facts;
  facts.weakest = i;
  if (!(size_a < HUGE_VAL) || !(size_d < HUGE_VAL) || !(size_c < HUGE_VAL)) {
    facts.bad = i;
    return facts;
  }
  const std::int64_t next = i + 1 < n ? i + 1 : 0, last = i > 0 ? i - 1 : n - 1;
  const double a_next = i + 1 < n || A.periodic ? entry(A.dl, next) : 0.0;
  const double c_last = i > 0 || A.periodic ? entry(A.du, last) : 0.0;
  facts.positive = d > 0;
  facts.symmetric = c == a_next;
  facts.largest = size_a > size_d ? size_a : size_d;
  facts.largest = size_c > facts.largest ? size_c : facts.largest;
  facts.dominance = over(size_d, size_a + size_c);
  facts.column_dominance = over(size_d, std::fabs(a_next) + std::fabs(c_last));
  return facts;
}

/// sqrt of a sum of squares that neither over- nor underflows: scale * sqrt(sum), scale a power of two.
struct scaled_norm {
  double scale = 1, sum = 0;

  VOUCH_HOST_DEVICE void add(const scaled_norm& other) {
    if (other.sum == 0) return;
    if (sum == 0 || other.scale > scale) {
      const double ratio = scale / other.scale;
      sum = sum == 0 ? other.sum : other.sum + sum * ratio * ratio;
      scale = other.scale;
    } else {
      const double ratio = other.scale / scale;
      sum += other.sum * ratio * ratio;
    }
  }
  /// At most the largest number: what overflows is no less than that.
  double value() const {
    const double root = std::sqrt(sum), whole = scale * root;
    return std::isinf(whole) && std::isfinite(root) ? std::numeric_limits<double>::max() : whole;
  }
};

/// One system's residual. A NaN or infinity in A, b or x shows in what it belongs to.
struct band_residual_facts {
  scaled_norm residual, rhs;
  double residual_inf = 0, matrix_inf = 0, x_inf = 0, rhs_inf = 0;

  void add(const band_residual_facts& other);
  double backward_error() const;
};

/// r := b - A x, and facts[s] of every system, in host memory; all else lives on dev. r may be nullptr, or lies
/// as x does.
///
/// Result  Each row is summed in double-double (double) or double (float) and rounded once. Same bits for
///         any number of threads.
template <real T>
void band_residual(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                   const batch_view<const T>& x, T* r, band_residual_facts* facts);

}  // namespace vouch::detail
