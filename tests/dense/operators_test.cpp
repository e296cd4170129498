#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <vouch/dense/ball_matrix.hpp>
#include <vouch/dense/operators.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

using testing::devices;

template <class T>
class dense_operators : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(dense_operators, types);

template <class T>
interval<T> box(T lo, T hi) {
  return interval<T>::from_bounds(lo, hi);
}
template <class T>
interval<T> whole(int x) {
  return static_cast<T>(x);
}

TYPED_TEST(dense_operators, sums_and_multiples) {
  using set = interval<TypeParam>;
  for (const device& dev : devices()) {
    const auto x = vector_from<set>(dev, {box<TypeParam>(1, 2), box<TypeParam>(-3, 4)});
    const auto p = vector_from<TypeParam>(dev, {10, 20});
    EXPECT_TRUE(+x == x);
    EXPECT_TRUE(-x == vector_from<set>(dev, {box<TypeParam>(-2, -1), box<TypeParam>(-4, 3)}));
    EXPECT_TRUE(x + x == vector_from<set>(dev, {box<TypeParam>(2, 4), box<TypeParam>(-6, 8)}));
    EXPECT_TRUE(x - x == vector_from<set>(dev, {box<TypeParam>(-1, 1), box<TypeParam>(-7, 7)}));
    EXPECT_TRUE(p - x == vector_from<set>(dev, {box<TypeParam>(8, 9), box<TypeParam>(16, 23)}));
    EXPECT_TRUE(x + p == vector_from<set>(dev, {box<TypeParam>(11, 12), box<TypeParam>(17, 24)}));
    EXPECT_TRUE(-2 * x == vector_from<set>(dev, {box<TypeParam>(-4, -2), box<TypeParam>(-8, 6)}));
    EXPECT_TRUE(x * TypeParam(0.5) == vector_from<set>(dev, {box<TypeParam>(0.5, 1), box<TypeParam>(-1.5, 2)}));
    EXPECT_TRUE(p * box<TypeParam>(0, 1) ==
                vector_from<set>(dev, {box<TypeParam>(0, 10), box<TypeParam>(0, 20)}));
    EXPECT_TRUE(p + p == vector_from<TypeParam>(dev, {20, 40}));
    EXPECT_FALSE(x == -x);
    EXPECT_FALSE(x == vector_from<set>(dev, {box<TypeParam>(1, 2)}));
  }
}

// 1/10 is no floating-point number: its sum with itself is rounded outwards once.
TYPED_TEST(dense_operators, sums_are_tight) {
  using set = interval<TypeParam>;
  for (const device& dev : devices()) {
    const TypeParam small = std::numeric_limits<TypeParam>::epsilon() / 8;
    const auto sum = (vector_from<TypeParam>(dev, {1}) + vector_from<set>(dev, {set(small)})).to_vector()[0];
    EXPECT_EQ(sum.lo(), 1);
    EXPECT_EQ(sum.hi(), 1 + std::numeric_limits<TypeParam>::epsilon());
  }
}

TYPED_TEST(dense_operators, products) {
  using set = interval<TypeParam>;
  for (const device& dev : devices()) {
    const auto A = matrix_from_rows<set>(dev, {{whole<TypeParam>(1), box<TypeParam>(-1, 1)},
                                               {whole<TypeParam>(2), whole<TypeParam>(3)},
                                               {whole<TypeParam>(0), box<TypeParam>(4, 5)}});
    const auto P = matrix_from_rows<TypeParam>(dev, {{1, 2}, {3, 4}});
    const auto x = vector_from<TypeParam>(dev, {1, -2});
    EXPECT_TRUE(A * x ==
                vector_from<set>(dev, {box<TypeParam>(-1, 3), whole<TypeParam>(-4), box<TypeParam>(-10, -8)}));
    EXPECT_TRUE(P * x == vector_from<TypeParam>(dev, {-3, -5}));
    EXPECT_TRUE(A * P == matrix_from_rows<set>(dev, {{box<TypeParam>(-2, 4), box<TypeParam>(-2, 6)},
                                                     {whole<TypeParam>(11), whole<TypeParam>(16)},
                                                     {box<TypeParam>(12, 15), box<TypeParam>(16, 20)}}));
    EXPECT_TRUE(A - A == matrix_from_rows<set>(dev, {{whole<TypeParam>(0), box<TypeParam>(-2, 2)},
                                                     {whole<TypeParam>(0), whole<TypeParam>(0)},
                                                     {whole<TypeParam>(0), box<TypeParam>(-1, 1)}}));
    EXPECT_THROW(A + A * P * matrix<set>::zeros(dev, 2, 3), shape_error);
    EXPECT_THROW(A * A, shape_error);
    EXPECT_THROW(A * vector_from<set>(dev, {whole<TypeParam>(1), whole<TypeParam>(2), whole<TypeParam>(3)}),
                 shape_error);
  }
}

TYPED_TEST(dense_operators, sets) {
  using set = interval<TypeParam>;
  for (const device& dev : devices()) {
    const auto a = matrix_from_rows<set>(dev, {{box<TypeParam>(0, 2), box<TypeParam>(0, 1)}});
    const auto b = matrix_from_rows<set>(dev, {{box<TypeParam>(1, 5), box<TypeParam>(3, 4)}});
    EXPECT_TRUE(hull(a, b) == matrix_from_rows<set>(dev, {{box<TypeParam>(0, 5), box<TypeParam>(0, 4)}}));
    EXPECT_TRUE(intersection(a, b) == matrix_from_rows<set>(dev, {{box<TypeParam>(1, 2), set::empty()}}));
    EXPECT_TRUE(mid(b) == matrix_from_rows<TypeParam>(dev, {{3, 3.5}}));
    EXPECT_TRUE(rad(b) == matrix_from_rows<TypeParam>(dev, {{2, 0.5}}));
  }
}

TYPED_TEST(dense_operators, balls) {
  using T = TypeParam;
  using set = interval<T>;
  constexpr T next = 1 + std::numeric_limits<T>::epsilon();
  for (const device& dev : devices()) {
    const auto A =
        matrix_from_rows<set>(dev, {{box<T>(1, 5), set::unchecked(1, next)}, {set::empty(), set::entire()}});
    const ball_matrix<T> balls = to_balls(A);
    EXPECT_EQ(balls.mid.to_vector()[0], 3);
    EXPECT_EQ(balls.rad.to_vector()[0], 2);
    // No number between the two: one of them is the middle, the other is as far as they are.
    EXPECT_EQ(balls.rad.to_vector()[2], next - 1);
    const std::vector<set> back = to_intervals(balls).to_vector(), were = A.to_vector();
    for (std::size_t i = 0; i < back.size(); ++i) EXPECT_TRUE(subset(were[i], back[i]));
    EXPECT_EQ(back[0], were[0]);
    EXPECT_TRUE(is_empty(back[1]));
  }
  const device dev = device::cpu();
  const ball_matrix<T> unlike{matrix<T>::zeros(dev, 2, 1), matrix<T>::zeros(dev, 1, 2)};
  EXPECT_THROW(to_intervals(unlike), shape_error);
}

TYPED_TEST(dense_operators, entries_are_checked) {
  using set = interval<TypeParam>;
  const device dev = device::cpu();
  auto A = matrix_from_rows<set>(
      dev, {{whole<TypeParam>(1), whole<TypeParam>(2)}, {whole<TypeParam>(3), whole<TypeParam>(4)}});
  A.at(1, 0) = whole<TypeParam>(7);
  EXPECT_TRUE(A == matrix_from_rows<set>(dev, {{whole<TypeParam>(1), whole<TypeParam>(2)},
                                               {whole<TypeParam>(7), whole<TypeParam>(4)}}));
  EXPECT_THROW(A.at(2, 0), shape_error);
  EXPECT_THROW(A.at(0, -1), shape_error);
  EXPECT_THROW(matrix_from_rows<set>(dev, {{whole<TypeParam>(1), whole<TypeParam>(2)}, {whole<TypeParam>(3)}}),
               shape_error);
}

}  // namespace
}  // namespace vouch
