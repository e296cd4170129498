// vouch/sparse/inverse_norm.hpp -- how large the inverse of a factorised matrix is; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/types.hpp>

namespace vouch {

/// About ||A^-1||_inf, where solve(x) and solve_transposed(x) replace x by A^-1 x and A^-T x.
///
/// Result  A lower bound but for rounding, nearly always within a factor of three.
/// Cost    At most 11 solves.
/// Source  Hager, SIAM J. Sci. Stat. Comput. 5 (1984); Higham, ACM Trans. Math. Softw. 14 (1988).
template <real T, class Solve, class SolveTransposed>
double estimate_inverse_norm(std::int64_t n, const Solve& solve, const SolveTransposed& solve_transposed) {
  if (n == 0) return 0;
  const auto size = [](const std::vector<T>& v) {
    double sum = 0;
    for (const T value : v) sum += std::fabs(static_cast<double>(value));
    return sum;
  };
  // ||A^-1||_inf is ||A^-T||_1, the largest ||A^-T x||_1 over the corners of the unit ball.
  std::vector<T> x(static_cast<std::size_t>(n), static_cast<T>(1 / static_cast<double>(n))), signs;
  double norm = 0;
  for (int step = 0; step < 5; ++step) {
    std::vector<T> image = x;
    solve_transposed(image.data());
    const double found = size(image);
    if (!(found > norm)) break;  // NaN, too
    norm = found;
    for (T& value : image) value = value < 0 ? T{-1} : T{1};
    if (image == signs) break;
    signs = image;
    solve(image.data());
    const auto largest =
        std::max_element(image.begin(), image.end(), [](T a, T b) { return std::fabs(a) < std::fabs(b); });
    std::fill(x.begin(), x.end(), T{});
    x[static_cast<std::size_t>(largest - image.begin())] = 1;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = 1 + static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(n - 1, 1));
    x[static_cast<std::size_t>(i)] = static_cast<T>(i % 2 == 0 ? value : -value);
  }
  const double of_x = size(x);
  solve_transposed(x.data());
  return std::max(norm, size(x) / of_x);
}

}  // namespace vouch
