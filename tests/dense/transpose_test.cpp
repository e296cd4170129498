#include <gtest/gtest.h>

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
    for (const std::int64_t n : {192, 193, 385, 515})
      for (const std::int64_t more : {0, 1, 3, 64})
        for (const std::int64_t shift : {0, 1, 2, 5, 31})
          expect_square_transposed<TypeParam>(dev, n, more, shift);
}

TYPED_TEST(transposition, rectangle_in_place) {
  using E = TypeParam;
  for (const device& dev : testing::devices())
    for (const auto& [m, n] : {std::pair{0, 3},
                               {3, 0},
                               {1, 7},
                               {7, 1},
                               {2, 3},
                               {36, 24},
                               {24, 36},
                               {65, 130},
                               {127, 40},
                               {33, 400},
                               {301, 5},
                               {260, 390},
                               {390, 260},
                               {128, 640}}) {
      grid<E> A(m, n, 0, 1), B(n, m, 0, 1);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) A(i, j) = B(j, i) = tag<E>(i, j);
      auto a = array<E>::from(dev, A.memory);
      const matrix_view<E> after = transpose_in_place(dev, A.in(a));
      EXPECT_EQ(after.rows, n);
      EXPECT_EQ(after.cols, m);
      EXPECT_EQ(after.ld, std::max(n, 1));
      ASSERT_EQ(a.to_vector(), B.memory) << m << ' ' << n << ' ' << dev.kind();
    }
}

// Numbers 0, 1, ... of a matrix of m rows, and where its transpose has them.
template <class E>
void expect_numbers_transposed(std::int64_t m, std::int64_t n, const std::vector<device>& devices) {
  std::vector<E> before(static_cast<std::size_t>(m * n)), wanted(before.size());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      wanted[static_cast<std::size_t>(i * n + j)] = before[static_cast<std::size_t>(j * m + i)] =
          static_cast<E>(static_cast<double>(j * m + i));
  for (const device& dev : devices) {
    auto a = array<E>::from(dev, before);
    transpose_in_place<E>(dev, {a.data(), m, n, m});
    ASSERT_TRUE(a.to_vector() == wanted) << m << ' ' << n << ' ' << sizeof(E) << ' ' << dev.kind();
  }
}

// Large squares are read with another policy.
TEST(transposition_of_squares, in_place_where_large) {
  VOUCH_NEEDS_GPU();
  for (const std::int64_t n : {6495, 6496, 6497, 6559})
    expect_numbers_transposed<std::int32_t>(n, n, testing::gpus());
  for (const std::int64_t n : {4609, 4671, 4672, 4673})
    expect_numbers_transposed<double>(n, n, testing::gpus());
  for (const device& dev : testing::gpus())
    for (const auto& [more, shift] : {std::pair{1, 0}, {2, 5}, {64, 3}}) {
      expect_square_transposed<std::int32_t>(dev, 6498, more, shift);
      expect_square_transposed<double>(dev, 4642, more, shift);
      expect_square_transposed<interval<float>>(dev, 4642, more, shift);
    }
}

// More than 208 tiles of 64 (or 32) columns.
TEST(transposition_of_squares, in_place_in_several_stripes) {
  VOUCH_NEEDS_GPU();
  expect_numbers_transposed<std::int32_t>(13377, 13377, testing::gpus());
  expect_numbers_transposed<std::complex<double>>(6689, 6689, testing::gpus());
}

// More lines than one block holds, with a divisor of the sides that is 1, small, or the order of large squares.
TEST(transposition_of_rectangles, in_place_by_many_blocks) {
  const std::vector<device> all = testing::devices();
  for (const auto& [m, n] : {std::pair{1031, 1300},
                             {1300, 1031},
                             {1500, 1625},
                             {1625, 1500},
                             {2002, 1001},
                             {1001, 2002},
                             {1200, 800},
                             {1048, 1032},
                             {70, 9001},
                             {9001, 70}})
    expect_numbers_transposed<std::int32_t>(m, n, all);
  for (const auto& [m, n] : {std::pair{1031, 1300}, {1300, 1031}, {750, 625}, {800, 1200}, {1032, 1048}})
    expect_numbers_transposed<double>(m, n, all);
  for (const auto& [m, n] : {std::pair{901, 1105}, {1105, 901}})
    expect_numbers_transposed<std::complex<double>>(m, n, all);
}

// Sides with a small divisor: columns are turned by less than that, beyond the last line, too.
TEST(transposition_of_rectangles, in_place_with_a_small_common_divisor) {
  const std::vector<device> all = testing::devices();
  for (const auto& [m, n] : {std::pair{808, 8},
                             {8, 808},
                             {24, 36},
                             {31, 62},
                             {1030, 1290},
                             {1290, 1030},
                             {1044, 1068},
                             {1068, 1044},
                             {2049, 1026},
                             {992, 1056},
                             {1056, 992},
                             {1023, 1056},
                             {1056, 1023}})
    expect_numbers_transposed<std::int32_t>(m, n, all);
  for (const auto& [m, n] : {std::pair{1030, 1290}, {1290, 1030}, {735, 1029}, {1029, 735}})
    expect_numbers_transposed<double>(m, n, all);
  for (const auto& [m, n] : {std::pair{602, 616}, {616, 602}})
    expect_numbers_transposed<std::complex<double>>(m, n, all);
}

// Lines and columns too long for the memory of one multiprocessor.
TEST(transposition_of_rectangles, in_place_with_long_sides) {
  const std::vector<device> all = testing::devices();
  for (const auto& [m, n] :
       {std::pair{60000, 9}, {9, 60000}, {3, 200000}, {200000, 3}, {4, 100002}, {100002, 4}})
    expect_numbers_transposed<std::int32_t>(m, n, all);
  expect_numbers_transposed<double>(33, 60001, all);
}

// And for that of all of them.
TEST(transposition_of_rectangles, in_place_with_very_long_sides) {
  VOUCH_NEEDS_GPU();
  for (const auto& [m, n] : {std::pair{64, 58000}, {58000, 64}, {4, 1000002}, {1000002, 4}})
    expect_numbers_transposed<std::int32_t>(m, n, testing::gpus());
  for (const auto& [m, n] : {std::pair{2, 2000002}, {2000003, 2}})
    expect_numbers_transposed<std::complex<double>>(m, n, testing::gpus());
}

// Threads without a piece take no room: that of all is a copy of a slim matrix, not one a thread.
TEST(transposition_of_rectangles, in_place_takes_little_room_with_many_threads) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{2, 2000003}, {2000003, 2}}) {
    auto a = array<double>::zeros(device::cpu(1), m * n);
    const std::int64_t bytes = m * n * std::int64_t{sizeof(double)}, before = host_peak_bytes();
    transpose_in_place<double>(device::cpu(16), {a.data(), m, n, m});
    EXPECT_LT(host_peak_bytes() - before, 2 * bytes) << m << ' ' << n;
  }
}

// The room is taken before an element is touched.
TEST(transposition_errors, room_that_there_is_not) {
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
