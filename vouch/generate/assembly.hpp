// vouch/generate/assembly.hpp -- finite-element matrices from element matrices, row by row; private.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/generate/mesh.hpp>
#include <vouch/generate/reference_element.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// The elements around each node, ascending: of node i those from start[i] to start[i+1]-1.
struct incidence {
  array<std::int64_t> start;
  array<std::int32_t> elements;
};
incidence elements_around_nodes(const device& dev, const mesh& m);

/// Consecutive numbers of the nodes that lie on none of the faces, -1 for.
struct free_nodes {
  array<std::int32_t> number;
  array<std::int32_t> node;  // the nodes that have numbers, in their order
};
free_nodes nodes_off_faces(const device& dev, const mesh& m, unsigned faces);

/// B-by-B blocks that one corner of an element has with its N corners.
template <int B, int N>
using block_row = std::array<std::array<std::array<double, B>, B>, N>;

/// Writes a node's rows: collects its neighbours once, then adds the elements' blocks.
template <int D, int N, int B>
class row_assembler {
 public:
  row_assembler(const mesh& m, const incidence& around, const free_nodes& free)
      : m_(m), around_(around), free_(free) {}

  /// Free numbers of the nodes that share an element with this one, itself included, ascending.
  const std::vector<std::int32_t>& neighbours(std::int64_t node) {
    found_.clear();
    for (std::int64_t k = around_.start[node]; k < around_.start[node + 1]; ++k)
      for (int b = 0; b < N; ++b) {
        const std::int32_t other = free_.number[m_.nodes[std::int64_t{around_.elements[k]} * N + b]];
        if (other >= 0) found_.push_back(other);
      }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return found_;
  }

  /// Adds up the rows of a node into val, B rows of B * neighbours each, and lists their columns.
  template <class Kernel>
  void write(std::int64_t node, const Kernel& kernel, std::int32_t* col, double* val) {
    const std::vector<std::int32_t>& list = neighbours(node);
    const std::int64_t length = B * std::ssize(list);
    for (int i = 0; i < B; ++i)
      for (std::int64_t k = 0; k < length; ++k)
        col[i * length + k] = static_cast<std::int32_t>(B * list[static_cast<std::size_t>(k / B)] + k % B);
    std::fill(val, val + B * length, 0.0);
    for (std::int64_t k = around_.start[node]; k < around_.start[node + 1]; ++k)
      add_element(around_.elements[k], node, kernel, val, length);
  }

 private:
  template <class Kernel>
  void add_element(std::int64_t e, std::int64_t node, const Kernel& kernel, double* val, std::int64_t length) {
    const std::int32_t* nodes = m_.nodes.data() + e * N;
    std::array<point<D>, N> corner;
    for (int b = 0; b < N; ++b)
      for (int d = 0; d < D; ++d) corner[b][d] = m_.points[std::int64_t{nodes[b]} * D + d];
    block_row<B, N> blocks{};
    kernel(e, static_cast<int>(std::find(nodes, nodes + N, node) - nodes), corner, blocks);
    for (int b = 0; b < N; ++b) {
      const std::int32_t other = free_.number[nodes[b]];
      if (other < 0) continue;
      const std::int64_t at = B * (std::lower_bound(found_.begin(), found_.end(), other) - found_.begin());
      for (int i = 0; i < B; ++i)
        for (int j = 0; j < B; ++j) val[i * length + at + j] += blocks[b][i][j];
    }
  }

  const mesh& m_;
  const incidence& around_;
  const free_nodes& free_;
  std::vector<std::int32_t> found_;
};

/// The matrix on B unknowns at each node off the held faces. kernel(e, a, corner, blocks) gives the blocks
/// of corner a of element e with all its corners; it is called once for every a, by several threads.
/// Elements are added in ascending order, so a kernel with bitwise symmetric blocks gives such a matrix.
template <int D, int N, int B, class Kernel>
csr<double> assemble(const device& dev, const mesh& m, unsigned held_faces, const Kernel& kernel) {
  const incidence around = elements_around_nodes(dev, m);
  const free_nodes free = nodes_off_faces(dev, m, held_faces);
  const std::int64_t count = free.node.size(), rows = B * count;
  csr<double> A{rows, rows, array<std::int64_t>(dev, rows + 1), {}, {}};
  A.row_ptr[0] = 0;
  const cancellation_probe stop;
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, 64 * count))
  {
    row_assembler<D, N, B> assembler(m, around, free);
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      if (stop.requested()) continue;
      const std::int64_t length = B * std::ssize(assembler.neighbours(free.node[i]));
      for (int b = 0; b < B; ++b) A.row_ptr[B * i + b + 1] = length;
    }
  }
  stop.check();
  std::partial_sum(A.row_ptr.begin(), A.row_ptr.end(), A.row_ptr.begin());
  A.col = array<std::int32_t>(dev, A.row_ptr[rows]);
  A.val = array<double>(dev, A.row_ptr[rows]);
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, 64 * count))
  {
    row_assembler<D, N, B> assembler(m, around, free);
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      if (stop.requested()) continue;
      const std::int64_t first = A.row_ptr[B * i];
      assembler.write(free.node[i], kernel, A.col.data() + first, A.val.data() + first);
    }
  }
  stop.check();
  return A;
}

}  // namespace vouch
