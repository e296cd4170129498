// Products against quadruple precision by maps: no order of summation of ours, no table of ours.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include <devices.hpp>
#include <sparse/spmv_cases.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/sparse/product.hpp>
#include <vouch/sparse/transpose.hpp>

namespace vouch {
namespace {

using testing::quad;

// Row i has about length(i) entries at random columns.
template <class T, class Length>
csr<T> random_csr(std::int64_t rows, std::int64_t cols, std::uint64_t seed, Length length) {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col;
  std::vector<T> val;
  std::uint64_t at = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::map<std::int32_t, T> row;
    for (std::int64_t k = 0; k < length(i) && cols > 0; ++k) {
      const auto j = static_cast<std::int32_t>(random_unit(seed, at++) * static_cast<double>(cols));
      row[j] = static_cast<T>(random_unit(seed, at++) - 0.5);
    }
    for (const auto& [j, value] : row) {
      col.push_back(j);
      val.push_back(value);
    }
    row_ptr.push_back(static_cast<std::int64_t>(col.size()));
  }
  const device cpu = device::cpu(1);
  return {rows, cols, array<std::int64_t>::from(cpu, row_ptr), array<std::int32_t>::from(cpu, col),
          array<T>::from(cpu, val)};
}

struct entry {
  quad sum = 0, magnitude = 0;
  int terms = 0;
};

template <class T>
std::map<std::int32_t, entry> exact_row(const csr<T>& A, const csr<T>& B, std::int64_t i) {
  std::map<std::int32_t, entry> row;
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    for (std::int64_t e = B.row_ptr[A.col[k]]; e < B.row_ptr[A.col[k] + 1]; ++e) {
      const quad product = quad(A.val[k]) * B.val[e];
      entry& to = row[B.col[e]];
      to.sum += product;
      to.magnitude += product < 0 ? -product : product;
      ++to.terms;
    }
  return row;
}

template <class T>
void expect_product(const csr<T>& A, const csr<T>& B, const csr<T>& C) {
  ASSERT_EQ(C.rows, A.rows);
  ASSERT_EQ(C.cols, B.cols);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::map<std::int32_t, entry> row = exact_row(A, B, i);
    ASSERT_EQ(C.row_ptr[i + 1] - C.row_ptr[i], static_cast<std::int64_t>(row.size())) << "row " << i;
    std::int64_t k = C.row_ptr[i];
    for (const auto& [j, exact] : row) {
      ASSERT_EQ(C.col[k], j) << "row " << i;
      const quad error = C.val[k] - exact.sum, size = error < 0 ? -error : error;
      // Sums are formed in double; those of floats are rounded to float once.
      const quad rounding = sizeof(T) == 4 ? quad(std::numeric_limits<float>::epsilon() / 2) *
                                                 (exact.sum < 0 ? -exact.sum : exact.sum)
                                           : quad(0);
      ASSERT_LE(static_cast<double>(size),
                static_cast<double>(1.01 * rounding + exact.terms * 0x1p-52 * exact.magnitude))
          << "row " << i << " column " << j;
      ++k;
    }
  }
}

template <class T>
void expect_same(const csr<T>& A, const csr<T>& B) {
  EXPECT_EQ(A.row_ptr.to_vector(), B.row_ptr.to_vector());
  EXPECT_EQ(A.col.to_vector(), B.col.to_vector());
  EXPECT_EQ(A.val.to_vector(), B.val.to_vector());
}

template <class T>
class sparse_product : public ::testing::Test {};
using both = ::testing::Types<float, double>;
TYPED_TEST_SUITE(sparse_product, both);

template <class T>
void check_on_all_devices(const csr<T>& A, const csr<T>& B) {
  const csr<T> first = multiply<T>(device::cpu(1), A.all(), B.all());
  expect_product(A, B, first);
  for (const device& dev : testing::devices()) {
    const csr<T> there = A.to(dev), other = B.to(dev);
    expect_same(first, multiply<T>(dev, there.all(), other.all()).to(device::cpu(1)));
  }
}

TYPED_TEST(sparse_product, of_rows_of_every_length) {
  using T = TypeParam;
  const auto few = [](std::int64_t i) { return i % 7; };
  check_on_all_devices<T>(random_csr<T>(400, 300, 1, few), random_csr<T>(300, 500, 2, few));
  // One row each for every kind of table, and one that takes all of B.
  const auto steep = [](std::int64_t i) { return std::int64_t{1} << (i % 13); };
  check_on_all_devices<T>(random_csr<T>(40, 5000, 3, steep), random_csr<T>(5000, 9000, 4, few));
  const auto many = [](std::int64_t) { return 200; };
  check_on_all_devices<T>(random_csr<T>(30, 300, 5, many), random_csr<T>(300, 2000, 6, many));
}

TYPED_TEST(sparse_product, of_rows_that_meet_in_few_columns) {
  using T = TypeParam;
  const auto many = [](std::int64_t) { return 60; };
  check_on_all_devices<T>(random_csr<T>(200, 400, 7, many), random_csr<T>(400, 20, 8, many));
}

TYPED_TEST(sparse_product, of_nothing) {
  using T = TypeParam;
  const auto none = [](std::int64_t) { return 0; };
  const auto two = [](std::int64_t) { return 2; };
  check_on_all_devices<T>(random_csr<T>(0, 0, 1, none), random_csr<T>(0, 0, 1, none));
  check_on_all_devices<T>(random_csr<T>(3, 0, 1, none), random_csr<T>(0, 4, 1, none));
  check_on_all_devices<T>(random_csr<T>(5, 4, 1, none), random_csr<T>(4, 3, 1, two));
  check_on_all_devices<T>(random_csr<T>(5, 4, 1, two), random_csr<T>(4, 0, 1, none));
}

TYPED_TEST(sparse_product, refuses_shapes_that_do_not_fit) {
  using T = TypeParam;
  const auto one = [](std::int64_t) { return 1; };
  const csr<T> A = random_csr<T>(3, 4, 1, one), B = random_csr<T>(5, 4, 2, one);
  EXPECT_THROW(multiply<T>(device::cpu(1), A.all(), B.all()), shape_error);
}

TYPED_TEST(sparse_product, transposes_are_the_same_on_every_device) {
  using T = TypeParam;
  const auto steep = [](std::int64_t i) { return std::int64_t{1} << (i % 9); };
  for (const csr<T>& A : {random_csr<T>(300, 700, 9, steep), random_csr<T>(5, 0, 1, steep),
                          random_csr<T>(0, 5, 1, steep), random_csr<T>(1, 1, 1, steep)}) {
    const csr<T> first = transpose<T>(device::cpu(1), A.all());
    for (const device& dev : testing::devices()) {
      const csr<T> there = A.to(dev);
      expect_same(first, transpose<T>(dev, there.all()).to(device::cpu(1)));
    }
  }
}

}  // namespace
}  // namespace vouch
