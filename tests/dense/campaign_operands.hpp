// tests/dense/campaign_operands.hpp -- matrices of adversarial intervals with a point in each, and the exact
// results for the points.
#pragma once
#include <mpfr.h>

#include <cstdint>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>

#include "interval/inclusion_cases.hpp"

namespace vouch::testing {

/// What goes into the entries.
enum class entry_kind : int { moderate, adversarial, with_empty, integer };

/// A stream of intervals with a point in each.
template <real T>
class entry_source {
 public:
  entry_source(std::uint64_t seed, entry_kind kind) : seed_(seed), kind_(kind) {}

  interval<T> next() {
    const std::uint64_t at = counter_++;
    if (kind_ == entry_kind::with_empty && random_bits(seed_ + 7, at) % 12 == 0) return interval<T>::empty();
    if (kind_ == entry_kind::adversarial || kind_ == entry_kind::with_empty)
      return random_interval<T>(1000 * seed_, at);
    const auto draw = [&](std::uint64_t stream) { return random_unit(seed_ + stream, at) - 0.5; };
    if (kind_ == entry_kind::integer) {
      const T lo = std::floor(static_cast<T>(20 * draw(1)));
      return interval<T>::unchecked(lo, lo + std::floor(static_cast<T>(3 + 6 * draw(2))));
    }
    const T x = static_cast<T>(draw(1));
    const T r =
        std::ldexp(std::abs(x), -static_cast<int>(random_bits(seed_ + 3, at) % 30)) * (at % 3 == 0 ? 0 : 1);
    return interval<T>::unchecked(x - r, x + r);
  }
  T point_in(interval<T> x) { return is_empty(x) ? T{} : random_point(x, 1000 * seed_ + 500, counter_++); }
  std::uint64_t choice(std::uint64_t count) { return random_bits(seed_ + 11, counter_++) % count; }

 private:
  std::uint64_t seed_;
  entry_kind kind_;
  std::uint64_t counter_ = 0;
};

/// A full matrix of intervals and points; entries that a storage does not have are absent and count as 0.
template <real T>
struct operand {
  std::int64_t rows = 0, cols = 0;
  std::vector<interval<T>> sets;
  std::vector<T> points;
  std::vector<char> present;

  operand(std::int64_t m, std::int64_t n)
      : rows(m), cols(n), sets(size(m, n)), points(size(m, n)), present(size(m, n), 1) {}
  operand(std::int64_t m, std::int64_t n, entry_source<T>& source) : operand(m, n) {
    for (std::size_t k = 0; k < sets.size(); ++k) {
      sets[k] = source.next();
      points[k] = source.point_in(sets[k]);
    }
  }
  static std::size_t size(std::int64_t m, std::int64_t n) { return static_cast<std::size_t>(m * n); }
  std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i + j * rows); }
  interval<T>& set(std::int64_t i, std::int64_t j) { return sets[at(i, j)]; }
  matrix_view<interval<T>> all() { return {sets.data(), rows, cols, std::max<std::int64_t>(1, rows)}; }
  matrix_view<const interval<T>> read() { return all(); }
  view<interval<T>> vector() { return {sets.data(), rows * cols}; }
  view<const interval<T>> read_vector() { return vector(); }

  void take(std::int64_t i, std::int64_t j, const operand& from, std::int64_t k, std::int64_t l) {
    sets[at(i, j)] = from.sets[from.at(k, l)];
    points[at(i, j)] = from.points[from.at(k, l)];
    present[at(i, j)] = from.present[from.at(k, l)];
  }
  operand transposed(bool really = true) const {
    if (!really) return *this;
    operand t(cols, rows);
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i) t.take(j, i, *this, i, j);
    return t;
  }
  /// [this, other]
  operand beside(const operand& other) const {
    operand both(rows, cols + other.cols);
    for (std::int64_t j = 0; j < both.cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        both.take(i, j, j < cols ? *this : other, i, j < cols ? j : j - cols);
    return both;
  }
  /// What a symmetric routine reads of the triangle: the other one mirrored.
  operand mirrored(triangle stored) const {
    operand s = *this;
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        if (stored == triangle::lower ? i < j : i > j) s.take(i, j, *this, j, i);
    return s;
  }
  /// Nothing outside of kl diagonals below and ku above the main one.
  operand band(std::int64_t kl, std::int64_t ku) const {
    operand b = *this;
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        if (i - j > kl || j - i > ku) b.present[b.at(i, j)] = 0;
    return b;
  }
  operand triangle_of(triangle stored, diagonal unit) const {
    operand t = stored == triangle::lower ? band(rows, 0) : band(0, rows);
    for (std::int64_t i = 0; unit == diagonal::unit && i < rows; ++i) {
      t.sets[t.at(i, i)] = T{1};
      t.points[t.at(i, i)] = 1;
    }
    return t;
  }
  /// Band storage with kl and ku diagonals, and the packed triangle.
  operand band_storage(std::int64_t kl, std::int64_t ku) const {
    operand b(kl + ku + 1, cols);
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = std::max<std::int64_t>(0, j - ku); i < std::min(rows, j + kl + 1); ++i)
        b.take(ku + i - j, j, *this, i, j);
    return b;
  }
  operand packed(triangle stored) const {
    operand p(rows * (rows + 1) / 2, 1);
    std::int64_t k = 0;
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = stored == triangle::lower ? j : 0; i < (stored == triangle::lower ? rows : j + 1);
           ++i)
        p.take(k++, 0, *this, i, j);
    return p;
  }
};

/// A number of so many bits that sums of products of three doubles are exact.
class exact_value {
 public:
  exact_value() {
    mpfr_init2(value_, 7000);
    mpfr_init2(term_, 200);
    mpfr_set_zero(value_, 1);
  }
  ~exact_value() {
    mpfr_clear(value_);
    mpfr_clear(term_);
  }
  exact_value(const exact_value&) = delete;
  exact_value& operator=(const exact_value&) = delete;
  void add(double a, double b, double c) {
    mpfr_set_d(term_, a, MPFR_RNDN);
    mpfr_mul_d(term_, term_, b, MPFR_RNDN);
    mpfr_mul_d(term_, term_, c, MPFR_RNDN);
    mpfr_add(value_, value_, term_, MPFR_RNDN);
  }
  template <real T>
  bool in(interval<T> x) const {
    return mpfr_cmp_d(value_, double{x.lo()}) >= 0 && mpfr_cmp_d(value_, double{x.hi()}) <= 0;
  }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_, term_;
};

/// The solution of a triangular system of points, to 3000 bits.
class substitution {
 public:
  template <real T>
  substitution(const operand<T>& A, const operand<T>& B, std::int64_t column, bool lower)
      : x_(static_cast<std::size_t>(A.rows)) {
    mpfr_t term;
    mpfr_init2(term, bits);
    for (std::int64_t step = 0; step < A.rows; ++step) {
      const std::int64_t i = lower ? step : A.rows - 1 - step;
      mpfr_ptr x = at(i);
      mpfr_init2(x, bits);
      mpfr_set_d(x, double{B.points[B.at(i, column)]}, MPFR_RNDN);
      for (std::int64_t k = lower ? 0 : i + 1; k < (lower ? i : A.rows); ++k) {
        mpfr_mul_d(term, at(k), double{A.points[A.at(i, k)]}, MPFR_RNDN);
        mpfr_sub(x, x, term, MPFR_RNDN);
      }
      mpfr_div_d(x, x, double{A.points[A.at(i, i)]}, MPFR_RNDN);
    }
    mpfr_clear(term);
  }
  ~substitution() {
    for (auto& x : x_) mpfr_clear(&x);
  }
  substitution(const substitution&) = delete;
  substitution& operator=(const substitution&) = delete;

  /// Whether x_i lies in a set, but for what the oracle itself rounds.
  template <real T>
  bool in(std::int64_t i, interval<T> set) const {
    mpfr_t slack, end;
    mpfr_inits2(bits, slack, end, static_cast<mpfr_ptr>(nullptr));
    mpfr_set_si_2exp(slack, 1, -1000, MPFR_RNDN);
    mpfr_d_sub(end, double{set.lo()}, slack, MPFR_RNDN);
    bool inside = mpfr_cmp(at(i), end) >= 0;
    mpfr_add_d(end, slack, double{set.hi()}, MPFR_RNDN);
    inside = inside && mpfr_cmp(at(i), end) <= 0;
    mpfr_clears(slack, end, static_cast<mpfr_ptr>(nullptr));
    return inside;
  }

 private:
  static constexpr mpfr_prec_t bits = 3000;
  mpfr_ptr at(std::int64_t i) { return &x_[static_cast<std::size_t>(i)]; }
  mpfr_srcptr at(std::int64_t i) const { return &x_[static_cast<std::size_t>(i)]; }
  std::vector<__mpfr_struct> x_;
};

}  // namespace vouch::testing
