#include <gtest/gtest.h>

#include <complex>

#include <vouch/sparse/transpose.hpp>

#include "matrices.hpp"

namespace vouch {
namespace {

using testing::entries;

entries swapped(const entries& list) {
  entries other;
  for (const auto& [place, value] : list) other[{place.second, place.first}] = value;
  return other;
}

template <class T>
void expect_transpose(std::int64_t rows, std::int64_t cols, const entries& list) {
  const csr<T> A = testing::matrix_of<T>(rows, cols, list);
  const csr<T> expected = testing::matrix_of<T>(cols, rows, swapped(list));
  for (const int threads : {1, 3, 8}) {
    const csr<T> B = transpose<T>(device::cpu(threads), A);
    EXPECT_EQ(B.rows, cols);
    EXPECT_EQ(B.cols, rows);
    EXPECT_EQ(B.row_ptr.to_vector(), expected.row_ptr.to_vector());
    EXPECT_EQ(B.col.to_vector(), expected.col.to_vector());
    EXPECT_EQ(B.val.to_vector(), expected.val.to_vector());
  }
}

template <class T>
class transposes : public ::testing::Test {};
using reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(transposes, reals);

// By its parts.
TEST(transpose_of_complex_numbers, moves_every_entry_as_it_is) {
  using complex = std::complex<double>;
  const device cpu = device::cpu(2);
  const csr<double> parts =
      testing::matrix_of<double>(4, 3, {{{0, 1}, 1}, {{0, 2}, 2}, {{2, 0}, 3}, {{3, 2}, 4}});
  const auto with_parts = [&](const csr<double>& of) {
    csr<complex> A{of.rows, of.cols, of.row_ptr.to(cpu), of.col.to(cpu), array<complex>(cpu, of.nonzeros())};
    for (std::int64_t k = 0; k < of.nonzeros(); ++k) A.val[k] = {of.val[k], -10 * of.val[k]};
    return A;
  };
  const csr<complex> A = with_parts(parts), expected = with_parts(transpose<double>(cpu, parts));
  const csr<complex> B = transpose(cpu, A.all());
  EXPECT_EQ(B.rows, 3);
  EXPECT_EQ(B.row_ptr.to_vector(), expected.row_ptr.to_vector());
  EXPECT_EQ(B.col.to_vector(), expected.col.to_vector());
  EXPECT_EQ(B.val.to_vector(), expected.val.to_vector());
}

TYPED_TEST(transposes, small_shapes) {
  expect_transpose<TypeParam>(0, 0, {});
  expect_transpose<TypeParam>(0, 3, {});
  expect_transpose<TypeParam>(3, 0, {});
  expect_transpose<TypeParam>(4, 2, {});
  expect_transpose<TypeParam>(1, 1, {{{0, 0}, 5}});
  expect_transpose<TypeParam>(2, 3, {{{0, 0}, 1}, {{0, 2}, 2}, {{1, 2}, 3}});
}

TYPED_TEST(transposes, random_rectangles) {
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    expect_transpose<TypeParam>(300, 200, testing::random_entries(300, 200, 2000, seed));
}

// One column takes an entry of every row: its row of the transpose is filled by all threads.
TYPED_TEST(transposes, a_full_column) {
  entries list = testing::random_entries(30000, 50, 30000, 9);
  for (std::int64_t i = 0; i < 30000; ++i) list[{i, 7}] = static_cast<double>(i % 100 + 1);
  expect_transpose<TypeParam>(30000, 50, list);
}

}  // namespace
}  // namespace vouch
