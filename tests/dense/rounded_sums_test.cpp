#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/rounded_sums.hpp>

#include "devices.hpp"
#include "interval/numbers.hpp"

namespace vouch {
namespace {

using testing::devices;

// Sums of products of doubles are exact in so many bits.
class fixed_point {
 public:
  fixed_point() {
    mpfr_init2(sum_, 4400);
    mpfr_init2(term_, 128);
    mpfr_set_zero(sum_, 1);
  }
  ~fixed_point() {
    mpfr_clear(sum_);
    mpfr_clear(term_);
  }
  fixed_point(const fixed_point&) = delete;
  fixed_point& operator=(const fixed_point&) = delete;

  void add(double a, double b) {
    mpfr_set_d(term_, a, MPFR_RNDN);
    EXPECT_EQ(mpfr_mul_d(term_, term_, b, MPFR_RNDN), 0);
    EXPECT_EQ(mpfr_add(sum_, sum_, term_, MPFR_RNDN), 0);
  }
  template <class T>
  T to(mpfr_rnd_t mode) {
    if constexpr (sizeof(T) == 4) return mpfr_get_flt(sum_, mode);
    return static_cast<T>(mpfr_get_d(sum_, mode));
  }

 private:
  mpfr_t sum_, term_;
};

template <class T>
void expect(const rounded<T>& got, fixed_point& wanted, const char* what) {
  EXPECT_EQ(got.down, wanted.to<T>(MPFR_RNDD)) << what;
  EXPECT_EQ(got.nearest, wanted.to<T>(MPFR_RNDN)) << what;
  EXPECT_EQ(got.up, wanted.to<T>(MPFR_RNDU)) << what;
}

template <class T>
array<T> on(const device& dev, const std::vector<T>& v) {
  return array<T>::from(dev, v);
}

template <class T>
view<const T> read(const array<T>& a) {
  return a;
}

template <class T>
void check_all(const std::vector<T>& x, const std::vector<T>& y) {
  fixed_point sum, magnitudes, squares, products;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum.add(double{x[i]}, 1);
    magnitudes.add(std::fabs(double{x[i]}), 1);
    squares.add(double{x[i]}, double{x[i]});
    products.add(double{x[i]}, double{y[i]});
  }
  for (const device& dev : devices()) {
    const auto a = on(dev, x), b = on(dev, y);
    expect(rounded_sum(dev, read(a)), sum, "sum");
    expect(rounded_sum_abs(dev, read(a)), magnitudes, "sum_abs");
    expect(rounded_sum_square(dev, read(a)), squares, "sum_square");
    expect(rounded_dot(dev, read(a), read(b)), products, "dot");
  }
}

template <class T>
class rounded_sums : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(rounded_sums, types);

TYPED_TEST(rounded_sums, of_numbers_of_like_size) {
  for (const std::int64_t n : {0, 1, 7, 2047, 2048, 2049, 100003}) {
    std::vector<TypeParam> x, y;
    for (std::int64_t i = 0; i < n; ++i) {
      x.push_back(static_cast<TypeParam>(random_unit(1, static_cast<std::uint64_t>(i)) - 0.5));
      y.push_back(static_cast<TypeParam>(random_unit(2, static_cast<std::uint64_t>(i)) - 0.5));
    }
    check_all(x, y);
  }
}

// Every exponent, subnormal numbers and the largest ones: in blocks of their own and mixed with others.
TYPED_TEST(rounded_sums, of_numbers_of_all_sizes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<TypeParam> x, y;
    const int n = 1 + static_cast<int>(random_bits(77, seed) % 9000);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      const auto draw = [&](std::uint64_t stream) {
        const auto v = testing::adversarial_number<TypeParam>(100 * seed + stream, at);
        return std::isfinite(v) ? v : TypeParam{1};
      };
      x.push_back(draw(1));
      y.push_back(draw(2));
    }
    check_all(x, y);
  }
}

// What is left after all else cancels decides, and a tie is one only if nothing is left.
TYPED_TEST(rounded_sums, that_cancel) {
  using limits = std::numeric_limits<TypeParam>;
  const TypeParam one = 1, eps = limits::epsilon(), least = limits::denorm_min(), most = limits::max();
  const std::vector<std::vector<TypeParam>> cases = {
      {most, most, -most, -most, least},
      {one, eps / 2},
      {one, eps / 2, least},
      {one, eps / 2, -least},
      {-one - eps, -eps / 2},
      {most, most},
      {most, most * eps / 4},
      {most, most * eps / 4, least},
      {most, most * eps / 4, -least},
      {limits::min(), -least},
      {least, least, -least},
  };
  for (const auto& few : cases) {
    check_all(few, std::vector<TypeParam>(few.size(), one));
    std::vector<TypeParam> many(5000);
    for (std::size_t i = 0; i < many.size(); ++i)
      many[i] = static_cast<TypeParam>(i % 2 == 0 ? 1 : -1) *
                static_cast<TypeParam>(random_unit(5, static_cast<std::uint64_t>(i / 2)));
    many.insert(many.begin() + 2500, few.begin(), few.end());
    check_all(many, std::vector<TypeParam>(many.size(), one));
  }
}

TYPED_TEST(rounded_sums, of_what_is_not_finite) {
  using limits = std::numeric_limits<TypeParam>;
  const TypeParam inf = limits::infinity(), nan = limits::quiet_NaN();
  for (const device& dev : devices()) {
    const auto sum = [&](std::vector<TypeParam> v) { return rounded_sum(dev, read(on(dev, v))).nearest; };
    const auto dot = [&](std::vector<TypeParam> v, std::vector<TypeParam> w) {
      return rounded_dot(dev, read(on(dev, v)), read(on(dev, w))).nearest;
    };
    EXPECT_TRUE(std::isnan(sum({1, nan, 2})));
    EXPECT_TRUE(std::isnan(sum({1, inf, 2, -inf})));
    EXPECT_EQ(sum({1, inf, 2}), inf);
    EXPECT_EQ(sum({1, -inf, limits::max(), limits::max()}), -inf);
    EXPECT_EQ(rounded_sum_abs(dev, read(on<TypeParam>(dev, {inf, -inf}))).down, inf);
    EXPECT_EQ(rounded_sum_square(dev, read(on<TypeParam>(dev, {1, -inf}))).down, inf);
    EXPECT_TRUE(std::isnan(dot({1, 0}, {1, inf})));
    EXPECT_EQ(dot({1, -2}, {1, inf}), -inf);
  }
}

TYPED_TEST(rounded_sums, take_strides_and_check_sizes) {
  for (const device& dev : devices()) {
    const auto x = on<TypeParam>(dev, {1, 10, 2, 20, 3, 30});
    const auto y = on<TypeParam>(dev, {5, 6, 7});
    EXPECT_EQ(rounded_sum(dev, view<const TypeParam>(x.data() + 5, 3, -2)).nearest, 60);
    EXPECT_EQ(rounded_dot(dev, view<const TypeParam>(x.data(), 3, 2), read(y)).nearest, 5 + 12 + 21);
    EXPECT_THROW(rounded_dot(dev, read(x), read(y)), shape_error);
  }
}

}  // namespace
}  // namespace vouch
