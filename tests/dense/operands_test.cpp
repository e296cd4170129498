// Operands that a device cannot reach are refused by name.
#include <gtest/gtest.h>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/complex_blas.hpp>
#include <vouch/dense/elementwise.hpp>
#include <vouch/dense/rounded_sums.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

using I = interval<double>;

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const value_error& e) {
    return e.what();
  }
  return "nothing thrown";
}

// Calls of all levels with a matrix and a vector that lie elsewhere than what is written.
void expect_refusal(const device& dev, const device& elsewhere, const std::string& where) {
  const auto A = matrix<I>::zeros(elsewhere, 3, 3);
  const auto x = array<I>::zeros(elsewhere, 3);
  auto y = array<I>::zeros(dev, 3);
  auto C = matrix<I>::zeros(dev, 3, 3);
  const auto expect = [&](const char* routine, const auto& call) {
    EXPECT_EQ(message_of(call), std::string(routine) + ": an operand does not lie on " + where);
  };
  expect("axpy", [&] { axpy<I, I>(dev, I(1.0), x, y); });
  expect("dot", [&] { dot<I, I>(dev, x, x); });
  expect("asum", [&] { asum<I>(dev, x); });
  expect("gemv", [&] { gemv<I, I, I>(dev, transpose::no, I(1.0), A, y, I(), y); });
  expect("syr", [&] { syr<I, I>(dev, triangle::lower, I(1.0), x, C); });
  expect("trsv", [&] { trsv<I, I>(dev, triangle::lower, transpose::no, diagonal::unit, A, y); });
  expect("gemm", [&] { gemm<I, I, I>(dev, transpose::no, transpose::no, I(1.0), A, A, I(), C); });
  expect("gemm",
         [&] { gemm<I, I, I>(dev, transpose::no, transpose::no, I(1.0), A, A, I(), C, gemm_mode::exact); });
  expect("trsm",
         [&] { trsm<I, I>(dev, side::left, triangle::lower, transpose::no, diagonal::unit, I(1.0), A, C); });
  expect("hull", [&] { hull<double>(dev, x, x, y); });
  const auto points = array<double>::zeros(elsewhere, 3);
  expect("rounded_sum", [&] { rounded_sum<double>(dev, points); });
  const auto Z = matrix<complex_interval<double>>::zeros(elsewhere, 2, 2);
  auto W = matrix<complex_interval<double>>::zeros(dev, 2, 2);
  expect("trsm",
         [&] { trsm<double>(dev, side::left, triangle::lower, transpose::no, diagonal::unit, {}, Z, W); });
  expect("hemm", [&] { hemm<double>(dev, side::left, triangle::lower, {}, Z, Z, {}, W); });
}

TEST(operands, lie_where_the_work_is_done) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : testing::gpus()) {
    expect_refusal(gpu, device::cpu(1), "GPU " + std::to_string(gpu.index()));
    expect_refusal(device::cpu(1), gpu, "the CPU");
  }
}

TEST(operands, on_the_cpu_are_reachable_from_it) {
  const double x = 0;
  EXPECT_TRUE(is_accessible(device::cpu(1), &x));
  EXPECT_TRUE(is_accessible(device::cpu(1), nullptr));
}

}  // namespace
}  // namespace vouch
