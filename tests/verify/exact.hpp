// tests/verify/exact.hpp -- linear systems of doubles in rational arithmetic: the oracle of every bound.
#pragma once
#include <gmpxx.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/sparse/csr.hpp>

#include "campaign.hpp"

namespace vouch::testing {

using rational_matrix = std::vector<std::vector<mpq_class>>;

inline rational_matrix exactly(const csr<double>& A) {
  rational_matrix M(static_cast<std::size_t>(A.rows), std::vector<mpq_class>(static_cast<std::size_t>(A.cols)));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      M[static_cast<std::size_t>(i)][static_cast<std::size_t>(A.col[k])] = A.val[k];
  return M;
}

/// The solution, or nothing for a singular matrix; rhs holds doubles or rational numbers.
template <class Number = double>
std::optional<std::vector<mpq_class>> exact_solution(rational_matrix M, const std::vector<Number>& rhs) {
  const std::size_t n = M.size();
  std::vector<mpq_class> b(rhs.begin(), rhs.end());
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (pivot < n && M[pivot][k] == 0) ++pivot;
    if (pivot == n) return {};
    std::swap(M[k], M[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      if (M[i][k] == 0) continue;
      const mpq_class factor = M[i][k] / M[k][k];
      for (std::size_t j = k; j < n; ++j) M[i][j] -= factor * M[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= M[k][j] * b[j];
    b[k] /= M[k][k];
  }
  return b;
}

/// M x, or M^T x.
inline std::vector<mpq_class> times(const rational_matrix& M, std::size_t cols, const std::vector<mpq_class>& x,
                                    bool transposed) {
  std::vector<mpq_class> y(transposed ? cols : M.size());
  for (std::size_t i = 0; i < M.size(); ++i)
    for (std::size_t j = 0; j < cols; ++j)
      if (transposed)
        y[j] += M[i][j] * x[i];
      else
        y[i] += M[i][j] * x[j];
  return y;
}

/// The least-squares solution, or of fewer rows than columns the shortest one; nothing where M has not full rank.
inline std::optional<std::vector<mpq_class>> exact_least_squares(const rational_matrix& M, std::size_t cols,
                                                                 const std::vector<double>& b) {
  const std::vector<mpq_class> rhs(b.begin(), b.end());
  const bool tall = M.size() >= cols;
  const std::size_t n = std::min(M.size(), cols), inner = std::max(M.size(), cols);
  rational_matrix gram(n, std::vector<mpq_class>(n));
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < inner; ++i) gram[j][k] += tall ? M[i][j] * M[i][k] : M[j][i] * M[k][i];
  if (tall) return exact_solution(gram, times(M, cols, rhs, true));
  const std::optional<std::vector<mpq_class>> w = exact_solution(gram, rhs);
  if (!w) return {};
  return times(M, cols, *w, true);
}

/// |x - exact| <= radius for every component; an infinite radius holds, NaN does not.
inline bool contains(const std::vector<mpq_class>& exact, const std::vector<double>& x,
                     const std::vector<double>& radius) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (radius[i] > 1e308) continue;
    if (!(radius[i] >= 0) || abs(exact[i] - mpq_class(x[i])) > mpq_class(radius[i])) return false;
  }
  return true;
}

/// Numbers by counter for one case of a campaign.
class dice {
 public:
  explicit dice(std::uint64_t seed) : seed_(seed) {}
  double unit() { return random_unit(seed_, counter_++); }
  /// 0 to below - 1.
  int below(int bound) { return static_cast<int>(unit() * bound); }
  /// In (-1, 1), of widely different sizes when `wild`.
  double number(bool wild) {
    const double v = 2 * unit() - 1;
    return wild ? std::ldexp(v, below(40) - 20) : v;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

}  // namespace vouch::testing
