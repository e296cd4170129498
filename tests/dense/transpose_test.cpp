#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/transpose.hpp>
#include <vouch/interval/interval.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

// An element that says where it stood, filling all of its bytes.
template <class E>
E tag(std::int64_t i, std::int64_t j) {
  const auto a = static_cast<float>(i * 1000 + j);
  if constexpr (std::same_as<E, float> || std::same_as<E, double>)
    return static_cast<E>(a);
  else if constexpr (std::same_as<E, std::int32_t>)
    return static_cast<std::int32_t>(i * 1000 + j);
  else if constexpr (std::same_as<E, std::complex<double>>)
    return {static_cast<double>(i), static_cast<double>(j)};
  else
    return E::unchecked(static_cast<typename E::bound_type>(i), static_cast<typename E::bound_type>(j) + 1000);
}

template <class E>
class transposition : public ::testing::Test {};
using elements =
    ::testing::Types<float, double, std::int32_t, std::complex<double>, interval<float>, interval<double>>;
TYPED_TEST_SUITE(transposition, elements);

// rows-by-cols entries in memory of ld rows, an element after the beginning where shifted.
template <class E>
struct grid {
  std::int64_t rows, cols, ld, shift;
  std::vector<E> memory;
  grid(std::int64_t m, std::int64_t n, std::int64_t more, std::int64_t at)
      : rows(m),
        cols(n),
        ld(m + more),
        shift(at),
        memory(static_cast<std::size_t>((m + more) * n + at), tag<E>(9, 9)) {}
  E& operator()(std::int64_t i, std::int64_t j) { return memory[static_cast<std::size_t>(shift + i + j * ld)]; }
  matrix_view<E> in(array<E>& a) { return {a.data() + shift, rows, cols, ld > 0 ? ld : 1}; }
};

// Around the sides of tiles, 32 and 64.
constexpr std::int64_t sides[] = {1, 2, 31, 32, 33, 64, 65, 127, 1000};

TYPED_TEST(transposition, out_of_place_for_all_sizes_strides_and_alignments) {
  using E = TypeParam;
  for (const device& dev : testing::devices())
    for (const auto& [m, n] : {std::pair{0, 3}, {1, 1}, {1, 40}, {31, 33}, {32, 32}, {129, 65}, {200, 7}})
      for (const std::int64_t shift : {0, 1}) {
        grid<E> A(m, n, 3, shift), B(n, m, 2, shift);
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i) A(i, j) = tag<E>(i, j);
        auto a = array<E>::from(dev, A.memory);
        auto b = array<E>::from(dev, B.memory);
        transpose_into<E>(dev, A.in(a), B.in(b));
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i) B(j, i) = tag<E>(i, j);
        ASSERT_EQ(b.to_vector(), B.memory) << m << ' ' << n << ' ' << dev.kind();
      }
}

// What stands around the matrix stays.
template <class E>
void expect_square_transposed(const device& dev, std::int64_t n, std::int64_t more, std::int64_t shift) {
  grid<E> A(n, n, more, shift);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) A(i, j) = tag<E>(i, j);
  auto a = array<E>::from(dev, A.memory);
  transpose_in_place(dev, A.in(a));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) A(j, i) = tag<E>(i, j);
  ASSERT_TRUE(a.to_vector() == A.memory) << n << ' ' << more << ' ' << shift << ' ' << dev.kind();
}

TYPED_TEST(transposition, in_place_for_all_small_sizes) {
  for (const device& dev : testing::devices())
    for (std::int64_t n = 0; n <= 130; ++n) expect_square_transposed<TypeParam>(dev, n, n % 5, n % 7 % 2);
}

TYPED_TEST(transposition, in_place_for_all_strides_and_alignments) {
  for (const device& dev : testing::devices())
    for (const std::int64_t n : sides)
      for (const std::int64_t more : {0, 1, 3, 64})
        for (const std::int64_t shift : {0, 1, 5}) expect_square_transposed<TypeParam>(dev, n, more, shift);
}

template <class E>
void expect_rectangle_transposed(const device& dev, std::int64_t m, std::int64_t n, std::int64_t shift) {
  grid<E> A(m, n, 0, shift), B(n, m, 0, shift);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) A(i, j) = B(j, i) = tag<E>(i, j);
  auto a = array<E>::from(dev, A.memory);
  const matrix_view<E> after = transpose_in_place(dev, A.in(a));
  EXPECT_EQ(after.rows, n);
  EXPECT_EQ(after.cols, m);
  EXPECT_EQ(after.ld, std::max<std::int64_t>(n, 1));
  ASSERT_TRUE(a.to_vector() == B.memory) << m << ' ' << n << ' ' << shift << ' ' << dev.kind();
}

TYPED_TEST(transposition, rectangle_in_place) {
  for (const device& dev : testing::devices()) {
    for (const auto& [m, n] :
         {std::pair{0, 3}, {3, 0}, {7, 1}, {2, 3}, {36, 24}, {24, 36}, {33, 400}, {301, 5}, {128, 640}})
      expect_rectangle_transposed<TypeParam>(dev, m, n, 1);
    for (const std::int64_t m : sides)
      for (const std::int64_t n : sides)
        if (m != n) expect_rectangle_transposed<TypeParam>(dev, m, n, (m + n) % 2);
  }
}

// Numbers 0, 1, ... of a matrix of m rows, and where its transpose has them.
template <class E>
void expect_numbers_transposed(const device& dev, std::int64_t m, std::int64_t n) {
  std::vector<E> before(static_cast<std::size_t>(m * n)), wanted(before.size());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      wanted[static_cast<std::size_t>(i * n + j)] = before[static_cast<std::size_t>(j * m + i)] =
          static_cast<E>(static_cast<double>(j * m + i));
  auto a = array<E>::from(dev, before);
  transpose_in_place<E>(dev, {a.data(), m, n, m});
  ASSERT_TRUE(a.to_vector() == wanted) << m << ' ' << n << ' ' << sizeof(E) << ' ' << dev.kind();
}

// More blocks than a GPU has room for at once; an odd number of tiles and an even one.
TEST(transposition_of_squares, in_place_where_large) {
  VOUCH_NEEDS_GPU();
  for (const device& dev : testing::gpus())
    for (const std::int64_t n : {4097, 4672, 6497}) {
      expect_numbers_transposed<std::int32_t>(dev, n, n);
      expect_numbers_transposed<double>(dev, n, n);
    }
}

TEST(transposition_of_rectangles, in_place_where_large) {
  for (const device& dev : testing::devices())
    for (const auto& [m, n] :
         {std::pair{1031, 1300}, {1300, 1031}, {70, 9001}, {9001, 70}, {3, 200000}, {200000, 3}}) {
      expect_numbers_transposed<std::int32_t>(dev, m, n);
      expect_numbers_transposed<double>(dev, m, n);
    }
}

// The copy is allocated before an element is touched.
TEST(transposition_errors, no_memory_for_the_copy) {
  float element = 1;
  for (const int threads : {1, 3})
    EXPECT_THROW(transpose_in_place<float>(device::cpu(threads), {&element, 64, std::int64_t{1} << 40, 64}),
                 out_of_memory);
  EXPECT_EQ(element, 1);
}

TEST(transposition_errors, shapes_and_overlap) {
  const device dev = device::cpu(1);
  auto A = matrix<double>::zeros(dev, 3, 2), B = matrix<double>::zeros(dev, 3, 2);
  EXPECT_THROW(transpose_into(dev, A.read(), B.all()), shape_error);
  EXPECT_THROW(transpose_in_place<double>(dev, {B.all().data, 2, 2, 1}), value_error);
  EXPECT_THROW(transpose_in_place<double>(dev, {B.all().data, 1, 2, 3}), value_error);
  auto S = matrix<double>::zeros(dev, 3, 3);
  EXPECT_THROW(transpose_into(dev, S.read(), S.all()), value_error);
}

}  // namespace
}  // namespace vouch
