#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/dense/structure.hpp>

#include <vouch/core/ieee_environment.hpp>

namespace vouch {
namespace {

constexpr std::int64_t piece = 1024;  // rows that one thread takes at a time
constexpr std::int64_t tile = 64;     // of a comparison with the transpose

struct row_facts {
  std::int64_t entries = 0;
  double others = 0;  // sum of the magnitudes beside the diagonal
  std::int64_t lower = 0, upper = 0;
};

std::vector<row_facts> look_at_rows(const device& dev, matrix_view<const double> A) {
  std::vector<row_facts> rows(static_cast<std::size_t>(A.rows));
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (A.rows > piece)
  for (std::int64_t first = 0; first < A.rows; first += piece)
    for (std::int64_t j = 0; j < A.cols; ++j)
      for (std::int64_t i = first; i < std::min(A.rows, first + piece); ++i) {
        const double value = A(i, j);
        if (value == 0) continue;
        row_facts& row = rows[static_cast<std::size_t>(i)];
        ++row.entries;
        if (i != j) row.others += std::fabs(value);
        row.lower = std::max(row.lower, i - j);
        row.upper = std::max(row.upper, j - i);
      }
  return rows;
}

// The first entry below the diagonal that differs from its mirror, tile by tile.
std::optional<unsymmetric_entry> find_unsymmetric(matrix_view<const double> A) {
  for (std::int64_t j0 = 0; j0 < A.cols; j0 += tile)
    for (std::int64_t i0 = j0; i0 < A.rows; i0 += tile)
      for (std::int64_t j = j0; j < std::min(A.cols, j0 + tile); ++j)
        for (std::int64_t i = std::max(i0, j + 1); i < std::min(A.rows, i0 + tile); ++i)
          if (A(i, j) != A(j, i)) return unsymmetric_entry{i, j, A(i, j), A(j, i)};
  return {};
}

// Of the real form of a complex matrix, whether that equals its transpose.
bool is_complex_symmetric(matrix_view<const double> A) {
  if (A.rows % 2 != 0) return false;
  for (std::int64_t j = 0; j < A.cols; j += 2)
    for (std::int64_t i = 0; i < A.rows; i += 2) {
      const double real = A(i, j), imaginary = A(i + 1, j);
      if (A(i + 1, j + 1) != real || A(i, j + 1) != -imaginary) return false;
      if (A(j, i) != real || A(j + 1, i) != imaginary) return false;
    }
  return true;
}

void judge_diagonal(structure_facts& facts, std::int64_t i, double diagonal, double others) {
  if (!(diagonal > 0)) {
    facts.diagonal_positive = false;
    if (facts.first_nonpositive_diagonal < 0) facts.first_nonpositive_diagonal = i;
  }
  if (!(diagonal < 0)) facts.diagonal_negative = false;
  if (diagonal == 0 && facts.first_zero_diagonal < 0) facts.first_zero_diagonal = i;
  facts.diagonal_least = i == 0 ? std::fabs(diagonal) : std::min(facts.diagonal_least, std::fabs(diagonal));
  facts.diagonal_largest = std::max(facts.diagonal_largest, std::fabs(diagonal));
  const double ratio = diagonal == 0 ? 0 : std::fabs(diagonal) / others;
  if (ratio < facts.dominance_ratio) {
    facts.dominance_ratio = ratio;
    facts.weakest_row = i;
  }
  constexpr double slack = 8 * std::numeric_limits<double>::epsilon();
  if (ratio > 1 + slack)
    ++facts.strictly_dominant_rows;
  else if (ratio >= 1 - slack)
    facts.dominant = std::min(facts.dominant, dominance::weak);
  else
    facts.dominant = dominance::none;
}

}  // namespace

structure_facts structure(const device& dev, matrix_view<const double> A) {
  const ieee_environment here;
  structure_facts facts;
  facts.rows = A.rows;
  facts.cols = A.cols;
  facts.square = A.rows == A.cols;
  facts.entries_min = A.rows > 0 ? A.cols : 0;
  const std::vector<row_facts> rows = look_at_rows(dev, A);
  for (const row_facts& row : rows) {
    facts.nonzeros += row.entries;
    facts.bandwidth_lower = std::max(facts.bandwidth_lower, row.lower);
    facts.bandwidth_upper = std::max(facts.bandwidth_upper, row.upper);
    facts.entries_min = std::min(facts.entries_min, row.entries);
    facts.entries_max = std::max(facts.entries_max, row.entries);
    if (row.entries == 0) ++facts.empty_rows;
  }
  facts.entries_mean = A.rows > 0 ? static_cast<double>(facts.nonzeros) / static_cast<double>(A.rows) : 0;
  if (!facts.square) return facts;
  facts.first_unsymmetric = find_unsymmetric(A);
  facts.symmetric = facts.pattern_symmetric = !facts.first_unsymmetric;
  facts.complex_symmetric = !facts.symmetric && is_complex_symmetric(A);
  facts.diagonal_positive = facts.diagonal_negative = A.rows > 0;
  facts.dominant = dominance::strict;
  facts.dominance_ratio = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < A.rows; ++i)
    judge_diagonal(facts, i, A(i, i), rows[static_cast<std::size_t>(i)].others);
  return facts;
}

}  // namespace vouch
