// Bounds of least-squares and shortest solutions against rational arithmetic: nothing without full rank is proved.
#include <vouch/verify/full_rank.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/sparse/transpose.hpp>

#include "data.hpp"
#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

using testing::dice;
using testing::rational_matrix;
using rationals = std::vector<mpq_class>;

const device cpu = device::cpu(2);

// The least-squares or the shortest solution; nothing where A has not full rank.
std::optional<rationals> solution(const csr<double>& A, const std::vector<double>& b) {
  return testing::exact_least_squares(testing::exactly(A), static_cast<std::size_t>(A.cols), b);
}

// Of kinds that differ in how near they are to matrices without full rank, and in the sizes of columns and entries.
csr<double> tall(dice& die, int c, int m, int n, double density) {
  const int kind = c % 6;
  testing::entries list;
  for (int j = 0; j < n; ++j) {
    const int size = kind == 1 ? die.below(500) - 250 : 0;
    for (int i = 0; i < m; ++i) {
      if (i != j && die.unit() >= density) continue;
      const double value = kind == 2 ? die.number(true) : kind == 3 ? die.below(7) - 3 : die.number(false);
      list[{i, j}] = std::ldexp(value, size);
    }
  }
  if (kind >= 4 && n > 1) {  // twice a column, or that and a little
    const int little = die.below(60);
    for (int i = 0; i < m; ++i) {
      const double value = std::ldexp(std::round(std::ldexp(list[{i, 0}], 20)), -20);
      list[{i, 0}] = value;
      list[{i, n - 1}] = 2 * value + (kind == 5 ? std::ldexp(die.unit(), -little) : 0);
    }
  }
  if (c % 29 == 0)
    for (int i = 0; i < m; ++i) list[{i, n / 2}] = 0;
  return testing::matrix_of(m, n, list);
}

struct tally {
  int refused = 0;
  std::map<std::string, int> proved;
};

void expect_truth(const csr<double>& A, dice& die, int c, tally& all) {
  std::vector<double> b;
  for (std::int64_t i = 0; i < A.rows; ++i) b.push_back(die.number(c % 2 == 0));
  const std::optional<rationals> exact = solution(A, b);
  std::string reason;
  const auto proof = full_rank::prove(cpu, A, {}, reason);
  ASSERT_EQ(proof == nullptr, !reason.empty());
  if (!exact) {
    ++all.refused;
    ASSERT_EQ(proof, nullptr) << "case " << c;
    return;
  }
  if (proof == nullptr) return;
  ++all.proved[proof->method()];
  auto x = array<double>::from(cpu, testing::near(*exact, die));
  const std::vector<double> given = x.to_vector();
  bound_options wish;
  wish.relative = c % 3 == 0 ? 1e-12 : 0;
  const auto rhs = array<double>::from(cpu, b);
  const error_bound bound = bound_error(cpu, A, *proof, rhs, x, wish);
  ASSERT_EQ(bound.radius.size(), A.cols);
  if (bound.refinements == 0) {
    ASSERT_EQ(x.to_vector(), given);
  }
  ASSERT_TRUE(testing::contains(*exact, x.to_vector(), bound.radius.to_vector())) << "case " << c;
  for (std::int64_t i = 0; i < A.cols && bound.verified; ++i) ASSERT_LE(bound.radius[i], bound.max_absolute);
}

TEST(full_rank, bounds_hold_and_nothing_without_full_rank_is_proved) {
  tally all;
  for (int c = 0; c < testing::campaign(20000); ++c) {
    dice die(static_cast<std::uint64_t>(c) + 91000000);
    const int n = 1 + die.below(5), m = n + 1 + die.below(4);
    const csr<double> A = tall(die, c, m, n, 0.7);
    expect_truth(c % 2 == 0 ? transpose<double>(cpu, A) : A.to(cpu), die, c, all);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(all.refused, 10);
  EXPECT_GT(all.proved["normal equations, cholesky"], 60);
  EXPECT_GT(all.proved["augmented matrix, approximate inverse"] +
                all.proved["augmented matrix, approximate inverse, second step"],
            2);
}

TEST(full_rank, sparse_ones_as_well) {
  tally all;
  for (int c = 0; c < testing::campaign(2000); ++c) {
    dice die(static_cast<std::uint64_t>(c) + 92000000);
    expect_truth(tall(die, 4 + c % 2, 50, 14, 0.15), die, c, all);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(all.refused, 3);
  EXPECT_GT(all.proved["augmented matrix, sparse inverse"], 0);
}

// Every A' and b' within the radii, which are relative or files of numbers.
TEST(full_rank, covers_uncertain_data) {
  for (int c = 0; c < testing::campaign(6000); ++c) {
    dice die(static_cast<std::uint64_t>(c) + 93000000);
    const int n = 1 + die.below(4), m = n + 1 + die.below(4);
    const csr<double> tall_one = tall(die, c % 2, m, n, 0.8);
    const csr<double> A = c % 3 == 0 ? transpose<double>(cpu, tall_one) : tall_one.to(cpu);
    const double radius = std::ldexp(1.0, -8 - die.below(30));
    const bool by_entries = c % 2 == 1;
    const uncertainty within = by_entries ? uncertainty{} : uncertainty{radius, radius};
    std::vector<double> b;
    for (std::int64_t i = 0; i < A.rows; ++i) b.push_back(die.number(false));
    data_radii radii{A.to(cpu), array<double>(cpu, A.rows)};
    for (double& value : radii.matrix.val) value = radius * std::fabs(value);
    for (std::int64_t i = 0; i < A.rows; ++i) radii.rhs[i] = radius * std::fabs(b[static_cast<std::size_t>(i)]);
    std::string reason;
    const auto proof = full_rank::prove(cpu, A, within, reason);
    const std::optional<rationals> exact = solution(A, b);
    if (proof == nullptr || !exact) continue;
    std::vector<double> start;
    for (const mpq_class& value : *exact) start.push_back(value.get_d());
    auto x = array<double>::from(cpu, start);
    bound_options wish;
    wish.within = within;
    const error_bound bound =
        bound_error(cpu, A, *proof, array<double>::from(cpu, b), x, wish, by_entries ? &radii : nullptr);
    if (!bound.verified) continue;
    for (int corner = 0; corner < 8; ++corner) {
      csr<double> near_A = A.to(cpu);
      std::vector<double> near_b = b;
      for (double& value : near_A.val) value *= 1 + (die.below(2) * 2 - 1) * 0.99 * radius;
      for (double& value : near_b) value *= 1 + (die.below(2) * 2 - 1) * 0.99 * radius;
      const std::optional<rationals> other = solution(near_A, near_b);
      ASSERT_TRUE(other.has_value()) << "case " << c;
      ASSERT_TRUE(testing::contains(*other, x.to_vector(), bound.radius.to_vector())) << "case " << c;
    }
  }
}

TEST(full_rank, is_near_the_error) {
  dice die(5);
  const csr<double> A = tall(die, 6, 40, 12, 0.5);
  std::vector<double> b;
  for (int i = 0; i < 40; ++i) b.push_back(die.number(false));
  const rationals exact = *solution(A, b);
  std::vector<double> start;
  for (const mpq_class& value : exact) start.push_back(value.get_d() * (1 + 1e-9 * (die.unit() - 0.5)));
  auto x = array<double>::from(cpu, start);
  std::string reason;
  const auto proof = full_rank::prove(cpu, A, {}, reason);
  ASSERT_NE(proof, nullptr) << reason;
  const auto rhs = array<double>::from(cpu, b);
  const error_bound bound = bound_error(cpu, A, *proof, rhs, x);
  double error = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    error = std::max(error, std::fabs(mpq_class(exact[i] - mpq_class(start[i])).get_d()));
  EXPECT_EQ(bound.refinements, 0);
  EXPECT_LE(bound.max_absolute, 1.001 * error);
  bound_options wish;
  wish.relative = 1e-15;
  EXPECT_TRUE(bound_error(cpu, A, *proof, rhs, x, wish).reached);
}

// Sums that cancel are enclosed alike from both sides, whatever the columns' numbers of entries.
TEST(full_rank, proves_columns_orthogonal_to_rounding) {
  dice die(91);
  constexpr std::int64_t pairs = 200, rows = 40, few = 21;
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col;
  std::vector<double> val;
  for (std::int64_t p = 0; p < pairs; ++p) {
    std::vector<double> a(rows), b(few);
    double product = 0, square = 0;
    for (double& value : a) value = die.number(false);
    for (double& value : b) value = die.number(false);
    for (std::size_t i = 0; i < few; ++i) product += a[i] * b[i], square += a[i] * a[i];
    for (std::size_t i = 0; i < few; ++i) b[i] -= product / square * a[i];
    for (std::size_t i = 0; i < rows; ++i) {
      col.push_back(static_cast<std::int32_t>(2 * p));
      val.push_back(a[i]);
      if (i < few) {
        col.push_back(static_cast<std::int32_t>(2 * p + 1));
        val.push_back(b[i]);
      }
      row_ptr.push_back(std::ssize(col));
    }
  }
  const csr<double> A{pairs * rows, 2 * pairs, array<std::int64_t>::from(cpu, row_ptr),
                      array<std::int32_t>::from(cpu, col), array<double>::from(cpu, val)};
  std::string reason;
  const auto proof = full_rank::prove(cpu, A, {}, reason);
  ASSERT_NE(proof, nullptr) << reason;
  EXPECT_EQ(proof->method().find("normal equations"), 0U) << proof->method();
}

TEST(full_rank, refuses_what_it_cannot_treat) {
  const csr<double> A = testing::matrix_of(3, 2, {{{0, 0}, 1}, {{1, 1}, 1}, {{2, 0}, 1}});
  std::string reason;
  const auto proof = full_rank::prove(cpu, A, {}, reason);
  ASSERT_NE(proof, nullptr);
  const auto b = array<double>::from(cpu, std::vector<double>{1, 2, 3});
  auto x = array<double>::zeros(cpu, 2);
  EXPECT_THROW(bound_error(cpu, A, *proof, x, x), shape_error);
  EXPECT_THROW(bound_error(cpu, A, *proof, b, array<double>::zeros(cpu, 3)), shape_error);
  bound_options wide;
  wide.within = {1e-3, 0};
  EXPECT_THROW(bound_error(cpu, A, *proof, b, x, wide), value_error);
  EXPECT_THROW(full_rank::prove(cpu, A, {-1, 0}, reason), value_error);
  const data_radii other{testing::matrix_of(2, 2, {{{0, 0}, 1}}), array<double>::zeros(cpu, 3)};
  EXPECT_THROW(bound_error(cpu, A, *proof, b, x, {}, &other), shape_error);
  csr<double> changed = A.to(cpu);
  changed.val[0] = 2;
  EXPECT_THROW(bound_error(cpu, changed, *proof, b, x), value_error);
  changed.val[0] = std::nan("");
  EXPECT_EQ(full_rank::prove(cpu, changed, {}, reason), nullptr);
  EXPECT_EQ(full_rank::prove(cpu, testing::matrix_of(3, 2, {{{0, 0}, 1}, {{2, 0}, 1}}), {}, reason), nullptr);
  EXPECT_NE(reason.find("column 2 is zero"), std::string::npos) << reason;
  x[0] = std::nan("");
  EXPECT_FALSE(bound_error(cpu, A, *proof, b, x).verified);
  csr<double> none = testing::matrix_of(2, 2, {});
  none.cols = 0;
  const auto empty = full_rank::prove(cpu, none, {}, reason);
  ASSERT_NE(empty, nullptr) << reason;
  auto nothing = array<double>::zeros(cpu, 0);
  EXPECT_TRUE(
      bound_error(cpu, none, *empty, array<double>::from(cpu, std::vector<double>{1, 2}), nothing).verified);
}

// From x = 0, refined, to the asked digits.
TEST(full_rank, solves_published_problems) {
  for (const char* name : {"well1033", "illc1033", "ash219"}) {
    const std::string path = testing::data_file(std::string("matrices/") + name + ".mtx");
    VOUCH_NEEDS_DATA(path);
    const csr<double> A = read_csr(cpu, path);
    std::string reason;
    const auto proof = full_rank::prove(cpu, A, {}, reason);
    ASSERT_NE(proof, nullptr) << name << ": " << reason;
    dice die(7);
    std::vector<double> rhs;
    for (std::int64_t i = 0; i < A.rows; ++i) rhs.push_back(die.unit());
    const auto b = array<double>::from(cpu, rhs);
    auto x = array<double>::zeros(cpu, A.cols);
    bound_options wish;
    wish.relative = 1e-6;
    const error_bound bound = bound_error(cpu, A, *proof, b, x, wish);
    EXPECT_TRUE(bound.reached) << name << ": " << bound.reason;
  }
}

}  // namespace
}  // namespace vouch
