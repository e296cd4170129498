#include <vouch/verify/sparse/powers_of_two.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace vouch::detail {
namespace {

// Lower than any exponent of a number times a power of two, for 0 and what has none.
constexpr int none = -10000;

// The largest exponents of rows and columns, as they are with some powers.
struct largest_exponents {
  csr_view<const double> A;
  std::vector<int> exponents;  // of the entries
  std::vector<int> row_most, column_most;

  explicit largest_exponents(csr_view<const double> matrix)
      : A(matrix), row_most(static_cast<std::size_t>(A.rows)), column_most(static_cast<std::size_t>(A.cols)) {
    for (std::int64_t k = 0; k < A.nonzeros; ++k)
      exponents.push_back(A.val[k] == 0 || !std::isfinite(A.val[k]) ? none : std::ilogb(A.val[k]));
  }

  void look(const powers_of_two& p) {
    std::fill(row_most.begin(), row_most.end(), none);
    std::fill(column_most.begin(), column_most.end(), none);
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(A.col[k]);
        const int e = exponents[static_cast<std::size_t>(k)];
        if (e == none) continue;
        row_most[row] = std::max(row_most[row], e + p.rows[row] + p.columns[column]);
        column_most[column] = std::max(column_most[column], e + p.rows[row] + p.columns[column]);
      }
  }

  // How far the entries are from 1: the sum of their exponents, squared.
  double spread(const powers_of_two& p) const {
    double sum = 0;
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const int e = exponents[static_cast<std::size_t>(k)];
        const double far =
            e + p.rows[static_cast<std::size_t>(i)] + p.columns[static_cast<std::size_t>(A.col[k])];
        if (e != none) sum += far * far;
      }
    return sum;
  }
};

// Moves exponents against those of the largest entries, by 1/part of them; the largest of these.
int move(std::vector<int>& exponents, const std::vector<int>& most, int part) {
  int farthest = 0;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (most[i] == none) continue;
    farthest = std::max(farthest, std::abs(most[i]));
    exponents[i] -= most[i] / part;
  }
  return farthest;
}

}  // namespace

powers_of_two equilibrating(csr_view<const double> A) {
  const powers_of_two none{std::vector<int>(static_cast<std::size_t>(A.rows), 0),
                           std::vector<int>(static_cast<std::size_t>(A.cols), 0)};
  largest_exponents state(A);
  powers_of_two both = none;
  for (int step = 0; step < equilibration_steps; ++step) {
    state.look(both);
    const int rows = move(both.rows, state.row_most, 2), columns = move(both.columns, state.column_most, 2);
    if (std::max(rows, columns) <= equilibrated_within) break;
  }
  powers_of_two rows_first = none;
  state.look(rows_first);
  move(rows_first.rows, state.row_most, 1);
  state.look(rows_first);
  move(rows_first.columns, state.column_most, 1);
  powers_of_two& better = state.spread(rows_first) <= state.spread(both) ? rows_first : both;
  state.look(better);
  move(better.rows, state.row_most, 1);
  return std::move(better);
}

bool scale_exactly(csr<double>& A, const std::vector<int>& rows, const std::vector<int>& columns) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const int exponent = rows[static_cast<std::size_t>(i)] + columns[static_cast<std::size_t>(A.col[k])];
      const double scaled = std::ldexp(A.val[k], exponent);
      if (!std::isfinite(scaled) || std::ldexp(scaled, -exponent) != A.val[k]) return false;
      A.val[k] = scaled;
    }
  return true;
}

}  // namespace vouch::detail
