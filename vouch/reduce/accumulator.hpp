// vouch/reduce/accumulator.hpp -- what one thread knows about the values of all elements so far, and what follows from
// what all know; private.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <vouch/core/double_double.hpp>
#include <vouch/interval/exact_sums.hpp>
#include <vouch/reduce/matrix_set.hpp>

namespace vouch {

/// What must be gathered for a list of reductions.
struct reduce_needs {
  bool min = false, max = false, sum = false, magnitudes = false, squares = false;
  bool argmin = false, argmax = false, product = false;

  explicit reduce_needs(const std::vector<reduction>& operations, bool rigorous = false);
  /// Only what extremes and sums of the values tell.
  bool simple() const { return !squares && !argmin && !argmax && !product; }
};

/// The smallest or largest value so far and the first matrix that holds it.
template <class T>
struct extreme {
  T value{};
  std::int64_t unit = -1;  // of the text; -1: no value yet
  std::int64_t matrix = 0;

  bool earlier(const extreme& other) const {
    return unit != other.unit ? unit < other.unit : matrix < other.matrix;
  }
};

/// The product of integers: exact whatever the order, or known to be beyond int64.
struct integer_product {
  std::uint64_t magnitude = 1;  // of the factors that are not zero
  bool overflow = false;        // magnitude is not representable
  bool negative = false;
  bool zero = false;

  void multiply(std::int64_t factor);
  void multiply(const integer_product& other);
};

/// (hi + lo) * 2^exponent with hi in [1/2, 1) or 0: no product overflows.
struct scaled_product {
  double_double<double> value{1, 0};
  std::int64_t exponent = 0;

  void multiply(double_double<double> factor, std::int64_t factor_exponent = 0);
};

/// Takes the values of a set in the order of the text, unit by unit; units in any order.
///
/// Memory  Up to 30 KiB, and for large shapes up to 100 bytes an element besides the exact sums.
class accumulator {
 public:
  /// Magnitudes below this go to fold(int32).
  static constexpr std::int64_t narrow_limit = 100000000;

  /// About what an element takes.
  static constexpr std::int64_t element_bytes = 300;

  accumulator(std::int64_t elements, const reduce_needs& needs);

  std::int64_t elements() const { return elements_; }
  const reduce_needs& needs() const { return needs_; }
  /// The next value is the first of a unit of the text.
  void begin_unit(std::int64_t unit);
  /// The next values, magnitudes below narrow_limit.
  void fold(const std::int32_t* values, std::int64_t count);
  /// The next values, none a negative zero; integers of at most 2^53 among them are exact.
  void fold(const double* values, std::int64_t count);
  /// The next value.
  void add(std::int64_t value);
  /// What somebody else has gathered of an element over whole matrices, which the caller then reports as
  /// skipped: of narrow integers, and the extremes of reals, none a negative zero.
  struct summary {
    std::int64_t least = 0, most = 0, sum = 0, magnitudes = 0;
  };
  void add_summary(std::int64_t element, const summary& of);
  void add_extremes(std::int64_t element, double least, double most);
  void skip_matrices(std::int64_t matrices) { token_ += matrices * elements_; }

  /// What a finished thread knows. The products of reals are merged apart, in the order of units.
  void merge(accumulator& other);
  /// The product over the current unit, one for each element; empty unless needed.
  std::vector<scaled_product>& unit_products() { return unit_products_; }

  // Results of one element; call settle() first.
  void settle();
  /// none where no integer went by.
  std::optional<int128> min_integer(std::int64_t e) const { return known(min_integer_[index(e)]); }
  std::optional<int128> max_integer(std::int64_t e) const { return known(max_integer_[index(e)]); }
  /// Infinite where no real went by.
  double min_real(std::int64_t e) const { return min_real_[index(e)]; }
  double max_real(std::int64_t e) const { return max_real_[index(e)]; }
  rounding::exact_number sum(std::int64_t e) const { return sums_.value(e); }
  int128 integer_sum(std::int64_t e) const { return sums_.integer(e); }
  int128 integer_magnitude_sum(std::int64_t e) const { return magnitude_sums_.integer(e); }
  rounding::exact_number magnitude_sum(std::int64_t e) const { return magnitude_sums_.value(e); }
  rounding::exact_number square_sum(std::int64_t e) const { return square_sums_.value(e); }
  const extreme<std::int64_t>& argmin_integer(std::int64_t e) const { return argmin_integer_[index(e)]; }
  const extreme<std::int64_t>& argmax_integer(std::int64_t e) const { return argmax_integer_[index(e)]; }
  const extreme<double>& argmin_real(std::int64_t e) const { return argmin_real_[index(e)]; }
  const extreme<double>& argmax_real(std::int64_t e) const { return argmax_real_[index(e)]; }
  const integer_product& product(std::int64_t e) const { return products_[index(e)]; }

 private:
  static constexpr int128 unknown = int128{1} << 100;
  static std::optional<int128> known(int128 value) {
    if (value == unknown || value == -unknown) return std::nullopt;
    return value;
  }
  static std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }
  template <class T, class Fold>
  void by_lanes(const T* values, std::int64_t count, Fold fold);
  template <class T>
  void note_extremes(const T* values, std::int64_t count, std::vector<extreme<T>>& least,
                     std::vector<extreme<T>>& most) const;
  void add_real(std::int64_t element, double value);
  void multiply(std::int64_t element, double value);
  void settle_sums();

  std::int64_t elements_;
  std::int64_t lanes_;  // a multiple of elements_: that many values are folded side by side
  reduce_needs needs_;
  std::int64_t unit_ = 0;
  std::int64_t token_ = 0;  // values of this unit so far
  std::int64_t folds_ = 0;  // rounds over all lanes since settle_sums()

  // By lanes.
  std::vector<std::int32_t> narrow_min_, narrow_max_;
  std::vector<std::int64_t> narrow_sum_, narrow_magnitudes_, narrow_squares_;
  std::vector<double> lane_min_, lane_max_;
  // By elements.
  std::vector<int128> min_integer_, max_integer_;  // beyond int64: none yet
  std::vector<double> min_real_, max_real_;
  std::vector<extreme<std::int64_t>> argmin_integer_, argmax_integer_;
  std::vector<extreme<double>> argmin_real_, argmax_real_;
  std::vector<integer_product> products_;
  std::vector<scaled_product> unit_products_;
  exact_sums sums_, magnitude_sums_, square_sums_;
};

/// What all threads together know.
struct gathered {
  const accumulator& values;  // settled
  const std::vector<scaled_product>& products;
  const std::vector<std::int64_t>& counts;  // matrices, by unit of the text
  std::int64_t count = 0;                   // in all
  bool integers = true;
};

/// Throws  value_error  what reduce_matrix_sets says
std::vector<reduced> finished_reductions(const reduce_options& options, set_shape shape, const gathered& from);

}  // namespace vouch
