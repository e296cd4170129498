#include "core/double_double_cases.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace vouch {
namespace {

// A type that holds sums and products of the cases exactly.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

template <class T>
struct double_double_of : ::testing::Test {
  static constexpr double u = std::numeric_limits<T>::epsilon() / 2;

  static quad exact(T a) { return static_cast<quad>(a); }
  static quad exact(double_double<T> a) { return static_cast<quad>(a.hi) + static_cast<quad>(a.lo); }
  static quad size(quad a) { return a < 0 ? -a : a; }

  static void expect_normalised(double_double<T> a) { EXPECT_EQ(a.hi + a.lo, a.hi); }
  static void expect_within(double_double<T> computed, quad truth, double relative) {
    expect_normalised(computed);
    EXPECT_TRUE(size(exact(computed) - truth) <= static_cast<quad>(relative) * size(truth))
        << computed.hi << " + " << computed.lo;
  }
};
using scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(double_double_of, scalars);

TYPED_TEST(double_double_of, two_sum_and_two_prod_are_exact) {
  for (const auto& [a, b] : testing::double_double_cases<TypeParam>()) {
    const auto sum = two_sum(a.hi, b.hi);
    EXPECT_EQ(sum.hi, a.hi + b.hi);
    EXPECT_TRUE(this->exact(sum) == this->exact(a.hi) + this->exact(b.hi));
    const auto product = two_prod(a.hi, b.hi);
    EXPECT_EQ(product.hi, a.hi * b.hi);
    EXPECT_TRUE(this->exact(product) == this->exact(a.hi) * this->exact(b.hi));
    const bool ordered = std::abs(a.hi) >= std::abs(b.hi);
    const auto quick = ordered ? quick_two_sum(a.hi, b.hi) : quick_two_sum(b.hi, a.hi);
    EXPECT_EQ(quick.hi, sum.hi);
    EXPECT_EQ(quick.lo, sum.lo);
  }
}

// The proven bounds 3 u^2 and 2 u^2 (Joldes, Muller, Popescu, ACM Trans. Math. Softw. 44 (2017)) and a little
// for terms of u^3.
TYPED_TEST(double_double_of, sums_err_by_a_few_u_squared_even_where_they_cancel) {
  for (const auto& [a, b] : testing::double_double_cases<TypeParam>()) {
    this->expect_within(a + b, this->exact(a) + this->exact(b), 3.01 * this->u * this->u);
    this->expect_within(a + b.hi, this->exact(a) + this->exact(b.hi), 2.01 * this->u * this->u);
  }
}

TYPED_TEST(double_double_of, a_dot_product_keeps_what_plain_summation_loses) {
  double_double<TypeParam> sum;
  TypeParam plain = 0;
  const TypeParam big = static_cast<TypeParam>(std::ldexp(1.0, sizeof(TypeParam) == 8 ? 30 : 14));
  for (const TypeParam a : {big, TypeParam(3), -big}) {
    sum = add_product(sum, a, big + 1);
    plain += a * (big + 1);
  }
  EXPECT_NE(plain, 3 * (big + 1));
  EXPECT_EQ(sum.hi + sum.lo, 3 * (big + 1));
}

}  // namespace
}  // namespace vouch
