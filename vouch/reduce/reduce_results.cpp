#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <vouch/core/error.hpp>
#include <vouch/reduce/accumulator.hpp>

namespace vouch {
namespace {

using rounding::exact_number;

// An integer, a real or neither: the exact extreme of an element that may have both.
struct extreme_value {
  std::optional<int128> integer;
  double real = 0;

  exact_number exact_value() const { return integer ? exact(*integer) : exact(real); }
  double rounded() const { return integer ? nearest<double>(exact(*integer)) : real; }
};

// sign is 1 for the smallest, -1 for the largest.
extreme_value better(std::optional<int128> integer, double real, int sign) {
  if (!std::isfinite(real)) return {integer, 0};
  if (!integer || sign * compare(exact(real), exact(*integer)) < 0) return {std::nullopt, real};
  return {integer, 0};
}

class finisher {
 public:
  finisher(const reduce_options& options, set_shape shape, const gathered& from)
      : options_(options), shape_(shape), from_(from) {}

  reduced finish(reduction operation) {
    reduced result{operation, integral(operation), {}, {}, {}, {}};
    if (operation == reduction::count) {
      result.integers = {from_.count};
      return result;
    }
    for (std::int64_t e = 0; e < shape_.rows * shape_.cols; ++e)
      if (result.integral)
        result.integers.push_back(integer(operation, e));
      else
        result.reals.push_back(checked(real(operation, e), operation, e));
    if (options_.rigorous && (operation == reduction::sum || operation == reduction::mean))
      for (std::int64_t e = 0; e < shape_.rows * shape_.cols; ++e)
        result.enclosures.push_back(enclosure(operation, e));
    return result;
  }

 private:
  bool integral(reduction operation) const {
    using enum reduction;
    switch (operation) {
      case count:
      case argmin:
      case argmax:
        return true;
      case mean:
      case variance:
      case stddev:
      case norm2:
        return false;
      default:
        return from_.integers;
    }
  }

  extreme_value least(std::int64_t e) const {
    return better(from_.values.min_integer(e), from_.values.min_real(e), 1);
  }
  extreme_value most(std::int64_t e) const {
    return better(from_.values.max_integer(e), from_.values.max_real(e), -1);
  }

  // In a set of integers, those beyond 10^8 may have gone by as doubles, which hold them exactly.
  static int128 whole(const extreme_value& x) { return x.integer ? *x.integer : static_cast<int128>(x.real); }

  int128 integer(reduction operation, std::int64_t e) const {
    using enum reduction;
    switch (operation) {
      case min:
        return whole(least(e));
      case max:
        return whole(most(e));
      case range:
        return whole(most(e)) - whole(least(e));
      case norm_inf:
        return std::max(-whole(least(e)), whole(most(e)));
      case sum:
        return from_.values.integer_sum(e);
      case norm1:
        return from_.values.integer_magnitude_sum(e);
      case argmin:
        return first_place(from_.values.argmin_integer(e), from_.values.argmin_real(e), 1);
      case argmax:
        return first_place(from_.values.argmax_integer(e), from_.values.argmax_real(e), -1);
      default:
        return integer_product_of(e);
    }
  }

  double real(reduction operation, std::int64_t e) const {
    using enum reduction;
    switch (operation) {
      case min:
        return least(e).rounded();
      case max:
        return most(e).rounded();
      case range:
        return nearest<double>(most(e).exact_value() - least(e).exact_value());
      case norm_inf:
        return std::max(-least(e).rounded(), most(e).rounded());
      case sum:
        return nearest<double>(from_.values.sum(e));
      case norm1:
        return nearest<double>(from_.values.magnitude_sum(e));
      case mean:
        return nearest<double>(divided(from_.values.sum(e), from_.count));
      case variance:
        return nearest<double>(variance_of(e));
      case stddev:
        return root(variance_of(e));
      case norm2:
        return root(from_.values.square_sum(e));
      default: {
        const scaled_product& p = from_.products[static_cast<std::size_t>(e)];
        return std::ldexp(p.value.hi, static_cast<int>(std::clamp<std::int64_t>(p.exponent, -5000, 5000)));
      }
    }
  }

  // A decimal number is within 2^-53 of the double that was read for it, relative, or within 2^-1075.
  interval<double> enclosure(reduction operation, std::int64_t e) const {
    const exact_number sum = from_.values.sum(e);
    exact_number slack;
    if (!from_.integers) {
      exact_number relative = from_.values.magnitude_sum(e), absolute = exact(int128{from_.count});
      relative.binary -= 53;
      absolute.binary -= 1075;
      slack = relative + absolute;
    }
    const std::int64_t divisor = operation == reduction::mean ? from_.count : 1;
    const auto bound = [&](const exact_number& x, rounding::direction to) {
      return checked(rounding::nearest_bound<double>(divided(x, divisor), to), operation, e);
    };
    return interval<double>::unchecked(bound(sum - slack, rounding::direction::down),
                                       bound(sum + slack, rounding::direction::up));
  }

  // (count * sum of squares - square of the sum) / (count * divisor)
  exact_number variance_of(std::int64_t e) const {
    if (options_.sample && from_.count == 1)
      throw value_error("the variance of a sample of one matrix is not defined");
    const exact_number sum = from_.values.sum(e);
    const exact_number spread = exact(int128{from_.count}) * from_.values.square_sum(e) - sum * sum;
    return divided(spread, from_.count, from_.count - options_.sample);
  }

  // The number, in the whole set, of the first matrix with the extreme value.
  int128 first_place(const extreme<std::int64_t>& i, const extreme<double>& r, int sign) const {
    bool by_real = i.unit < 0;
    if (i.unit >= 0 && r.unit >= 0) {
      const int order = sign * compare(exact(r.value), exact(int128{i.value}));
      const bool earlier = r.unit != i.unit ? r.unit < i.unit : r.matrix < i.matrix;
      by_real = order < 0 || (order == 0 && earlier);
    }
    const std::int64_t unit = by_real ? r.unit : i.unit;
    return std::accumulate(from_.counts.begin(), from_.counts.begin() + unit, by_real ? r.matrix : i.matrix);
  }

  int128 integer_product_of(std::int64_t e) const {
    const integer_product& p = from_.values.product(e);
    if (p.zero) return 0;
    const auto magnitude = static_cast<int128>(p.magnitude);
    const int128 value = p.negative ? -magnitude : magnitude;
    if (p.overflow || value != static_cast<std::int64_t>(value))
      throw value_error("the product of " + element(e) + " is beyond integers of 64 bits",
                        "write one of its numbers with a point for a product in double precision");
    return value;
  }

  double checked(double value, reduction operation, std::int64_t e) const {
    if (!std::isfinite(value))
      throw value_error("the " + std::string(name(operation)) + " of " + element(e) +
                        " overflows double precision");
    return value;
  }

  std::string element(std::int64_t e) const {
    return "element (" + std::to_string(e / shape_.cols + 1) + ", " + std::to_string(e % shape_.cols + 1) + ")";
  }

  const reduce_options& options_;
  set_shape shape_;
  const gathered& from_;
};

}  // namespace

std::span<const reduction> reductions() {
  using enum reduction;
  static constexpr reduction all[] = {count,  min,    max,    sum,     mean,  range, variance,
                                      stddev, argmin, argmax, product, norm1, norm2, norm_inf};
  return all;
}

std::string_view name(reduction operation) {
  static constexpr std::string_view names[] = {"count",   "min",      "max",    "sum",     "mean",
                                               "range",   "variance", "stddev", "argmin",  "argmax",
                                               "product", "norm1",    "norm2",  "norm-inf"};
  return names[static_cast<int>(operation)];
}

std::vector<reduced> finished_reductions(const reduce_options& options, set_shape shape, const gathered& from) {
  std::vector<reduced> results;
  finisher finish(options, shape, from);
  std::optional<value_error> first;
  for (const reduction operation : options.operations) try {
      results.push_back(finish.finish(operation));
    } catch (const value_error& none) {
      results.push_back({operation, false, {}, {}, {}, none.what()});
      if (!first) first = none;
    }
  const auto failed = [](const reduced& result) { return !result.failure.empty(); };
  if (std::all_of(results.begin(), results.end(), failed) && first) throw *first;
  return results;
}

}  // namespace vouch
