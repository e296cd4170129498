#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <vouch/interval/exact_sums.hpp>

namespace vouch {

using rounding::exact_number;
using rounding::whole_number;

namespace {

constexpr std::int64_t digit_mask = 0xffffffff;

// digits[0] + digits[1] 2^32 + ...: each digit but the last in 0 to 2^32 - 1 afterwards.
void normalise(std::int64_t* digits, int count) {
  for (int k = 0; k + 1 < count; ++k) {
    digits[k + 1] += digits[k] >> 32;  // rounds down
    digits[k] &= digit_mask;
  }
}

void append_digit(whole_number& number, std::uint32_t digit) {
  number.shift_left(32);
  number.multiply_add(1, digit);
}

whole_number whole(uint128 value) {
  whole_number number;
  for (int k = 3; k >= 0; --k) append_digit(number, static_cast<std::uint32_t>(value >> (32 * k)));
  return number;
}

// digits[0] + digits[1] 2^32 + ... in units of 2^lowest, which is not negative and has its digits normalised,
// cut to 53 bits or where doubles end; whether that left something out.
double leading(const std::int64_t* digits, int count, int lowest, bool& inexact) {
  int top = count - 1;
  while (top >= 0 && digits[top] == 0) --top;
  if (top < 0) return 0;
  const int highest = lowest + 32 * top + 63 - std::countl_zero(static_cast<std::uint64_t>(digits[top]));
  const int below = std::max(highest - 52, -1074);
  std::uint64_t mantissa = 0;
  for (int k = 0; k <= top; ++k) {
    const auto bits = static_cast<std::uint64_t>(digits[k]);
    const int drop = below - (lowest + 32 * k);  // bits of this digit that are too low
    if (drop >= 64) {
      inexact |= bits != 0;
    } else if (drop > 0) {
      inexact |= (bits & ((std::uint64_t{1} << drop) - 1)) != 0;
      mantissa += bits >> drop;
    } else {
      mantissa += bits << -drop;
    }
  }
  return std::ldexp(static_cast<double>(mantissa), below);
}

int leading_zeros(uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

// The numerator over 2^binary for a lower power.
whole_number numerator_over(const exact_number& x, std::int64_t binary) {
  whole_number number = x.numerator;
  number.shift_left(static_cast<int>(x.binary - binary));
  return number;
}

}  // namespace

// Room for a carry digit above what is needed, as carry() leaves the highest digit alone.
void exact_sums::widen(int from, int to) {
  const int low = width_ == 0 ? from : std::min(from, low_);
  const int high = width_ == 0 ? to + 2 : std::max(to + 2, low_ + width_);
  std::vector<std::int64_t> digits(static_cast<std::size_t>(elements_ * (high - low)));
  for (std::int64_t e = 0; e < elements_; ++e)
    for (int k = 0; k < width_; ++k)
      digits[static_cast<std::size_t>(e * (high - low) + low_ - low + k)] =
          digits_[static_cast<std::size_t>(e * width_ + k)];
  digits_ = std::move(digits);
  low_ = low;
  width_ = high - low;
}

void exact_sums::carry() {
  for (std::int64_t e = 0; e < elements_; ++e) normalise(digits_.data() + e * width_, width_);
  pending_ = 0;
}

void exact_sums::merge(const exact_sums& other) {
  if (other.width_ == 0) return;
  widen(other.low_, other.low_ + other.width_);
  carry();
  for (std::int64_t e = 0; e < elements_; ++e) {
    std::vector<std::int64_t> digits(other.digits_.begin() + e * other.width_,
                                     other.digits_.begin() + (e + 1) * other.width_);
    normalise(digits.data(), other.width_);
    for (int k = 0; k < other.width_; ++k)
      digits_[static_cast<std::size_t>(e * width_ + other.low_ - low_ + k)] +=
          digits[static_cast<std::size_t>(k)];
  }
  carry();
}

void exact_sums::add_digits(std::int64_t element, std::span<const std::int64_t> digits) {
  const auto used = [](std::int64_t digit) { return digit != 0; };
  const auto first = std::find_if(digits.begin(), digits.end(), used);
  if (first == digits.end()) return;
  const auto last = std::find_if(digits.rbegin(), digits.rend(), used).base();
  const int from = static_cast<int>(first - digits.begin());
  std::vector<std::int64_t> mine(first, last);
  mine.resize(mine.size() + 2);  // carries of up to 32 bits
  normalise(mine.data(), static_cast<int>(mine.size()));
  widen(from, from + static_cast<int>(mine.size()));
  carry();
  for (std::size_t k = 0; k < mine.size(); ++k)
    digits_[static_cast<std::size_t>(element * width_ + from - low_) + k] += mine[k];
  carry();
}

exact_number exact_sums::value(std::int64_t element) const {
  exact_number number;
  if (width_ == 0) return number;
  std::vector<std::int64_t> digits(digits_.begin() + element * width_,
                                   digits_.begin() + (element + 1) * width_);
  normalise(digits.data(), width_);
  number.negative = digits.back() < 0;
  if (number.negative) {
    for (std::int64_t& digit : digits) digit = -digit;
    normalise(digits.data(), width_);
  }
  append_digit(number.numerator, static_cast<std::uint32_t>(digits.back() >> 32));  // it has up to 63 bits
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit)
    append_digit(number.numerator, static_cast<std::uint32_t>(*digit));
  number.binary = std::int64_t{32} * low_ - origin_;
  return number;
}

int128 exact_sums::integer(std::int64_t element) const {
  uint128 sum = 0;
  for (int k = 0; k < width_; ++k) {
    const int place = low_ + k - origin_ / 32;
    if (place < 0 || place > 3) continue;  // nothing, or copies of the sign
    const int128 digit = digits_[static_cast<std::size_t>(element * width_ + k)];
    sum += static_cast<uint128>(digit) << (32 * place);
  }
  return static_cast<int128>(sum);
}

interval<double> exact_sums::take(std::int64_t element) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (width_ == 0) return {};
  std::int64_t* const digits = digits_.data() + element * width_;
  normalise(digits, width_);
  const bool negative = digits[width_ - 1] < 0;
  if (negative) {
    for (int k = 0; k < width_; ++k) digits[k] = -digits[k];
    normalise(digits, width_);
  }
  bool inexact = false;
  const double low = leading(digits, width_, 32 * low_ - origin_, inexact);
  std::fill_n(digits, width_, 0);
  const double least = low == infinite ? std::numeric_limits<double>::max() : low;
  const double most = inexact ? std::nextafter(low, infinite) : low;
  return negative ? interval<double>::unchecked(-most, -least) : interval<double>::unchecked(least, most);
}

bool smaller_product(double a, double b, double c, double d) {
  // The product with its leading bit first, and the place of that bit.
  const auto normal = [](double x, double y, int& top) {
    const double_parts p = parts_of(x), q = parts_of(y);
    const uint128 product = uint128{p.mantissa} * q.mantissa;
    if (product == 0) return product;
    const int zeros = leading_zeros(product);
    top = p.bit + q.bit - zeros;
    return product << zeros;
  };
  int top_ab = 0, top_cd = 0;
  const uint128 ab = normal(a, b, top_ab), cd = normal(c, d, top_cd);
  if (ab == 0 || cd == 0) return ab == 0 && cd != 0;
  return top_ab != top_cd ? top_ab < top_cd : ab < cd;
}

exact_number exact(double x) {
  const double_parts p = parts_of(x);
  exact_number number;
  number.negative = p.negative;
  number.numerator = whole(p.mantissa);
  number.binary = p.bit - number_origin;
  return number;
}

exact_number exact(int128 value) {
  exact_number number;
  number.negative = value < 0;
  number.numerator = whole(static_cast<uint128>(value < 0 ? -value : value));
  return number;
}

namespace rounding {

exact_number operator+(const exact_number& a, const exact_number& b) {
  exact_number sum;
  sum.binary = std::min(a.binary, b.binary);
  const whole_number x = numerator_over(a, sum.binary);
  const whole_number y = numerator_over(b, sum.binary);
  if (a.negative == b.negative) {
    sum.negative = a.negative;
    sum.numerator = x + y;
  } else if (compare(x, y) >= 0) {
    sum.negative = a.negative;
    sum.numerator = x - y;
  } else {
    sum.negative = b.negative;
    sum.numerator = y - x;
  }
  return sum;
}

exact_number operator-(const exact_number& a, const exact_number& b) {
  exact_number negated = b;
  negated.negative = !b.negative;
  return a + negated;
}

exact_number operator*(const exact_number& a, const exact_number& b) {
  exact_number product;
  product.negative = a.negative != b.negative;
  product.numerator = a.numerator * b.numerator;
  product.binary = a.binary + b.binary;
  return product;
}

}  // namespace rounding

exact_number divided(const exact_number& a, std::int64_t p, std::int64_t q) {
  exact_number quotient = a;
  quotient.denominator = whole(static_cast<uint128>(p) * static_cast<uint128>(q));
  return quotient;
}

template <real T>
T nearest(const exact_number& x) {
  using limits = std::numeric_limits<T>;
  if (x.numerator.is_zero()) return 0;
  const T below = rounding::nearest_bound<T>(x, rounding::direction::down);
  const T above = rounding::nearest_bound<T>(x, rounding::direction::up);
  if (below == above) return below;
  if (std::isinf(below) || std::isinf(above)) {
    // Half a unit beyond the largest number is the first that rounds to infinity.
    exact_number limit;
    limit.numerator = whole((uint128{1} << (limits::digits + 1)) - 1);
    limit.binary = limits::max_exponent - limits::digits - 1;
    limit.negative = x.negative;
    const bool beyond = x.negative ? compare(x, limit) <= 0 : compare(x, limit) >= 0;
    return beyond == x.negative ? below : above;
  }
  exact_number middle = exact(double{below}) + exact(double{above});
  --middle.binary;
  const int side = compare(x, middle);
  if (side != 0) return side < 0 ? below : above;
  // Of two neighbours one has an even last bit, also where the other is subnormal or a power of two.
  int exponent = 0;
  const T units = std::ldexp(std::frexp(below, &exponent), limits::digits);
  const int unused = std::max(0, limits::min_exponent - exponent);
  return std::fmod(std::ldexp(units, -unused), T{2}) == 0 ? below : above;
}

template float nearest<float>(const exact_number&);
template double nearest<double>(const exact_number&);

double root(exact_number x) {
  // An even power of two brings x to the middle of the range.
  const std::int64_t height = x.numerator.bits() - x.denominator.bits() + x.binary;
  const std::int64_t half = height / 2;
  x.binary -= 2 * half;
  return std::ldexp(std::sqrt(nearest<double>(x)), static_cast<int>(half));
}

}  // namespace vouch
