#include <vouch/interval/rounding.hpp>

#include <gtest/gtest.h>

#include "interval/numbers.hpp"
#include "interval/oracle.hpp"

namespace vouch {
namespace {

using testing::adversarial_number;
using testing::big;
using testing::directed;
using testing::special_numbers;

constexpr int random_cases = 100000;

template <class T>
class rounding_test : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(rounding_test, types);

// Same number, zeros of either sign, or both NaN.
template <real T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

#define EXPECT_DIRECTED(OURS, MODE, CALL, WHAT)                                                          \
  do {                                                                                                   \
    const T expected = directed<T>(MODE, CALL);                                                          \
    const T ours = OURS;                                                                                 \
    EXPECT_TRUE(same(ours, expected)) << #OURS << ": " << std::hexfloat << ours << ", MPFR " << expected \
                                      << " of " << WHAT;                                                 \
  } while (false)

template <real T>
void check_pair(T a, T b) {
  big x(static_cast<double>(a));
  big y(static_cast<double>(b));
  const auto with = [&](auto operation) {
    return [&, operation](mpfr_ptr r, mpfr_rnd_t mode) { return operation(r, x.get(), y.get(), mode); };
  };
  const std::string what = std::to_string(a) + " and " + std::to_string(b);
  EXPECT_DIRECTED(add_down(a, b), MPFR_RNDD, with(mpfr_add), what);
  EXPECT_DIRECTED(add_up(a, b), MPFR_RNDU, with(mpfr_add), what);
  EXPECT_DIRECTED(sub_down(a, b), MPFR_RNDD, with(mpfr_sub), what);
  EXPECT_DIRECTED(sub_up(a, b), MPFR_RNDU, with(mpfr_sub), what);
  EXPECT_DIRECTED(mul_down(a, b), MPFR_RNDD, with(mpfr_mul), what);
  EXPECT_DIRECTED(mul_up(a, b), MPFR_RNDU, with(mpfr_mul), what);
  EXPECT_DIRECTED(div_down(a, b), MPFR_RNDD, with(mpfr_div), what);
  EXPECT_DIRECTED(div_up(a, b), MPFR_RNDU, with(mpfr_div), what);
}

template <real T>
void check_root(T a) {
  big x(static_cast<double>(a));
  const auto root = [&](mpfr_ptr r, mpfr_rnd_t mode) { return mpfr_sqrt(r, x.get(), mode); };
  EXPECT_DIRECTED(sqrt_down(a), MPFR_RNDD, root, a);
  EXPECT_DIRECTED(sqrt_up(a), MPFR_RNDU, root, a);
}

template <real T>
void check_fma(T a, T b, T c) {
  big x(static_cast<double>(a));
  big y(static_cast<double>(b));
  big z(static_cast<double>(c));
  const auto call = [&](mpfr_ptr r, mpfr_rnd_t mode) { return mpfr_fma(r, x.get(), y.get(), z.get(), mode); };
  EXPECT_DIRECTED(fma_down(a, b, c), MPFR_RNDD, call,
                  std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c));
  EXPECT_DIRECTED(fma_up(a, b, c), MPFR_RNDU, call,
                  std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c));
}

TYPED_TEST(rounding_test, sums_products_and_quotients_of_special_numbers) {
  for (const TypeParam a : special_numbers<TypeParam>())
    for (const TypeParam b : special_numbers<TypeParam>()) check_pair(a, b);
}

TYPED_TEST(rounding_test, sums_products_and_quotients_of_adversarial_numbers) {
  for (int k = 0; k < random_cases; ++k)
    check_pair(adversarial_number<TypeParam>(1, k), adversarial_number<TypeParam>(11, k));
}

TYPED_TEST(rounding_test, nearly_cancelling_sums) {
  for (int k = 0; k < random_cases / 4; ++k) {
    const auto a = adversarial_number<TypeParam>(21, k);
    check_pair(a, -next_up(a));
    check_pair(a, a * TypeParam(0x1p-30));
  }
}

TYPED_TEST(rounding_test, roots) {
  for (const TypeParam a : special_numbers<TypeParam>()) check_root(a);
  for (int k = 0; k < random_cases; ++k) {
    const auto a = adversarial_number<TypeParam>(31, k);
    check_root(a);
    check_root(next_up(a * a));
  }
}

TYPED_TEST(rounding_test, fma_of_special_numbers) {
  for (const TypeParam a : special_numbers<TypeParam>())
    for (const TypeParam b : special_numbers<TypeParam>())
      for (const TypeParam c : special_numbers<TypeParam>()) check_fma(a, b, c);
}

TYPED_TEST(rounding_test, fma_of_adversarial_numbers) {
  for (int k = 0; k < random_cases; ++k)
    check_fma(adversarial_number<TypeParam>(41, k), adversarial_number<TypeParam>(51, k),
              adversarial_number<TypeParam>(61, k));
}

TYPED_TEST(rounding_test, fma_that_cancels) {
  for (int k = 0; k < random_cases; ++k) {
    const auto a = adversarial_number<TypeParam>(71, k);
    const auto b = adversarial_number<TypeParam>(81, k);
    const TypeParam c = -(a * b);
    check_fma(a, b, c);
    check_fma(a, b, next_up(c));
    check_fma(a, b, c * (1 + 4 * std::numeric_limits<TypeParam>::epsilon()));
  }
}

TYPED_TEST(rounding_test, neighbours) {
  using limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(next_up(TypeParam{0}), limits::denorm_min());
  EXPECT_EQ(next_up(-limits::denorm_min()), 0);
  EXPECT_EQ(next_up(limits::max()), limits::infinity());
  EXPECT_EQ(next_up(-limits::infinity()), limits::lowest());
  EXPECT_EQ(next_down(limits::infinity()), limits::max());
  for (int k = 0; k < 10000; ++k) {
    const auto x = adversarial_number<TypeParam>(91, k);
    EXPECT_EQ(next_up(x), std::nextafter(x, limits::infinity()));
    EXPECT_EQ(next_down(x), std::nextafter(x, -limits::infinity()));
  }
}

}  // namespace
}  // namespace vouch
