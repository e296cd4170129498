#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/structure_symmetry.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 1024;  // nodes that a thread takes at a time

// Neighbours of each group of unknowns, without itself, in both directions.
struct graph {
  array<std::int64_t> start;
  array<std::int32_t> neighbours;

  std::int64_t size() const { return start.size() - 1; }
  std::int64_t degree(std::int32_t i) const { return start[i + 1] - start[i]; }
};

template <class T>
void add_columns(csr_view<const T> A, std::int64_t group, int block, std::vector<std::int32_t>& found) {
  for (std::int64_t k = A.row_ptr[group * block]; k < A.row_ptr[(group + 1) * block]; ++k)
    if (A.col[k] / block != group) found.push_back(A.col[k] / block);
}

// Lists each group's neighbours in A and, where given, its transpose; twice, to count and to keep.
template <class T>
graph build_graph(const device& dev, csr_view<const T> A, std::optional<csr_view<const T>> transposed,
                  int block) {
  const std::int64_t groups = A.rows / block;
  graph g{array<std::int64_t>(dev, groups + 1), {}};
  g.start[0] = 0;
  const auto list = [&](std::int64_t i, std::vector<std::int32_t>& found) {
    found.clear();
    add_columns(A, i, block, found);
    if (transposed) add_columns(*transposed, i, block, found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  };
  const auto for_each_group = [&](const auto& use) {
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros))
    {
      std::vector<std::int32_t> found;
#pragma omp for schedule(dynamic, chunk)
      for (std::int64_t i = 0; i < groups; ++i) {
        list(i, found);
        use(i, found);
      }
    }
  };
  for_each_group([&](std::int64_t i, const auto& found) { g.start[i + 1] = std::ssize(found); });
  std::partial_sum(g.start.begin(), g.start.end(), g.start.begin());
  g.neighbours = array<std::int32_t>(dev, g.start[groups]);
  for_each_group([&](std::int64_t i, const auto& found) {
    std::copy(found.begin(), found.end(), g.neighbours.data() + g.start[i]);
  });
  return g;
}

class cuthill_mckee {
 public:
  cuthill_mckee(const device& dev, const graph& g)
      : g_(g), order_(dev, g.size()), seen_(array<std::int32_t>::zeros(dev, g.size())) {}

  /// Cuthill-McKee, not yet reversed.
  array<std::int32_t> run() {
    std::int64_t done = 0;
    for (std::int32_t i = 0; i < g_.size(); ++i)
      if (seen_[i] != placed) done = number_component(pseudo_peripheral(i, done), done);
    return std::move(order_);
  }

 private:
  static constexpr std::int32_t placed = -1;

  bool by_degree(std::int32_t a, std::int32_t b) const {
    return g_.degree(a) != g_.degree(b) ? g_.degree(a) < g_.degree(b) : a < b;
  }

  // Fills order_ from `first` on with the nodes reached from root by levels; returns the number of levels,
  // and where the last one begins and ends.
  struct levels {
    std::int64_t count = 0, last_begin = 0, end = 0;
  };
  levels walk(std::int32_t root, std::int64_t first) {
    ++stamp_;
    order_[first] = root;
    seen_[root] = stamp_;
    levels found{0, first, first + 1};
    for (std::int64_t begin = first, end = first + 1; begin < end; begin = std::exchange(end, found.end)) {
      ++found.count;
      found.last_begin = begin;
      stop_.check();
      for (std::int64_t k = begin; k < end; ++k)
        for (std::int64_t j = g_.start[order_[k]]; j < g_.start[order_[k] + 1]; ++j) {
          const std::int32_t other = g_.neighbours[j];
          if (seen_[other] == stamp_) continue;
          seen_[other] = stamp_;
          order_[found.end++] = other;
        }
    }
    return found;
  }

  // Steps to a node of least degree on the farthest level as long as that makes the walk longer.
  std::int32_t pseudo_peripheral(std::int32_t root, std::int64_t first) {
    for (levels found = walk(root, first);;) {
      const std::int32_t next =
          *std::min_element(order_.data() + found.last_begin, order_.data() + found.end,
                            [&](std::int32_t a, std::int32_t b) { return by_degree(a, b); });
      const levels farther = walk(next, first);
      if (farther.count <= found.count) return root;
      root = next;
      found = farther;
    }
  }

  std::int64_t number_component(std::int32_t root, std::int64_t first) {
    std::int64_t end = first;
    order_[end++] = root;
    seen_[root] = placed;
    for (std::int64_t k = first; k < end; ++k) {
      const std::int64_t begin = end;
      for (std::int64_t j = g_.start[order_[k]]; j < g_.start[order_[k] + 1]; ++j) {
        const std::int32_t other = g_.neighbours[j];
        if (seen_[other] == placed) continue;
        seen_[other] = placed;
        order_[end++] = other;
      }
      std::sort(order_.data() + begin, order_.data() + end,
                [&](std::int32_t a, std::int32_t b) { return by_degree(a, b); });
    }
    return end;
  }

  cancellation_probe stop_;
  const graph& g_;
  array<std::int32_t> order_;
  array<std::int32_t> seen_;  // the walk that met a node last, or placed
  std::int32_t stamp_ = 0;
};

}  // namespace

template <real T>
array<std::int32_t> reverse_cuthill_mckee(const device& dev, csr_view<const T> A, int block) {
  if (dev.is_cuda()) throw value_error("reverse_cuthill_mckee: runs on the CPU, the device is a GPU");
  const valid_csr valid("reverse_cuthill_mckee", dev, A);
  if (A.rows != A.cols) throw shape_error("reverse_cuthill_mckee: the matrix is not square");
  if (block < 1 || A.rows % block != 0)
    throw shape_error(std::to_string(A.rows) + " unknowns cannot be grouped by " + std::to_string(block));
  std::optional<csr<T>> mirrored;
  if (!check_symmetry(A, dev.threads()).pattern_symmetric) mirrored = transpose(dev, A);
  const graph g =
      build_graph<T>(dev, A, mirrored ? std::optional<csr_view<const T>>(*mirrored) : std::nullopt, block);
  mirrored.reset();

  const array<std::int32_t> forward = cuthill_mckee(dev, g).run();
  array<std::int32_t> order(dev, A.rows);
  for (std::int64_t i = 0; i < g.size(); ++i)
    for (int b = 0; b < block; ++b)
      order[i * block + b] = static_cast<std::int32_t>(forward[g.size() - 1 - i] * block + b);
  return order;
}

template VOUCH_PUBLIC array<std::int32_t> reverse_cuthill_mckee(const device&, csr_view<const float>, int);
template VOUCH_PUBLIC array<std::int32_t> reverse_cuthill_mckee(const device&, csr_view<const double>, int);

}  // namespace vouch
