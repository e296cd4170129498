#include <vouch/sparse/spmv_blocks.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail {
namespace {

// How the two layouts differ: where a block may begin, and how its entries stand.
template <class T>
struct tile_shape {
  static constexpr int height = tile_layout<T>::height, width = tile_layout<T>::width, spare = 0;
  static std::int32_t begin(std::int32_t col, std::int64_t cols) {
    return std::min(col, static_cast<std::int32_t>(cols - width));
  }
  static std::int32_t stored(std::int32_t begin) { return begin; }
  static int place(int r, int c) { return r * width + c; }
};

template <int B>
struct block_shape {
  static constexpr int height = B, width = B, spare = 1;
  static std::int32_t begin(std::int32_t col, std::int64_t) { return col / B * B; }
  static std::int32_t stored(std::int32_t begin) { return begin / B; }
  static int place(int r, int c) { return c * B + r; }
};

// Walks the rows of one group together; calls block(begin) for each block from left to right and then
// entry(r, c, k) for each of its entries.
template <class Shape, class T, class Block, class Entry>
void walk_group(csr_view<const T> A, std::int64_t group, Block block, Entry entry) {
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  std::int64_t at[Shape::height] = {}, end[Shape::height] = {};
  for (int r = 0; r < Shape::height && group * Shape::height + r < A.rows; ++r) {
    at[r] = A.row_ptr[group * Shape::height + r];
    end[r] = A.row_ptr[group * Shape::height + r + 1];
  }
  for (;;) {
    std::int32_t least = none;
    for (int r = 0; r < Shape::height; ++r)
      if (at[r] < end[r]) least = std::min(least, A.col[at[r]]);
    if (least == none) return;
    const std::int32_t begin = Shape::begin(least, A.cols);
    block(begin);
    for (int r = 0; r < Shape::height; ++r)
      for (; at[r] < end[r] && A.col[at[r]] - begin < Shape::width; ++at[r])
        entry(r, A.col[at[r]] - begin, at[r]);
  }
}

template <class Shape, real T>
void count(const device& dev, csr_view<const T> A, block_storage<T>& storage) {
  const std::int64_t groups = ceil_div(A.rows, std::int64_t{Shape::height});
  storage.ptr = array<std::int64_t>(dev, groups + 1);
  storage.ptr[0] = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t g = 0; g < groups; ++g) {
    std::int64_t blocks = 0;
    walk_group<Shape>(
        A, g, [&](std::int32_t) { ++blocks; }, [](int, int, std::int64_t) {});
    storage.ptr[g + 1] = blocks;
  }
  std::partial_sum(storage.ptr.begin(), storage.ptr.end(), storage.ptr.begin());
}

template <class Shape, real T>
void fill(const device& dev, csr_view<const T> A, block_storage<T>& storage) {
  constexpr int size = Shape::height * Shape::width;
  storage.col = array<std::int32_t>(dev, storage.blocks());
  storage.val = array<T>(dev, storage.blocks() * size + Shape::spare);
  std::fill(storage.val.end() - Shape::spare, storage.val.end(), T{});
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t g = 0; g < storage.ptr.size() - 1; ++g) {
    std::int64_t next = storage.ptr[g];
    T* values = nullptr;
    walk_group<Shape>(
        A, g,
        [&](std::int32_t begin) {
          storage.col[next] = Shape::stored(begin);
          values = storage.val.data() + size * next++;
          std::fill_n(values, size, T{});
        },
        [&](int r, int c, std::int64_t k) { values[Shape::place(r, c)] = A.val[k]; });
  }
}

// Calls action with the shape that a kind of block has.
template <class T, class Action>
void with_shape(block_kind kind, Action action) {
  if (kind == block_kind::tiles) action(tile_shape<T>{});
  if (kind == block_kind::twos) action(block_shape<2>{});
  if (kind == block_kind::threes) action(block_shape<3>{});
}

}  // namespace

template <real T>
std::optional<block_storage<T>> count_blocks(const device& dev, csr_view<const T> A, block_kind kind) {
  const int b = kind == block_kind::twos ? 2 : kind == block_kind::threes ? 3 : 1;
  if (A.rows % b != 0 || A.cols % b != 0) return {};
  if (kind == block_kind::tiles && A.cols < tile_layout<T>::width) return {};
  block_storage<T> storage;
  storage.kind = kind;
  with_shape<T>(kind, [&](auto shape) { count<decltype(shape)>(dev, A, storage); });
  return storage;
}

template <real T>
void fill_blocks(const device& dev, csr_view<const T> A, block_storage<T>& storage) {
  with_shape<T>(storage.kind, [&](auto shape) { fill<decltype(shape)>(dev, A, storage); });
}

template std::optional<block_storage<float>> count_blocks(const device&, csr_view<const float>, block_kind);
template std::optional<block_storage<double>> count_blocks(const device&, csr_view<const double>, block_kind);
template void fill_blocks(const device&, csr_view<const float>, block_storage<float>&);
template void fill_blocks(const device&, csr_view<const double>, block_storage<double>&);

}  // namespace vouch::detail
