#include <gtest/gtest.h>

#include <limits>
#include <string>

#include <vouch/sparse/check.hpp>

#include "devices.hpp"
#include "matrices.hpp"

namespace vouch {
namespace {

using testing::matrix_of;

// [1 2 0; 0 0 0; 0 3 4]
csr<double> small() { return matrix_of(3, 3, {{{0, 0}, 1}, {{0, 1}, 2}, {{2, 1}, 3}, {{2, 2}, 4}}); }

// On every device.
void expect_said(const csr<double>& A, const std::string& text) {
  for (const device& dev : testing::devices()) {
    const csr<double> there = A.to(dev);
    EXPECT_EQ(check<double>(dev, there), text) << dev.kind();
  }
}

TEST(check, says_nothing_of_a_matrix) {
  expect_said(small(), "");
  expect_said(matrix_of(0, 0, {}), "");
  expect_said(matrix_of(4, 7, {}), "");
}

TEST(check, names_what_is_no_number) {
  const double infinite = std::numeric_limits<double>::infinity();
  csr<double> A = small();
  A.val[3] = -infinite;
  expect_said(A, "entry 3 of row 2, in column 2, is infinite");
  A.val[2] = std::numeric_limits<double>::quiet_NaN();
  expect_said(A, "entry 2 of row 2, in column 1, is NaN");
  A.val[0] = infinite;
  expect_said(A, "entry 0 of row 0, in column 0, is infinite");
}

TEST(check, names_the_first_of_many) {
  testing::entries list;
  for (std::int64_t i = 0; i < 3000; ++i) list[{i, i}] = list[{i, (i + 5) % 3000}] = 1;
  csr<double> A = matrix_of(3000, 3000, list);
  for (const std::int64_t k : {5999, 4001, 1234}) {
    A.val[k] = std::numeric_limits<double>::infinity();
    expect_said(A, "entry " + std::to_string(k) + " of row " + std::to_string(k / 2) + ", in column " +
                       std::to_string(A.col[k]) + ", is infinite");
  }
}

TEST(check, names_what_is_wrong_with_the_pattern_first) {
  csr<double> A = small();
  A.val[0] = std::numeric_limits<double>::quiet_NaN();
  A.col[3] = 7;
  expect_said(A, "entry 3 of row 2 is in column 7, the matrix has 3 columns");
  A = small();
  A.col[1] = 0;
  expect_said(A, "entry 1 of row 0 is in column 0, as the one before");
  A = small();
  A.row_ptr[1] = 1;
  A.row_ptr[2] = 0;
  expect_said(A, "row 1 ends at entry 0, before it begins at 1");
  const device cpu = device::cpu(1);
  EXPECT_EQ(check(cpu, csr_view<const float>{-1, 2, 0, nullptr, nullptr, nullptr}), "the matrix is -1 by 2");
  EXPECT_EQ(check(cpu, csr_view<const float>{2, 2, 0, nullptr, nullptr, nullptr}), "row_ptr is null");
}

}  // namespace
}  // namespace vouch
