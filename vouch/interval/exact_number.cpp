#include <vouch/interval/exact_number.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace vouch::rounding {

whole_number::whole_number(std::string_view digits, unsigned base) {
  for (const char c : digits) multiply_add(base, static_cast<std::uint32_t>(c >= 'a' ? c - 'a' + 10 : c - '0'));
}

void whole_number::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

int whole_number::bits() const {
  if (is_zero()) return 0;
  return static_cast<int>(32 * limbs_.size()) - std::countl_zero(limbs_.back());
}

void whole_number::multiply_add(std::uint32_t factor, std::uint32_t summand) {
  std::uint64_t carry = summand;
  for (std::uint32_t& limb : limbs_) {
    carry += std::uint64_t{limb} * factor;
    limb = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  trim();
}

void whole_number::multiply_power(std::uint32_t base, int exponent) {
  for (; exponent > 0; --exponent) multiply_add(base, 0);
}

void whole_number::shift_left(int count) {
  if (is_zero()) return;
  multiply_add(std::uint32_t{1} << count % 32, 0);
  limbs_.insert(limbs_.begin(), static_cast<std::size_t>(count / 32), 0);
}

whole_number operator*(const whole_number& a, const whole_number& b) {
  whole_number product;
  product.limbs_.resize(a.limbs_.size() + b.limbs_.size());
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size() || carry != 0; ++j) {
      carry += product.limbs_[i + j];
      if (j < b.limbs_.size()) carry += std::uint64_t{a.limbs_[i]} * b.limbs_[j];
      product.limbs_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  product.trim();
  return product;
}

whole_number operator+(const whole_number& a, const whole_number& b) {
  whole_number sum;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < a.limbs_.size() || i < b.limbs_.size() || carry != 0; ++i) {
    if (i < a.limbs_.size()) carry += a.limbs_[i];
    if (i < b.limbs_.size()) carry += b.limbs_[i];
    sum.limbs_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  return sum;
}

whole_number operator-(const whole_number& a, const whole_number& b) {
  whole_number difference = a;
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    const std::uint64_t take = borrow + (i < b.limbs_.size() ? b.limbs_[i] : 0);
    borrow = a.limbs_[i] < take;
    difference.limbs_[i] = static_cast<std::uint32_t>(a.limbs_[i] - take);
  }
  difference.trim();
  return difference;
}

int compare(const whole_number& a, const whole_number& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
  for (std::size_t i = a.limbs_.size(); i-- > 0;)
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
  return 0;
}

namespace {

constexpr double bits_per_digit = 3.3219280948873626;  // log2 of 10

// Log2 of |x| within 2.
double height(const exact_number& x) {
  return x.numerator.bits() - x.denominator.bits() + static_cast<double>(x.binary) +
         bits_per_digit * static_cast<double>(x.decimal);
}

struct fraction {
  whole_number numerator;
  whole_number denominator;
};

// For exponents that height() has found moderate.
fraction plain(const exact_number& x) {
  fraction f{x.numerator, x.denominator};
  const auto decimal = static_cast<int>(x.decimal);
  const auto binary = static_cast<int>(x.binary);
  (decimal < 0 ? f.denominator : f.numerator).multiply_power(10, std::abs(decimal));
  (binary < 0 ? f.denominator : f.numerator).shift_left(std::abs(binary));
  return f;
}

// floor(f * 2^shift), which has at most 62 bits; exact tells whether nothing was cut off.
std::uint64_t quotient(fraction f, int shift, bool& exact) {
  (shift < 0 ? f.denominator : f.numerator).shift_left(std::abs(shift));
  std::uint64_t q = 0;
  for (int bit = 62; bit >= 0; --bit) {
    whole_number part = f.denominator;
    part.shift_left(bit);
    if (compare(f.numerator, part) < 0) continue;
    f.numerator = f.numerator - part;
    q |= std::uint64_t{1} << bit;
  }
  exact = f.numerator.is_zero();
  return q;
}

// |x| towards zero or away from it.
template <real T>
T magnitude_bound(const exact_number& x, bool away) {
  using limits = std::numeric_limits<T>;
  constexpr double far = 1200;
  if (x.numerator.is_zero()) return 0;
  const double log = height(x);
  if (log > far) return away ? infinity<T> : largest<T>;
  if (log < -far) return away ? least_positive<T> : T{};
  // The last bit that T keeps stands at 2^last: its own digits below the leading bit, or the least subnormal.
  const fraction f = plain(x);
  int leading = f.numerator.bits() - f.denominator.bits();
  bool exact = false;
  if (quotient(f, -leading, exact) == 0) --leading;
  const int last = std::max(leading - limits::digits + 1, limits::min_exponent - limits::digits);
  std::uint64_t units = quotient(f, -last, exact);
  if (away && !exact) ++units;
  const double value = std::ldexp(static_cast<double>(units), last);
  if (value > static_cast<double>(largest<T>)) return away ? infinity<T> : largest<T>;
  return static_cast<T>(value);
}

}  // namespace

int compare(const exact_number& a, const exact_number& b) {
  const int sign_a = a.numerator.is_zero() ? 0 : a.negative ? -1 : 1;
  const int sign_b = b.numerator.is_zero() ? 0 : b.negative ? -1 : 1;
  if (sign_a != sign_b || sign_a == 0) return sign_a < sign_b ? -1 : sign_a > sign_b;
  if (std::abs(height(a) - height(b)) > 8) return height(a) < height(b) ? -sign_a : sign_a;
  // Common powers of 2 and 10 cancel: what is left of them is as small as the difference in size.
  exact_number left = a;
  exact_number right = b;
  left.binary -= b.binary;
  left.decimal -= b.decimal;
  right.binary = 0;
  right.decimal = 0;
  const fraction f = plain(left);
  const fraction g = plain(right);
  return sign_a * compare(f.numerator * g.denominator, g.numerator * f.denominator);
}

template <real T>
T nearest_bound(const exact_number& x, direction to) {
  const bool away = x.negative == (to == direction::down);
  const T magnitude = magnitude_bound<T>(x, away);
  return x.negative ? -magnitude : magnitude;
}

template float nearest_bound<float>(const exact_number&, direction);
template double nearest_bound<double>(const exact_number&, direction);

}  // namespace vouch::rounding
