#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/simd.hpp>
#include <vouch/reduce/accumulator.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most_lanes = 1024;
// Squares of magnitudes below narrow_limit that one lane of 64 bits can add.
constexpr std::int64_t most_folds = 512;

VOUCH_SIMD_CLONES void fold_min(std::int32_t* __restrict to, const std::int32_t* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = v[k] < to[k] ? v[k] : to[k];
}
VOUCH_SIMD_CLONES void fold_max(std::int32_t* __restrict to, const std::int32_t* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = v[k] > to[k] ? v[k] : to[k];
}
VOUCH_SIMD_CLONES void fold_min(double* __restrict to, const double* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = v[k] < to[k] ? v[k] : to[k];
}
VOUCH_SIMD_CLONES void fold_max(double* __restrict to, const double* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = v[k] > to[k] ? v[k] : to[k];
}
VOUCH_SIMD_CLONES void fold_sum(std::int64_t* __restrict to, const std::int32_t* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] += v[k];
}
VOUCH_SIMD_CLONES void fold_magnitudes(std::int64_t* __restrict to, const std::int32_t* __restrict v,
                                       std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] += v[k] < 0 ? -v[k] : v[k];
}
VOUCH_SIMD_CLONES void fold_squares(std::int64_t* __restrict to, const std::int32_t* __restrict v,
                                    std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] += std::int64_t{v[k]} * v[k];
}

template <class T>
void keep_extreme(extreme<T>& mine, const extreme<T>& other, bool better) {
  if (other.unit < 0) return;
  if (mine.unit < 0 || better || (mine.value == other.value && other.earlier(mine))) mine = other;
}

// Adds lanes to the sums of their elements and clears them.
void settle_lanes(std::vector<std::int64_t>& lanes, std::int64_t elements, exact_sums& sums) {
  if (lanes.empty()) return;
  const auto stride = static_cast<std::size_t>(elements);
  for (std::size_t e = 0; e < stride; ++e) {
    int128 sum = 0;
    for (std::size_t k = e; k < lanes.size(); k += stride) sum += lanes[k];
    sums.add_integer(static_cast<std::int64_t>(e), sum);
  }
  std::fill(lanes.begin(), lanes.end(), 0);
}

}  // namespace

reduce_needs::reduce_needs(const std::vector<reduction>& operations, bool rigorous) {
  const auto any = [&](auto... wanted) {
    return std::any_of(operations.begin(), operations.end(),
                       [&](reduction o) { return ((o == wanted) || ...); });
  };
  using r = reduction;
  min = any(r::min, r::range, r::norm_inf);
  max = any(r::max, r::range, r::norm_inf);
  sum = any(r::sum, r::mean, r::variance, r::stddev);
  magnitudes = any(r::norm1) || (rigorous && any(r::sum, r::mean));
  squares = any(r::variance, r::stddev, r::norm2);
  argmin = any(r::argmin);
  argmax = any(r::argmax);
  product = any(r::product);
}

void integer_product::multiply(std::int64_t factor) {
  integer_product other;
  other.zero = factor == 0;
  other.negative = factor < 0;
  if (factor != 0) other.magnitude = factor < 0 ? -static_cast<std::uint64_t>(factor) : factor;
  multiply(other);
}

void integer_product::multiply(const integer_product& other) {
  zero |= other.zero;
  negative ^= other.negative;
  overflow |= other.overflow;
  overflow |= __builtin_mul_overflow(magnitude, other.magnitude, &magnitude);
}

void scaled_product::multiply(double_double<double> factor, std::int64_t factor_exponent) {
  if (value.hi == 0 || factor.hi == 0) {
    *this = {{0, 0}, 0};
    return;
  }
  int shift = 0;
  std::frexp(factor.hi, &shift);
  const double_double<double> f{std::ldexp(factor.hi, -shift), std::ldexp(factor.lo, -shift)};
  const double_double<double> p = two_prod(value.hi, f.hi);
  const double_double<double> q = quick_two_sum(p.hi, p.lo + (value.hi * f.lo + value.lo * f.hi));
  int renormalised = 0;
  std::frexp(q.hi, &renormalised);
  value = {std::ldexp(q.hi, -renormalised), std::ldexp(q.lo, -renormalised)};
  exponent += factor_exponent + shift + renormalised;
}

accumulator::accumulator(std::int64_t elements, const reduce_needs& needs)
    : elements_(elements),
      lanes_(elements * std::max<std::int64_t>(1, most_lanes / elements)),
      needs_(needs),
      sums_(elements, 1088),
      magnitude_sums_(elements, 1088),
      square_sums_(elements, 2176) {
  const auto lanes = static_cast<std::size_t>(lanes_);
  const auto n = static_cast<std::size_t>(elements);
  if (needs.min) {
    narrow_min_.assign(lanes, std::numeric_limits<std::int32_t>::max());
    lane_min_.assign(lanes, std::numeric_limits<double>::infinity());
    min_integer_.assign(n, unknown);
    min_real_.assign(n, std::numeric_limits<double>::infinity());
  }
  if (needs.max) {
    narrow_max_.assign(lanes, std::numeric_limits<std::int32_t>::min());
    lane_max_.assign(lanes, -std::numeric_limits<double>::infinity());
    max_integer_.assign(n, -unknown);
    max_real_.assign(n, -std::numeric_limits<double>::infinity());
  }
  if (needs.sum) narrow_sum_.resize(lanes);
  if (needs.magnitudes) narrow_magnitudes_.resize(lanes);
  if (needs.squares) narrow_squares_.resize(lanes);
  if (needs.argmin) argmin_integer_.resize(n), argmin_real_.resize(n);
  if (needs.argmax) argmax_integer_.resize(n), argmax_real_.resize(n);
  if (needs.product) products_.resize(n);
}

void accumulator::begin_unit(std::int64_t unit) {
  unit_ = unit;
  token_ = 0;
  if (needs_.product) unit_products_.assign(products_.size(), scaled_product{});
}

// fold(lane, values, n) for pieces that do not pass the last lane. Lanes are congruent to tokens modulo
// elements_.
template <class T, class Fold>
void accumulator::by_lanes(const T* values, std::int64_t count, Fold fold) {
  std::int64_t lane = token_ % lanes_;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t n = std::min(count - done, lanes_ - lane);
    fold(lane, values + done, n);
    done += n;
    lane = 0;
  }
}

template <class T>
void accumulator::note_extremes(const T* values, std::int64_t count, std::vector<extreme<T>>& least,
                                std::vector<extreme<T>>& most) const {
  std::int64_t matrix = token_ / elements_;
  std::size_t e = index(token_ % elements_);
  for (std::int64_t k = 0; k < count; ++k) {
    const extreme<T> mine{values[k], unit_, matrix};
    if (needs_.argmin) keep_extreme(least[e], mine, mine.value < least[e].value);
    if (needs_.argmax) keep_extreme(most[e], mine, mine.value > most[e].value);
    if (++e == index(elements_)) e = 0, ++matrix;
  }
}

void accumulator::fold(const std::int32_t* values, std::int64_t count) {
  if (count == 0) return;
  by_lanes(values, count, [&](std::int64_t lane, const std::int32_t* v, std::int64_t n) {
    if (needs_.min) fold_min(narrow_min_.data() + lane, v, n);
    if (needs_.max) fold_max(narrow_max_.data() + lane, v, n);
    if (needs_.sum) fold_sum(narrow_sum_.data() + lane, v, n);
    if (needs_.magnitudes) fold_magnitudes(narrow_magnitudes_.data() + lane, v, n);
    if (needs_.squares) fold_squares(narrow_squares_.data() + lane, v, n);
    if (++folds_ == most_folds) settle_sums();
  });
  if (needs_.argmin || needs_.argmax || needs_.product)
    for (std::int64_t k = 0; k < count; ++k, ++token_) {
      const std::int64_t wide = values[k];
      if (needs_.argmin || needs_.argmax) note_extremes(&wide, 1, argmin_integer_, argmax_integer_);
      if (needs_.product) {
        const std::int64_t e = token_ % elements_;
        products_[index(e)].multiply(wide);
        unit_products_[index(e)].multiply({static_cast<double>(wide), 0});
      }
    }
  else
    token_ += count;
}

void accumulator::fold(const double* values, std::int64_t count) {
  if (count == 0) return;
  by_lanes(values, count, [&](std::int64_t lane, const double* v, std::int64_t n) {
    if (needs_.min) fold_min(lane_min_.data() + lane, v, n);
    if (needs_.max) fold_max(lane_max_.data() + lane, v, n);
  });
  if (needs_.argmin || needs_.argmax) note_extremes(values, count, argmin_real_, argmax_real_);
  if (needs_.sum || needs_.magnitudes || needs_.squares || needs_.product) {
    std::int64_t e = token_ % elements_;
    for (std::int64_t k = 0; k < count; ++k) {
      add_real(e, values[k]);
      if (++e == elements_) e = 0;
    }
  }
  token_ += count;
}

void accumulator::add_real(std::int64_t e, double value) {
  if (needs_.sum) sums_.add(e, value);
  if (needs_.magnitudes) magnitude_sums_.add_magnitude(e, value);
  if (needs_.squares) square_sums_.add_square(e, value);
  if (!needs_.product) return;
  unit_products_[index(e)].multiply({value, 0});
  // Of use only in a set of integers, where this is one.
  if (std::abs(value) <= 0x1p53 && std::nearbyint(value) == value)
    products_[index(e)].multiply(static_cast<std::int64_t>(value));
}

void accumulator::add(std::int64_t value) {
  const std::int64_t e = token_ % elements_;
  if (needs_.min) min_integer_[index(e)] = std::min(min_integer_[index(e)], int128{value});
  if (needs_.max) max_integer_[index(e)] = std::max(max_integer_[index(e)], int128{value});
  if (needs_.sum) sums_.add_integer(e, value);
  if (needs_.magnitudes) magnitude_sums_.add_integer(e, value < 0 ? -int128{value} : int128{value});
  if (needs_.squares) square_sums_.add_integer_square(e, value);
  if (needs_.argmin || needs_.argmax) note_extremes(&value, 1, argmin_integer_, argmax_integer_);
  if (needs_.product) {
    products_[index(e)].multiply(value);
    const auto high = static_cast<double>(value);
    unit_products_[index(e)].multiply({high, static_cast<double>(int128{value} - static_cast<int128>(high))});
  }
  ++token_;
}

void accumulator::add_summary(std::int64_t e, const summary& of) {
  if (needs_.min) narrow_min_[index(e)] = std::min(narrow_min_[index(e)], static_cast<std::int32_t>(of.least));
  if (needs_.max) narrow_max_[index(e)] = std::max(narrow_max_[index(e)], static_cast<std::int32_t>(of.most));
  if (needs_.sum) sums_.add_integer(e, of.sum);
  if (needs_.magnitudes) magnitude_sums_.add_integer(e, of.magnitudes);
}

void accumulator::add_extremes(std::int64_t e, double least, double most) {
  if (needs_.min) lane_min_[index(e)] = std::min(lane_min_[index(e)], least);
  if (needs_.max) lane_max_[index(e)] = std::max(lane_max_[index(e)], most);
}

void accumulator::settle_sums() {
  settle_lanes(narrow_sum_, elements_, sums_);
  settle_lanes(narrow_magnitudes_, elements_, magnitude_sums_);
  settle_lanes(narrow_squares_, elements_, square_sums_);
  folds_ = 0;
}

void accumulator::settle() {
  settle_sums();
  for (std::int64_t k = 0; k < lanes_; ++k) {
    const std::size_t e = index(k % elements_);
    const std::size_t lane = index(k);
    // An empty lane holds the largest int32, which no narrow value reaches.
    if (needs_.min && narrow_min_[lane] < narrow_limit)
      min_integer_[e] = std::min(min_integer_[e], int128{narrow_min_[lane]});
    if (needs_.max && narrow_max_[lane] > -narrow_limit)
      max_integer_[e] = std::max(max_integer_[e], int128{narrow_max_[lane]});
    if (needs_.min) min_real_[e] = std::min(min_real_[e], lane_min_[lane]);
    if (needs_.max) max_real_[e] = std::max(max_real_[e], lane_max_[lane]);
  }
}

void accumulator::merge(accumulator& other) {
  settle();
  other.settle();
  for (std::size_t e = 0; e < index(elements_); ++e) {
    if (needs_.min) {
      min_integer_[e] = std::min(min_integer_[e], other.min_integer_[e]);
      min_real_[e] = std::min(min_real_[e], other.min_real_[e]);
    }
    if (needs_.max) {
      max_integer_[e] = std::max(max_integer_[e], other.max_integer_[e]);
      max_real_[e] = std::max(max_real_[e], other.max_real_[e]);
    }
    if (needs_.argmin) {
      const auto& i = other.argmin_integer_[e];
      const auto& r = other.argmin_real_[e];
      keep_extreme(argmin_integer_[e], i, i.value < argmin_integer_[e].value);
      keep_extreme(argmin_real_[e], r, r.value < argmin_real_[e].value);
    }
    if (needs_.argmax) {
      const auto& i = other.argmax_integer_[e];
      const auto& r = other.argmax_real_[e];
      keep_extreme(argmax_integer_[e], i, i.value > argmax_integer_[e].value);
      keep_extreme(argmax_real_[e], r, r.value > argmax_real_[e].value);
    }
    if (needs_.product) products_[e].multiply(other.products_[e]);
  }
  sums_.merge(other.sums_);
  magnitude_sums_.merge(other.magnitude_sums_);
  square_sums_.merge(other.square_sums_);
}

}  // namespace vouch
