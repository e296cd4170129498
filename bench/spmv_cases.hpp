// bench/spmv_cases.hpp -- the matrices of the product benchmark.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::bench {

/// How the nodes of a mesh are numbered.
enum class numbering {
  lines,     // line by line
  windowed,  // shuffled among 1024 neighbours in line order: local, as after reordering, without diagonals
  shuffled   // at random
};

inline std::vector<std::int32_t> new_numbers(std::int64_t nodes, numbering order) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(nodes));
  std::iota(number.begin(), number.end(), 0);
  const std::int64_t window = order == numbering::lines ? 1 : order == numbering::windowed ? 1024 : nodes;
  for (std::int64_t first = 0; first < nodes && window > 1; first += window) {
    const std::int64_t size = std::min(window, nodes - first);
    for (std::int64_t k = size - 1; k > 0; --k) {
      const auto other = static_cast<std::int64_t>(random_bits(5, static_cast<std::uint64_t>(first + k)) %
                                                   static_cast<std::uint64_t>(k + 1));
      std::swap(number[static_cast<std::size_t>(first + k)], number[static_cast<std::size_t>(first + other)]);
    }
  }
  return number;
}

using offsets = std::vector<std::array<int, 3>>;

/// Neighbours by faces: 7 points.
inline offsets face_neighbours() {
  return {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
}

/// Neighbours of a node where each cube is cut into six tetrahedra along one diagonal: 15 points.
inline offsets tetrahedron_neighbours() {
  offsets all{{0, 0, 0}};
  for (int bits = 1; bits < 8; ++bits)
    for (const int sign : {1, -1})
      all.push_back({sign * (bits & 1), sign * (bits >> 1 & 1), sign * (bits >> 2)});
  return all;
}

/// Random values on the pattern of a mesh of side^3 nodes with b unknowns a node, coupled to all unknowns of
/// the neighbours; symmetric, weakly dominant.
inline csr<double> mesh_matrix(const device& dev, std::int64_t side, int b, const offsets& neighbours,
                               numbering order) {
  const std::int64_t nodes = side * side * side, n = nodes * b;
  const std::vector<std::int32_t> number = new_numbers(nodes, order);
  std::vector<std::int32_t> node_of(static_cast<std::size_t>(nodes));
  for (std::int64_t k = 0; k < nodes; ++k)
    node_of[static_cast<std::size_t>(number[static_cast<std::size_t>(k)])] = static_cast<std::int32_t>(k);
  const auto row_nodes = [&](std::int64_t i, std::int32_t* found) {
    const std::int64_t node = node_of[static_cast<std::size_t>(i)];
    const std::int64_t x = node % side, y = node / side % side, z = node / (side * side);
    int count = 0;
    for (const auto& [dx, dy, dz] : neighbours) {
      if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side || z + dz < 0 || z + dz >= side)
        continue;
      found[count++] = number[static_cast<std::size_t>(node + dx + side * (dy + side * dz))];
    }
    std::sort(found, found + count);
    return count;
  };
  csr<double> A{n, n, array<std::int64_t>(dev, n + 1), {}, {}};
  A.row_ptr[0] = 0;
#pragma omp parallel for num_threads(dev.threads()) schedule(static)
  for (std::int64_t i = 0; i < nodes; ++i) {
    std::int32_t found[32];
    const int count = row_nodes(i, found);
    for (int r = 0; r < b; ++r) A.row_ptr[i * b + r + 1] = count * b;
  }
  std::partial_sum(A.row_ptr.begin(), A.row_ptr.end(), A.row_ptr.begin());
  A.col = array<std::int32_t>(dev, A.row_ptr[n]);
  A.val = array<double>(dev, A.row_ptr[n]);
#pragma omp parallel for num_threads(dev.threads()) schedule(static)
  for (std::int64_t i = 0; i < nodes; ++i) {
    std::int32_t found[32];
    const int count = row_nodes(i, found);
    for (int r = 0; r < b; ++r)
      for (int k = 0; k < count; ++k)
        for (int c = 0; c < b; ++c) {
          const std::int64_t row = i * b + r, col = std::int64_t{found[k]} * b + c;
          const std::int64_t at = A.row_ptr[row] + k * b + c;
          const auto pair = static_cast<std::uint64_t>(std::min(row, col) * n + std::max(row, col));
          A.col[at] = static_cast<std::int32_t>(col);
          A.val[at] = row == col ? static_cast<double>(count * b) : random_unit(1, pair) - 1;
        }
  }
  return A;
}

}  // namespace vouch::bench
