// vouch/interval/complex_interval.hpp -- rectangles of complex numbers and their arithmetic.
#pragma once
#include <complex>

#include <vouch/core/visibility.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/relations.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

/// All complex numbers with the real part in real() and the imaginary part in imag().
///
/// Memory  real, then imag: four numbers. Empty in one part is empty.
/// Result  Sums and differences are the smallest rectangles. So are products, but for the rounding of each
///         part's sum of two products: at most two numbers too wide on a side. Quotients z conj(w) / |w|^2
///         enclose; where w is wide they are wider than the hull because w stands in them three times.
template <real T>
class complex_interval {
 public:
  using bound_type = T;

  /// 0
  constexpr complex_interval() = default;
  VOUCH_HOST_DEVICE constexpr complex_interval(interval<T> real) : real_(real) {
    if (is_empty(real)) imag_ = real;
  }
  VOUCH_HOST_DEVICE constexpr complex_interval(interval<T> real, interval<T> imag)
      : real_(is_empty(imag) ? imag : real), imag_(is_empty(real) ? real : imag) {}
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE constexpr complex_interval(U x) : complex_interval(interval<T>(x)) {}
  /// The point z, on the host; empty where a part is no real number.
  complex_interval(std::complex<T> z) : complex_interval(interval<T>(z.real()), interval<T>(z.imag())) {}

  VOUCH_HOST_DEVICE constexpr interval<T> real() const { return real_; }
  VOUCH_HOST_DEVICE constexpr interval<T> imag() const { return imag_; }

  VOUCH_HOST_DEVICE friend constexpr complex_interval operator+(complex_interval z) { return z; }
  VOUCH_HOST_DEVICE friend constexpr complex_interval operator-(complex_interval z) {
    return {-z.real_, -z.imag_};
  }
  VOUCH_HOST_DEVICE friend complex_interval operator+(complex_interval z, complex_interval w) {
    return {z.real_ + w.real_, z.imag_ + w.imag_};
  }
  VOUCH_HOST_DEVICE friend complex_interval operator-(complex_interval z, complex_interval w) {
    return {z.real_ - w.real_, z.imag_ - w.imag_};
  }
  VOUCH_HOST_DEVICE friend complex_interval operator*(complex_interval z, complex_interval w) {
    return {z.real_ * w.real_ - z.imag_ * w.imag_, z.real_ * w.imag_ + z.imag_ * w.real_};
  }
  VOUCH_HOST_DEVICE friend complex_interval operator*(complex_interval z, interval<T> x) {
    return {z.real_ * x, z.imag_ * x};
  }
  VOUCH_HOST_DEVICE friend complex_interval operator*(interval<T> x, complex_interval z) { return z * x; }
  VOUCH_HOST_DEVICE friend complex_interval operator/(complex_interval z, interval<T> x) {
    return {z.real_ / x, z.imag_ / x};
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend complex_interval operator*(complex_interval z, U x) {
    return {z.real_ * x, z.imag_ * x};
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend complex_interval operator*(U x, complex_interval z) {
    return z * x;
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend complex_interval operator/(complex_interval z, U x) {
    return {z.real_ / x, z.imag_ / x};
  }
  /// Empty where w is 0 alone; unbounded where w holds 0.
  VOUCH_HOST_DEVICE friend complex_interval operator/(complex_interval z, complex_interval w) {
    VOUCH_IN_IEEE(z / w);
    const interval<T> size = sqr(w.real_) + sqr(w.imag_);
    const complex_interval numerator = z * complex_interval(w.real_, -w.imag_);
    if (size.lo() == 0 && is_member(T{}, w.real_) && is_member(T{}, w.imag_) && size.hi() > 0)
      return {interval<T>::entire(), interval<T>::entire()};
    return numerator / size;
  }

  VOUCH_HOST_DEVICE complex_interval& operator+=(complex_interval z) { return *this = *this + z; }
  VOUCH_HOST_DEVICE complex_interval& operator-=(complex_interval z) { return *this = *this - z; }
  VOUCH_HOST_DEVICE complex_interval& operator*=(complex_interval z) { return *this = *this * z; }
  VOUCH_HOST_DEVICE complex_interval& operator/=(complex_interval z) { return *this = *this / z; }

  VOUCH_HOST_DEVICE friend constexpr bool operator==(complex_interval z, complex_interval w) {
    VOUCH_IN_IEEE(z == w);
    return z.real_ == w.real_ && z.imag_ == w.imag_;
  }

 private:
  interval<T> real_{};
  interval<T> imag_{};
};

template <real T>
VOUCH_HOST_DEVICE constexpr bool is_empty(complex_interval<T> z) {
  return is_empty(z.real());
}

template <real T>
VOUCH_HOST_DEVICE constexpr complex_interval<T> conj(complex_interval<T> z) {
  return {z.real(), -z.imag()};
}

/// The interval of |z|; its upper bound at most two numbers too high.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> abs(complex_interval<T> z) {
  return sqrt(sqr(z.real()) + sqr(z.imag()));
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool subset(complex_interval<T> z, complex_interval<T> w) {
  return subset(z.real(), w.real()) && subset(z.imag(), w.imag());
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
