// tests/solve/full_systems.hpp -- systems that are solved both as dense and as sparse ones.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/random.hpp>

#include "solve/systems.hpp"

namespace vouch::testing {

// The matrix as a dense one, by columns.
template <real T>
array<T> dense_of(const device& dev, const csr<double>& A) {
  std::vector<T> all(static_cast<std::size_t>(A.rows * A.rows), T{});
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      all[static_cast<std::size_t>(i + A.rows * A.col[k])] = static_cast<T>(A.val[k]);
  return array<T>::from(dev, all);
}

// Positive entries, one eigenvalue apart from the others: dominant by little.
inline csr<double> full_positive(std::int32_t n) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int32_t j = 0; j < n; ++j)
      if (i != j) {
        const double value = static_cast<double>(
            1 + random_bits(9, static_cast<std::uint64_t>(i) * 4096 + static_cast<std::uint64_t>(j)) % 16);
        entries.push_back({i, j, value});
        sum += value;
      }
    entries.push_back({i, i, std::ceil(1.05 * sum)});
  }
  return from_triplets(n, entries);
}

template <class T>
double relative_residual(const csr<double>& A, const std::vector<double>& b, const array<T>& x) {
  const std::vector<T> here = x.to_vector();
  return relative_residual(A, b, std::vector<double>(here.begin(), here.end()));
}

}  // namespace vouch::testing
