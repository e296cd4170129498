#include <vouch/verify/dense/dense_inverse.hpp>

#include <gtest/gtest.h>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/error.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>

#include "devices.hpp"
#include "groups.hpp"
#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

using testing::dice;

// Random, graded, nearly singular and singular matrices: the last row is a combination of two others, exactly
// or with one entry moved by one unit of its last place.
csr<double> general(dice& die, int n, int kind) {
  std::vector<std::vector<double>> M(static_cast<std::size_t>(n),
                                     std::vector<double>(static_cast<std::size_t>(n)));
  for (auto& row : M)
    for (double& value : row) value = kind == 0 ? die.number(true) : die.below(2001) - 1000;
  if (n > 2 && kind >= 2)
    for (std::size_t j = 0; j < M.size(); ++j) M.back()[j] = 3 * M[0][j] - M[1][j];
  if (kind == 3) {
    double& moved = M.back()[static_cast<std::size_t>(die.below(n))];
    moved = std::nextafter(moved, 1e9);
  }
  testing::entries list;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      list[{i, j}] =
          std::ldexp(M[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], kind == 0 ? 0 : i - j);
  return testing::matrix_of(n, n, list);
}

std::vector<double> entries_of(const csr<double>& A) {
  std::vector<double> entries(static_cast<std::size_t>(A.rows * A.cols));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      entries[static_cast<std::size_t>(i + A.col[k] * A.rows)] = A.val[k];
  return entries;
}

TEST(dense_inverse, bounds_hold_and_singular_matrices_never_verify) {
  int proved = 0, singular = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 10000 : 100000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 9000000);
      const int n = 1 + die.below(9);
      const csr<double> A = general(die, n, c % 4);
      std::vector<double> b;
      for (int i = 0; i < n; ++i) b.push_back(die.number(true));
      const auto exact = testing::exact_solution(testing::exactly(A), b);
      const csr<double> placed = A.to(dev);
      std::string reason;
      const auto M = matrix<double>::from(dev, n, n, entries_of(A));
      const bool dense = c % 3 == 0;
      const auto proof = dense ? dense_inverse::prove(dev, M.read(), {}, reason)
                               : dense_inverse::prove(dev, placed, {}, reason);
      ASSERT_EQ(proof == nullptr, !reason.empty());
      if (!exact) {
        ++singular;
        ASSERT_EQ(proof, nullptr) << "case " << c;
        continue;
      }
      if (proof == nullptr) continue;
      ++proved;
      const double wish = c % 8 < 4 ? 1e-15 : 0;
      if (dense)
        testing::expect_bound_holds(dev, M.read(), *proof, b, *exact, die, wish, c);
      else
        testing::expect_bound_holds(dev, placed, *proof, b, *exact, die, wish, c);
      ASSERT_FALSE(HasFailure());
    }
  EXPECT_GT(proved, 500);
  EXPECT_GT(singular, 200);
}

TEST(dense_inverse, covers_uncertain_matrices) {
  const device cpu = device::cpu(1);
  dice die(4);
  const csr<double> A = general(die, 4, 1);
  const double radius = 1e-5;
  std::string reason;
  const auto proof = dense_inverse::prove(cpu, A, {radius, 0}, reason);
  ASSERT_NE(proof, nullptr) << reason;
  testing::expect_covers_corners(cpu, A, *proof, radius, die, 200);
}

// A system of whole numbers with the solution e, more than one block of every kernel; the bounds of the x found.
std::vector<double> bounds_of_ones(const device_group& devices, int n, const uncertainty& within) {
  const device& dev = devices.front();
  dice die(77);
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> entries(size * size), b(size);
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = 0; i < size; ++i) b[i] += entries[i + j * size] = die.below(2001) - 1000;
  const auto A = matrix<double>::from(dev, n, n, entries);
  std::string reason;
  const auto proof = prove_nonsingular(devices, A.read(), within, reason);
  EXPECT_NE(proof, nullptr) << reason;
  if (proof == nullptr) return {};
  const auto b_dev = array<double>::from(dev, b);
  array<double> x = array<double>::zeros(dev, n);
  const error_bound bound =
      bound_error(dev, A.read(), *proof, b_dev, x, {within, within.matrix > 0 ? 0 : 1e-12, 10});
  EXPECT_TRUE(bound.reached) << bound.reason;
  const std::vector<double> found = x.to_vector();
  std::vector<double> radius = bound.radius.to_vector();
  for (std::size_t i = 0; i < size; ++i) EXPECT_LE(std::fabs(found[i] - 1), radius[i]) << i;
  return radius;
}

TEST(dense_inverse, larger_systems_are_solved_from_zero) {
  for (const device& dev : testing::devices()) bounds_of_ones(dev, 300, {});
}

// The wires between GPUs are tested where there are two.
void expect_shared_bounds(const std::vector<int>& gpus) {
  const auto group = [&](std::size_t size) {
    std::vector<device> all;
    for (std::size_t k = 0; k < size; ++k) all.push_back(device::cuda(gpus[k % gpus.size()]));
    return device_group(std::move(all), 8);
  };
  for (const int n : {1, 2, 7, 9, 300})
    for (const double radius : {0.0, 1e-7}) {
      const std::vector<double> alone = bounds_of_ones(group(1), n, {radius, 0});
      for (const std::size_t size : {2, 3, 8}) {
        const std::vector<double> shared = bounds_of_ones(group(size), n, {radius, 0});
        EXPECT_EQ(bounds_of_ones(group(size), n, {radius, 0}), shared) << n;
        ASSERT_EQ(alone.size(), shared.size());
        for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_LE(shared[i], 4 * alone[i] + 1e-15) << n;
      }
    }
}

TEST(dense_inverse, members_on_one_gpu_share_the_columns) {
  VOUCH_NEEDS_GPU();
  expect_shared_bounds({0});
}

TEST(dense_inverse, two_gpus_share_the_columns) {
  VOUCH_NEEDS_TWO_GPUS();
  expect_shared_bounds({0, 1});
}

// The same pivots are met by all.
TEST(dense_inverse, singular_matrices_never_verify_on_several_gpus) {
  VOUCH_NEEDS_GPU();
  const device_group devices({device::cuda(0), device::cuda(0)}, 8);
  const auto A = matrix<double>::from(devices.front(), 3, 3, std::vector<double>{1, 2, 3, 4, 5, 6, 5, 7, 9});
  std::string reason;
  EXPECT_EQ(dense_inverse::prove(devices, A.read(), {}, reason), nullptr);
  EXPECT_FALSE(reason.empty());
}

// Columns of sizes from 2^-400 to 2^400 make a v of as different sizes; the solution is 2^-e.
TEST(dense_inverse, columns_of_very_different_size_are_proved) {
  for (const device& dev : testing::devices()) {
    constexpr int n = 40;
    dice die(78);
    std::vector<double> entries(n * n), b(n), exact(n);
    for (std::size_t j = 0; j < n; ++j) {
      const int exponent = die.below(801) - 400;
      exact[j] = std::ldexp(1.0, -exponent);
      for (std::size_t i = 0; i < n; ++i) {
        const double value = die.below(2001) - 1000;
        entries[i + j * n] = std::ldexp(value, exponent);
        b[i] += value;
      }
    }
    const auto A = matrix<double>::from(dev, n, n, entries);
    std::string reason;
    const auto proof = prove_nonsingular(dev, A.read(), {}, reason);
    ASSERT_NE(proof, nullptr) << reason;
    array<double> x = array<double>::from(dev, exact);
    const error_bound bound =
        bound_error(dev, A.read(), *proof, array<double>::from(dev, b), x, {{}, 1e-10, 10});
    EXPECT_TRUE(bound.reached) << bound.reason;
    const std::vector<double> found = x.to_vector(), radius = bound.radius.to_vector();
    for (std::size_t i = 0; i < n; ++i) ASSERT_LE(std::fabs(found[i] - exact[i]), radius[i]);
  }
}

TEST(prove_nonsingular, takes_the_first_that_applies_and_says_why_none_does) {
  const device cpu = device::cpu(1);
  const auto method_of = [&](const testing::entries& list) {
    const csr<double> A = testing::matrix_of(2, 2, list);
    std::string reason;
    const auto proof = prove_nonsingular(cpu, A, structure<double>(cpu, A), {}, reason);
    return proof != nullptr ? proof->method() : "none: " + reason;
  };
  EXPECT_EQ(method_of({{{0, 0}, 2}, {{0, 1}, 1}, {{1, 1}, 3}}), "h-matrix");
  EXPECT_EQ(method_of({{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{1, 1}, 5}}), "h-matrix");
  EXPECT_EQ(method_of({{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 3}, {{1, 1}, 4}}), "approximate inverse");
  EXPECT_EQ(method_of({{{0, 1}, 1}, {{1, 0}, 1}}), "approximate inverse");
  EXPECT_NE(method_of({{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{1, 1}, 4}}).find("singular"),
            std::string::npos);
}

}  // namespace
}  // namespace vouch
