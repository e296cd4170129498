// tests/solve/precond/problems.hpp -- small systems, dense oracles in long double, and a plain PCG.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::testing {

/// Entries by place: the simplest sparse matrix there is.
using entries = std::map<std::pair<std::int32_t, std::int32_t>, double>;

struct problem {
  std::string name;
  std::int64_t n = 0;
  entries a;
};

template <real T>
csr<T> to_sparse(const device& dev, const problem& p) {
  const device host = device::cpu(1);
  coo triplets{p.n, p.n, symmetry::general, {}, {}, {}};
  std::vector<std::int32_t> row, col;
  std::vector<double> val;
  for (const auto& [place, value] : p.a) {
    row.push_back(place.first);
    col.push_back(place.second);
    val.push_back(value);
  }
  triplets.row = array<std::int32_t>::from(host, row);
  triplets.col = array<std::int32_t>::from(host, col);
  triplets.val = array<double>::from(host, val);
  const csr<double> A = to_csr(host, triplets);
  return convert_values<T>(host, A.all()).to(dev);
}

/// Finite differences on an a x b x c grid, Dirichlet ends.
inline problem poisson(std::int32_t a, std::int32_t b, std::int32_t c) {
  problem p{"poisson " + std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(c),
            std::int64_t{a} * b * c,
            {}};
  const auto number = [&](std::int32_t i, std::int32_t j, std::int32_t k) { return (i * b + j) * c + k; };
  for (std::int32_t i = 0; i < a; ++i)
    for (std::int32_t j = 0; j < b; ++j)
      for (std::int32_t k = 0; k < c; ++k) {
        const std::int32_t here = number(i, j, k);
        p.a[{here, here}] = 2.0 * ((a > 1) + (b > 1) + (c > 1)) + (a * b * c == 1);
        const auto couple = [&](std::int32_t there) { p.a[{here, there}] = p.a[{there, here}] = -1; };
        if (i > 0) couple(number(i - 1, j, k));
        if (j > 0) couple(number(i, j - 1, k));
        if (k > 0) couple(number(i, j, k - 1));
      }
  return p;
}

/// p with row i made row order[i].
inline problem renumber(const problem& p, const std::vector<std::int32_t>& order) {
  problem q{p.name + " renumbered", p.n, {}};
  for (const auto& [place, value] : p.a)
    q.a[{order[static_cast<std::size_t>(place.first)], order[static_cast<std::size_t>(place.second)]}] = value;
  return q;
}

/// Random places, diagonally dominant, rows and columns scaled by up to 10^3 each way.
inline problem random_spd(std::int32_t n, int per_row, std::uint64_t seed) {
  problem p{"random " + std::to_string(n), n, {}};
  std::vector<double> sum(static_cast<std::size_t>(n), 0.1);
  std::uint64_t k = 0;
  for (std::int32_t i = 1; i < n; ++i)
    for (int e = 0; e < per_row; ++e) {
      const auto j = static_cast<std::int32_t>(random_unit(seed, ++k) * i);
      const double value = random_unit(seed, ++k) - 0.6;
      if (p.a.count({i, j}) > 0) continue;
      p.a[{i, j}] = p.a[{j, i}] = value;
      sum[static_cast<std::size_t>(i)] += std::abs(value);
      sum[static_cast<std::size_t>(j)] += std::abs(value);
    }
  for (std::int32_t i = 0; i < n; ++i) p.a[{i, i}] = sum[static_cast<std::size_t>(i)];
  const auto scale = [&](std::int32_t i) {
    return std::ldexp(1.0, static_cast<int>(random_unit(seed + 1, i) * 20) - 10);
  };
  for (auto& [place, value] : p.a) value *= scale(place.first) * scale(place.second);
  return p;
}

inline problem diagonal_matrix(std::int32_t n) {
  problem p{"diagonal " + std::to_string(n), n, {}};
  for (std::int32_t i = 0; i < n; ++i) p.a[{i, i}] = 1 + 3 * (i % 5);
  return p;
}

inline std::vector<problem> small_problems() {
  return {{"empty", 0, {}},  diagonal_matrix(1), diagonal_matrix(37),   poisson(1, 1, 50),
          poisson(1, 9, 11), poisson(5, 4, 6),   random_spd(90, 4, 11), random_spd(70, 30, 5)};
}

/// A symmetric real Matrix Market file.
inline problem read_symmetric(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (file.peek() == '%') std::getline(file, line);
  problem p{path.substr(path.rfind('/') + 1), 0, {}};
  std::int64_t rows = 0, nonzeros = 0;
  file >> rows >> p.n >> nonzeros;
  for (std::int64_t k = 0; k < nonzeros; ++k) {
    std::int32_t i = 0, j = 0;
    double value = 0;
    file >> i >> j >> value;
    p.a[{i - 1, j - 1}] = p.a[{j - 1, i - 1}] = value;
  }
  return p;
}

/// A dense square matrix, row after row, in long double.
struct dense {
  std::int64_t n = 0;
  std::vector<long double> a;

  explicit dense(std::int64_t size) : n(size), a(static_cast<std::size_t>(size * size), 0.0L) {}
  long double& operator()(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i * n + j)]; }
  long double operator()(std::int64_t i, std::int64_t j) const {
    return a[static_cast<std::size_t>(i * n + j)];
  }
};

inline dense operator*(const dense& A, const dense& B) {
  dense C(A.n);
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t k = 0; k < A.n; ++k)
      if (A(i, k) != 0)
        for (std::int64_t j = 0; j < A.n; ++j) C(i, j) += A(i, k) * B(k, j);
  return C;
}

inline dense transpose(const dense& A) {
  dense B(A.n);
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j) B(j, i) = A(i, j);
  return B;
}

/// Gauss-Jordan, without pivoting: for positive definite and triangular matrices.
inline dense inverse(dense A) {
  dense B(A.n);
  for (std::int64_t i = 0; i < A.n; ++i) B(i, i) = 1;
  for (std::int64_t k = 0; k < A.n; ++k) {
    const long double pivot = A(k, k);
    for (std::int64_t j = 0; j < A.n; ++j) {
      A(k, j) /= pivot;
      B(k, j) /= pivot;
    }
    for (std::int64_t i = 0; i < A.n; ++i) {
      const long double factor = A(i, k);
      if (i == k || factor == 0) continue;
      for (std::int64_t j = 0; j < A.n; ++j) {
        A(i, j) -= factor * A(k, j);
        B(i, j) -= factor * B(k, j);
      }
    }
  }
  return B;
}

/// The matrix as the library sees it: values rounded to T.
template <real T>
dense to_dense(const problem& p) {
  dense A(p.n);
  for (const auto& [place, value] : p.a) A(place.first, place.second) = static_cast<T>(value);
  return A;
}

/// M applied to host elements.
template <real T>
std::vector<T> apply(const device& dev, const preconditioner<T>& M, const std::vector<T>& r) {
  const array<T> from = array<T>::from(dev, r);
  array<T> to(dev, from.size());
  M.apply(dev, from, to);
  return to.to_vector();
}

/// M as a matrix, column by column.
template <real T>
dense matrix_of(const device& dev, const preconditioner<T>& M, std::int64_t n) {
  dense result(n);
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<T> unit(static_cast<std::size_t>(n));
    unit[static_cast<std::size_t>(j)] = 1;
    const std::vector<T> column = apply(dev, M, unit);
    for (std::int64_t i = 0; i < n; ++i) result(i, j) = column[static_cast<std::size_t>(i)];
  }
  return result;
}

/// Entries agree within tolerance * sqrt(|e_ii e_jj|): rows of M may differ by orders of magnitude.
inline void expect_near(const dense& got, const dense& expected, double tolerance, const std::string& what) {
  for (std::int64_t i = 0; i < got.n; ++i)
    for (std::int64_t j = 0; j < got.n; ++j) {
      const long double scale = std::sqrt(std::abs(expected(i, i) * expected(j, j)));
      ASSERT_LE(std::abs(got(i, j) - expected(i, j)), tolerance * scale) << what << " at " << i << ", " << j;
    }
}

template <real T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(random_unit(seed, i) - 0.5);
  return x;
}

template <real T>
long double dot(const std::vector<T>& x, const std::vector<T>& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
  return sum;
}

/// Iterations of textbook preconditioned conjugate gradients for b = A*ones until ||r|| <= 1e-8 ||b||, or
/// limit.
inline int pcg_iterations(const device& dev, const csr<double>& A, const preconditioner<double>* M, int limit) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto multiply = [&](const std::vector<double>& x) {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::int64_t k = A.row_ptr[static_cast<std::int64_t>(i)];
           k < A.row_ptr[static_cast<std::int64_t>(i) + 1]; ++k)
        y[i] += A.val[k] * x[static_cast<std::size_t>(A.col[k])];
    return y;
  };
  std::vector<double> r = multiply(std::vector<double>(n, 1.0));
  const long double goal = 1e-8L * std::sqrt(dot(r, r));
  std::vector<double> p(n);
  long double before = 1;
  for (int iteration = 0; iteration < limit; ++iteration) {
    if (std::sqrt(dot(r, r)) <= goal) return iteration;
    const std::vector<double> z = M != nullptr ? apply(dev, *M, r) : r;
    const long double rz = dot(r, z);
    const auto beta = iteration == 0 ? 0.0 : static_cast<double>(rz / before);
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    const std::vector<double> q = multiply(p);
    const auto alpha = static_cast<double>(rz / dot(p, q));
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
    before = rz;
  }
  return limit;
}

}  // namespace vouch::testing
