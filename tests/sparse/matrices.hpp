// tests/sparse/matrices.hpp -- small matrices for tests, from a map of entries or at random.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::testing {

using entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

/// CSR by walking through the map, which is sorted by rows, then columns.
template <class T = double>
csr<T> matrix_of(std::int64_t rows, std::int64_t cols, const entries& list) {
  std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(rows + 1));
  std::vector<std::int32_t> col;
  std::vector<T> val;
  for (const auto& [place, value] : list) {
    for (std::int64_t i = place.first; i < rows; ++i) ++row_ptr[static_cast<std::size_t>(i + 1)];
    col.push_back(static_cast<std::int32_t>(place.second));
    val.push_back(static_cast<T>(value));
  }
  const device cpu = device::cpu(1);
  return {rows, cols, array<std::int64_t>::from(cpu, row_ptr), array<std::int32_t>::from(cpu, col),
          array<T>::from(cpu, val)};
}

/// The entries of A, back in a map.
template <class T>
entries entries_of(const csr<T>& A) {
  entries list;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      list[{i, A.col[k]}] = static_cast<double>(A.val[k]);
  return list;
}

/// Entries at random places, some rows and columns staying empty; values are small integers.
inline entries random_entries(std::int64_t rows, std::int64_t cols, std::int64_t count, std::uint64_t seed) {
  entries list;
  const auto below = [&](std::uint64_t counter, std::int64_t bound) {
    return static_cast<std::int64_t>(random_unit(seed, counter) * static_cast<double>(bound));
  };
  for (std::int64_t k = 0; k < count; ++k) {
    const auto c = static_cast<std::uint64_t>(3 * k);
    list[{below(c, rows), below(c + 1, cols)}] = static_cast<double>(below(c + 2, 9) - 4);
  }
  return list;
}

}  // namespace vouch::testing
