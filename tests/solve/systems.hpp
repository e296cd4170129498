// tests/solve/systems.hpp -- small systems and the plain arithmetic that judges their solutions.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::testing {

struct triplet {
  std::int32_t row, col;
  double value;
};

inline csr<double> from_triplets(std::int64_t n, const std::vector<triplet>& entries) {
  const device host = device::cpu(1);
  const auto count = static_cast<std::int64_t>(entries.size());
  coo A{n,
        n,
        symmetry::general,
        array<std::int32_t>(host, count),
        array<std::int32_t>(host, count),
        array<double>(host, count)};
  for (std::int64_t k = 0; k < count; ++k) {
    const triplet& t = entries[static_cast<std::size_t>(k)];
    A.row[k] = t.row;
    A.col[k] = t.col;
    A.val[k] = t.value;
  }
  return to_csr(host, A);
}

/// The 5-point Laplacian on an m-by-m grid; with natural boundaries its rows sum to zero.
inline csr<double> laplacian(std::int32_t m, bool natural = false) {
  std::vector<triplet> entries;
  for (std::int32_t y = 0; y < m; ++y)
    for (std::int32_t x = 0; x < m; ++x) {
      const std::int32_t i = y * m + x;
      double sum = 0;
      const auto link = [&](bool there, std::int32_t j) {
        if (there) entries.push_back({i, j, -1});
        if (there || !natural) sum += 1;
      };
      link(y > 0, i - m);
      link(x > 0, i - 1);
      link(x + 1 < m, i + 1);
      link(y + 1 < m, i + m);
      entries.push_back({i, i, sum});
    }
  return from_triplets(m * m, entries);
}

/// A random sparse symmetric matrix, strictly dominant, so positive definite; about `links` entries a row.
inline csr<double> random_spd(std::int32_t n, int links, std::uint64_t seed) {
  std::vector<triplet> entries;
  std::vector<double> diagonal(static_cast<std::size_t>(n), 0.5);
  for (std::int32_t i = 0; i < n; ++i)
    for (int k = 0; k < links / 2; ++k) {
      const auto at = static_cast<std::uint64_t>(i * links + k);
      const auto j = static_cast<std::int32_t>(random_bits(seed, 2 * at) % static_cast<std::uint64_t>(n));
      const double v = random_unit(seed, 2 * at + 1) - 0.5;
      if (i == j) continue;
      entries.push_back({i, j, v});
      entries.push_back({j, i, v});
      diagonal[static_cast<std::size_t>(i)] += std::fabs(v);
      diagonal[static_cast<std::size_t>(j)] += std::fabs(v);
    }
  for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, diagonal[static_cast<std::size_t>(i)]});
  return from_triplets(n, entries);
}

inline std::vector<double> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 2 * random_unit(seed, i) - 1;
  return v;
}

/// ||b - A x||_2 / ||b||_2 in long double.
template <class T>
double relative_residual(const csr<double>& A, const std::vector<T>& b, const std::vector<T>& x) {
  long double rr = 0, bb = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    long double r = b[static_cast<std::size_t>(i)];
    bb += r * r;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      r -= static_cast<long double>(A.val[k]) * x[static_cast<std::size_t>(A.col[k])];
    rr += r * r;
  }
  return static_cast<double>(std::sqrt(rr / bb));
}

/// A * ones, each row summed in long double and rounded once.
inline std::vector<double> row_sums(const csr<double>& A) {
  std::vector<double> b(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i) {
    long double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += A.val[k];
    b[static_cast<std::size_t>(i)] = static_cast<double>(sum);
  }
  return b;
}

/// The solution by dense Cholesky in long double.
inline std::vector<double> cholesky_solve(const csr<double>& A, const std::vector<double>& b) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<long double> L(n * n, 0), y(n);
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = A.row_ptr[static_cast<std::int64_t>(i)]; k < A.row_ptr[static_cast<std::int64_t>(i) + 1]; ++k)
      L[i * n + static_cast<std::size_t>(A.col[k])] = A.val[k];
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) L[j * n + j] -= L[j * n + k] * L[j * n + k];
    L[j * n + j] = std::sqrt(L[j * n + j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) L[i * n + j] -= L[i * n + k] * L[j * n + k];
      L[i * n + j] /= L[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = b[i];
    for (std::size_t k = 0; k < i; ++k) y[i] -= L[i * n + k] * y[k];
    y[i] /= L[i * n + i];
  }
  std::vector<double> x(n);
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= L[k * n + i] * y[k];
    y[i] /= L[i * n + i];
    x[i] = static_cast<double>(y[i]);
  }
  return x;
}

}  // namespace vouch::testing
