// tests/sparse/spmv_cases.hpp -- matrices that a product can get wrong, and an oracle in quadruple precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::testing {

__extension__ typedef __float128 quad;

/// Rows of (column, value), columns ascending.
template <class T>
struct row_lists {
  std::int64_t cols = 0;
  std::vector<std::map<std::int32_t, T>> rows;

  csr<T> to_csr(const device& dev) const {
    std::vector<std::int64_t> row_ptr{0};
    std::vector<std::int32_t> col;
    std::vector<T> val;
    for (const auto& row : rows) {
      for (const auto& [j, a] : row) {
        col.push_back(j);
        val.push_back(a);
      }
      row_ptr.push_back(static_cast<std::int64_t>(col.size()));
    }
    return {static_cast<std::int64_t>(rows.size()), cols, array<std::int64_t>::from(dev, row_ptr),
            array<std::int32_t>::from(dev, col), array<T>::from(dev, val)};
  }
};

/// Values in (-1, 1) with all bits of T in use.
template <class T>
T random_value(std::uint64_t seed, std::int64_t k) {
  return static_cast<T>(2 * random_unit(seed, static_cast<std::uint64_t>(k)) - 1);
}

template <class T>
std::vector<T> random_vector(std::uint64_t seed, std::int64_t size) {
  std::vector<T> v;
  for (std::int64_t k = 0; k < size; ++k) v.push_back(random_value<T>(seed, k));
  return v;
}

template <class T>
row_lists<T> random_matrix(std::int64_t rows, std::int64_t cols, std::int64_t a_row, std::uint64_t seed) {
  row_lists<T> A{cols, std::vector<std::map<std::int32_t, T>>(static_cast<std::size_t>(rows))};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < a_row; ++k) {
      const auto j =
          random_bits(seed, static_cast<std::uint64_t>(i * a_row + k)) % static_cast<std::uint64_t>(cols);
      A.rows[static_cast<std::size_t>(i)][static_cast<std::int32_t>(j)] =
          random_value<T>(seed + 1, i * a_row + k);
    }
  return A;
}

/// Random values on a 7-point pattern; symmetric if asked.
template <class T>
row_lists<T> stencil_matrix(std::int64_t side, bool symmetric, std::uint64_t seed) {
  const std::int64_t n = side * side * side;
  row_lists<T> A{n, std::vector<std::map<std::int32_t, T>>(static_cast<std::size_t>(n))};
  const auto set = [&](std::int64_t i, std::int64_t j) {
    const std::int64_t k = symmetric ? std::min(i, j) * n + std::max(i, j) : i * n + j;
    A.rows[static_cast<std::size_t>(i)][static_cast<std::int32_t>(j)] = random_value<T>(seed, k);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    set(i, i);
    for (const std::int64_t step : {std::int64_t{1}, side, side * side}) {
      const std::int64_t place = i / step % side;
      if (place > 0) set(i, i - step);
      if (place + 1 < side) set(i, i + step);
    }
  }
  return A;
}

/// Blocks of b by b at random places; `holes` drops about one entry in ten.
template <class T>
row_lists<T> block_matrix(std::int64_t blocks, int b, std::int64_t a_row, bool holes, std::uint64_t seed) {
  row_lists<T> A{blocks * b, std::vector<std::map<std::int32_t, T>>(static_cast<std::size_t>(blocks * b))};
  std::int64_t drawn = 0;
  for (std::int64_t i = 0; i < blocks; ++i)
    for (std::int64_t k = 0; k < a_row; ++k) {
      const auto there =
          random_bits(seed, static_cast<std::uint64_t>(i * a_row + k)) % static_cast<std::uint64_t>(blocks);
      const auto j = k == 0 ? i : static_cast<std::int64_t>(there);
      for (int r = 0; r < b; ++r)
        for (int c = 0; c < b; ++c, ++drawn)
          if (!holes || random_unit(seed + 2, static_cast<std::uint64_t>(drawn)) > 0.1)
            A.rows[static_cast<std::size_t>(i * b + r)][static_cast<std::int32_t>(j * b + c)] =
                random_value<T>(seed + 1, drawn);
    }
  return A;
}

/// Complex entries at random places of a square of so many rows, as blocks [a -b; b a]; every fifth is real, every
/// seventh imaginary.
template <class T>
row_lists<T> complex_matrix(std::int64_t numbers, std::int64_t a_row, std::uint64_t seed) {
  const row_lists<T> places = random_matrix<T>(numbers, numbers, a_row, seed);
  row_lists<T> A{2 * numbers, std::vector<std::map<std::int32_t, T>>(static_cast<std::size_t>(2 * numbers))};
  std::int64_t drawn = 0;
  for (std::size_t i = 0; i < places.rows.size(); ++i)
    for (const auto& [j, a] : places.rows[i]) {
      const T b = random_value<T>(seed + 2, ++drawn);
      if (drawn % 7 != 0) A.rows[2 * i][2 * j] = A.rows[2 * i + 1][2 * j + 1] = a;
      if (drawn % 5 == 0) continue;
      A.rows[2 * i][2 * j + 1] = -b;
      A.rows[2 * i + 1][2 * j] = b;
    }
  return A;
}

/// What lies below the diagonal of complex_bands().
enum class below { unlike, symmetric, conjugate };

/// Complex entries, as blocks [a -b; b a], on the main diagonal and four others.
template <class T>
row_lists<T> complex_bands(std::int64_t numbers, below kind, std::uint64_t seed) {
  row_lists<T> A{2 * numbers, std::vector<std::map<std::int32_t, T>>(static_cast<std::size_t>(2 * numbers))};
  for (std::int64_t i = 0; i < numbers; ++i)
    for (const std::int64_t offset : {-37, -1, 0, 1, 37}) {
      const std::int64_t j = i + offset;
      if (j < 0 || j >= numbers) continue;
      const std::int64_t k =
          kind == below::unlike ? i * numbers + j : std::min(i, j) * numbers + std::max(i, j);
      const T a = random_value<T>(seed, 2 * k), b = random_value<T>(seed, 2 * k + 1);
      const T imaginary = kind == below::conjugate && offset < 0 ? -b : b;
      const auto row = static_cast<std::size_t>(2 * i);
      const auto col = static_cast<std::int32_t>(2 * j);
      A.rows[row][col] = A.rows[row + 1][col + 1] = a;
      if (kind == below::conjugate && offset == 0) continue;
      A.rows[row][col + 1] = -imaginary;
      A.rows[row + 1][col] = imaginary;
    }
  return A;
}

template <class T>
struct named_matrix {
  std::string name;
  row_lists<T> A;
};

/// Small enough that all of them in all layouts take a moment.
template <class T>
std::vector<named_matrix<T>> product_cases() {
  std::vector<named_matrix<T>> all;
  all.push_back({"0 by 0", {}});
  all.push_back({"0 by 5", {5, {}}});
  all.push_back({"3 by 0", {0, std::vector<std::map<std::int32_t, T>>(3)}});
  all.push_back({"1 by 1", random_matrix<T>(1, 1, 1, 1)});
  all.push_back({"no entries", {40, std::vector<std::map<std::int32_t, T>>(40)}});
  all.push_back({"diagonal", random_matrix<T>(1, 1, 1, 1)});
  all.back().A.cols = 700;
  all.back().A.rows.clear();
  for (std::int32_t i = 0; i < 700; ++i) all.back().A.rows.push_back({{i, random_value<T>(7, i)}});
  all.push_back({"7 points", stencil_matrix<T>(9, false, 11)});
  all.push_back({"7 points, symmetric", stencil_matrix<T>(11, true, 12)});
  all.push_back({"2 by 3000, wide", random_matrix<T>(2, 3000, 2900, 13)});
  all.push_back({"3000 by 2, tall", random_matrix<T>(3000, 2, 2, 14)});
  for (const std::int64_t a_row : {1, 2, 7, 15, 30, 60, 130, 300})
    all.push_back({"random, " + std::to_string(a_row) + " a row", random_matrix<T>(1501, 1402, a_row, 20)});
  for (const int b : {2, 3, 6}) {
    all.push_back({"full blocks of " + std::to_string(b), block_matrix<T>(333, b, 9, false, 30)});
    all.push_back({"holed blocks of " + std::to_string(b), block_matrix<T>(333, b, 20, true, 31)});
  }
  for (const std::int64_t a_row : {0, 1, 5, 8, 70})
    all.push_back({"complex, " + std::to_string(a_row) + " a row", complex_matrix<T>(533, a_row, 60)});
  all.push_back({"complex bands", complex_bands<T>(533, below::unlike, 70)});
  all.push_back({"complex bands, symmetric", complex_bands<T>(533, below::symmetric, 71)});
  all.push_back({"complex bands, Hermitian", complex_bands<T>(533, below::conjugate, 72)});
  all.push_back({"one dense row and empty ones", stencil_matrix<T>(12, false, 40)});
  auto& dense = all.back().A;
  for (std::int32_t j = 0; j < 1728; ++j) dense.rows[77][j] = random_value<T>(41, j);
  for (std::size_t i = 200; i < 420; ++i) dense.rows[i].clear();
  all.push_back({"huge and tiny values", random_matrix<T>(900, 900, 12, 50)});
  const int reach = std::numeric_limits<T>::max_exponent - 6;
  for (std::size_t i = 0; i < 900; ++i)
    for (auto& [j, a] : all.back().A.rows[i]) a = std::ldexp(a, i % 3 == 0 ? reach : i % 3 == 1 ? -reach : 0);
  return all;
}

}  // namespace vouch::testing
