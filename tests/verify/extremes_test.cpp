// Every proof on systems at the ends of what doubles hold, against rational arithmetic: exponents to both ends,
// numbers below the normal ones, rows and columns scaled, permuted, nearly singular in blocks or in <A>, sides
// whose products cancel, and solutions that came from anywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/interval_data.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/sparse/h_matrix.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/exact.hpp"

namespace vouch {
namespace {

using testing::dice;

enum kind : int { wild, scaled, subnormal, huge, permuted, blocks, barely_dominant, gram, kinds };

using rows_of_doubles = std::vector<std::vector<double>>;

rows_of_doubles whole_numbers(dice& die, int n, double density) {
  rows_of_doubles M(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
  for (auto& row : M)
    for (double& value : row) value = die.unit() < density ? die.below(201) - 100 : 0;
  return M;
}

// A dominant diagonal, exactly as large as its row or one number beside.
void make_barely_dominant(dice& die, rows_of_doubles& M) {
  for (std::size_t i = 0; i < M.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < M.size(); ++j)
      if (j != i) sum += std::fabs(M[i][j] = -std::fabs(M[i][j]));
    const int which = die.below(6);
    M[i][i] = which == 0 ? std::nextafter(sum, 1e300) : which == 1 ? std::nextafter(sum, 0) : sum;
    if (which == 2) M[i][i] += 1;
  }
}

// Twice the same block of rows and columns, but for one number in the last place of an entry, perhaps.
void make_blocks(dice& die, rows_of_doubles& M) {
  const std::size_t half = M.size() / 2;
  for (std::size_t i = 0; i < half; ++i)
    for (std::size_t j = 0; j < half; ++j) M[i + half][j] = M[i][j + half] = M[i + half][j + half] = M[i][j];
  if (half > 0 && die.below(2) == 0)
    for (std::size_t i = 0; i < half; ++i) {
      double& moved = M[i + half][i + half];
      moved = die.below(2) == 0 ? std::nextafter(moved, 1e300) : moved + std::ldexp(1.0, -die.below(45));
    }
}

void make_gram(rows_of_doubles& M) {
  const rows_of_doubles G = M;
  for (std::size_t i = 0; i < M.size(); ++i)
    for (std::size_t j = 0; j < M.size(); ++j) {
      M[i][j] = 0;
      for (const auto& row : G) M[i][j] += row[i] * row[j];
    }
}

testing::entries extreme(dice& die, int n, int which) {
  rows_of_doubles M = whole_numbers(die, n, die.below(2) == 0 ? 0.4 : 0.9);
  if (which == barely_dominant || which == permuted) make_barely_dominant(die, M);
  if (which == blocks) make_blocks(die, M);
  if (which == gram) make_gram(M);
  if (which == permuted) {
    for (std::size_t i = 0; i < M.size(); ++i) M[i][i] *= 2;
    for (std::size_t i = 0; i < M.size(); ++i) std::swap(M[i], M[static_cast<std::size_t>(die.below(n))]);
  }
  // Exponents of rows and columns: anything, equal on both sides, or none.
  std::vector<int> left(M.size()), right(M.size());
  const int reach = which == scaled || which == gram ? 450 : which == blocks || which == permuted ? 30 : 0;
  for (std::size_t i = 0; i < M.size() && reach > 0; ++i) {
    left[i] = die.below(2 * reach) - reach;
    right[i] = which == gram ? left[i] : die.below(2 * reach) - reach;
  }
  const int shift = which == subnormal ? -1074 + die.below(60) : which == huge ? 1010 + die.below(8) : 0;
  testing::entries list;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const auto row = static_cast<std::size_t>(i), col = static_cast<std::size_t>(j);
      const int exponent = which == wild ? die.below(1900) - 1000 : left[row] + right[col] + shift;
      const double value = std::ldexp(M[row][col], exponent);
      if (value != 0) list[{i, j}] = value;
    }
  return list;
}

// What A x0 is for whole numbers x0 of different sizes, rounded; or numbers of any size.
std::vector<double> right_hand_side(dice& die, const csr<double>& A) {
  const int n = static_cast<int>(A.rows), which = die.below(4);
  std::vector<double> b(static_cast<std::size_t>(n));
  for (double& value : b)
    value = which == 0 ? die.number(true) : std::ldexp(die.number(false), die.below(2040) - 1060);
  if (which == 1) std::fill(b.begin() + n / 2, b.end(), 0.0);
  if (which != 2) return b;
  std::vector<mpq_class> sum(b.size());
  std::vector<double> x0;
  for (int i = 0; i < n; ++i) x0.push_back(std::ldexp(die.below(99) - 49, die.below(60)));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      sum[static_cast<std::size_t>(i)] +=
          mpq_class(A.val[k]) * mpq_class(x0[static_cast<std::size_t>(A.col[k])]);
  const mpq_class most(std::numeric_limits<double>::max());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = abs(sum[i]) < most ? sum[i].get_d() : 1;
  return b;
}

// Near the exact one, by a random number of bits, or not.
std::vector<double> solution(dice& die, const std::vector<mpq_class>& exact) {
  const mpq_class most(std::ldexp(1.0, 1023));
  const int bits = die.below(60);
  const bool anything = die.below(8) == 0;
  std::vector<double> x;
  for (const mpq_class& value : exact) {
    const double middle = abs(value) < most ? value.get_d() : 1e300;
    x.push_back(anything ? std::ldexp(die.number(false), die.below(1900) - 1000)
                         : middle * (1 + std::ldexp(die.unit(), -bits)));
  }
  return x;
}

bool are_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

// All proofs that the rooms have; those that do not apply are nullptr.
std::vector<std::unique_ptr<certificate>> all_proofs(const device& dev, const csr<double>& A,
                                                     const csr<double>& placed) {
  const structure_facts facts = structure<double>(device::cpu(1), A);
  std::vector<std::unique_ptr<certificate>> proofs;
  std::string reason;
  if (facts.first_zero_diagonal < 0)
    proofs.push_back(h_matrix::prove(dev, placed, {{}, facts.symmetric, facts.diagonal_positive}, reason));
  if (facts.symmetric && facts.diagonal_positive)
    proofs.push_back(positive_definite::prove(dev, placed, {}, reason));
  proofs.push_back(sparse_inverse::prove(dev, placed, {}, reason));
  proofs.push_back(dense_inverse::prove(dev, placed, {}, reason));
  return proofs;
}

TEST(extremes, bounds_hold_and_singular_matrices_never_verify) {
  std::array<int, kinds> proved{};
  int singular = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 20000 : 200000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 31000000);
      const int n = 1 + die.below(7), which = c % kinds;
      const csr<double> A = testing::matrix_of(n, n, extreme(die, n, which));
      const std::vector<double> b = right_hand_side(die, A);
      const auto exact = testing::exact_solution(testing::exactly(A), b);
      const csr<double> placed = A.to(dev);
      singular += exact ? 0 : 1;
      for (const auto& proof : all_proofs(dev, A, placed)) {
        if (proof == nullptr) continue;
        ASSERT_TRUE(exact) << "case " << c << ": a singular matrix, by " << proof->method();
        auto x = array<double>::from(dev, solution(die, *exact));
        const auto b_dev = array<double>::from(dev, b);
        const error_bound bound =
            bound_error(dev, placed, *proof, b_dev, x, {{}, die.below(2) == 0 ? 1e-15 : 0, 10});
        if (!bound.verified) continue;
        ++proved[static_cast<std::size_t>(which)];
        const std::vector<double> found = x.to_vector();
        ASSERT_TRUE(are_finite(found)) << "case " << c;
        ASSERT_TRUE(testing::contains(*exact, found, bound.radius.to_vector()))
            << "case " << c << " by " << proof->method();
        for (std::size_t i = 0; i < found.size() && bound.max_relative < 1; ++i)
          ASSERT_LE(abs((*exact)[i] - mpq_class(found[i])), mpq_class(bound.max_relative) * abs((*exact)[i]))
              << "case " << c;
      }
    }
  for (int k = 0; k < kinds; ++k) EXPECT_GT(proved[static_cast<std::size_t>(k)], 20) << "kind " << k;
  EXPECT_GT(singular, 50);
}

// Radii as wide as they may be: relative ones in the certificate, absolute ones beside it.
TEST(extremes, wide_radii_cover_what_lies_within) {
  const device cpu = device::cpu(1);
  int proved = 0;
  for (int c = 0; c < testing::campaign(100000); ++c) {
    dice die(static_cast<std::uint64_t>(c) + 37000000);
    const int n = 1 + die.below(5);
    testing::entries list = extreme(die, n, c % 2 == 0 ? barely_dominant : gram);
    for (int i = 0; i < n; ++i) list[{i, i}] *= 1 + 4 * die.unit();
    const csr<double> A = testing::matrix_of(n, n, list);
    const uncertainty within{std::ldexp(die.unit(), -die.below(8)), std::ldexp(die.unit(), -die.below(8))};
    const bool by_entries = die.below(2) == 0;
    const csr<double> placed = A.to(cpu);
    std::string reason;
    const auto proof =
        prove_nonsingular(cpu, placed, structure<double>(cpu, A), by_entries ? uncertainty{} : within, reason);
    if (proof == nullptr) continue;
    std::vector<double> b;
    for (int i = 0; i < n; ++i) b.push_back(die.number(false));
    auto x = array<double>::zeros(cpu, n);
    error_bound bound =
        bound_error(cpu, placed, *proof, array<double>::from(cpu, b), x, {by_entries ? uncertainty{} : within});
    if (by_entries && bound.verified) {
      data_radii radii{A.to(cpu), array<double>::from(cpu, b)};
      for (double& value : radii.matrix.val) value = std::fabs(value) * within.matrix;
      for (double& value : radii.rhs) value = std::fabs(value) * within.rhs;
      widen_to_data(cpu, *proof, radii, x, 0, bound);
    }
    if (!bound.verified) continue;
    ++proved;
    for (int k = 0; k < 6; ++k) {
      const auto moved = [&](double value, double part) {
        return value * (1 + (k < 4 ? 2 * die.below(2) - 1 : 2 * die.unit() - 1) * part * (1 - 0x1p-40));
      };
      csr<double> one = A.to(cpu);
      std::vector<double> rhs = b;
      for (double& value : one.val) value = moved(value, within.matrix);
      for (double& value : rhs) value = moved(value, within.rhs);
      const auto exact = testing::exact_solution(testing::exactly(one), rhs);
      ASSERT_TRUE(exact) << "case " << c << ": a singular matrix within the radii";
      ASSERT_TRUE(testing::contains(*exact, x.to_vector(), bound.radius.to_vector())) << "case " << c;
    }
  }
  EXPECT_GT(proved, 100);
}

}  // namespace
}  // namespace vouch
