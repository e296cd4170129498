#include <vouch/sparse/spmv_blocks.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

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

template <class T>
struct block_shape {
  static constexpr int height = 3, width = 3, spare = 1;
  static std::int32_t begin(std::int32_t col, std::int64_t) { return col / 3 * 3; }
  static std::int32_t stored(std::int32_t begin) { return begin / 3; }
  static int place(int r, int c) { return c * 3 + r; }
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
std::optional<block_storage<T>> make(const device& dev, csr_view<const T> A, std::int64_t most) {
  constexpr int size = Shape::height * Shape::width;
  const std::int64_t groups = ceil_div(A.rows, std::int64_t{Shape::height});
  block_storage<T> made;
  made.ptr = array<std::int64_t>(dev, groups + 1);
  made.ptr[0] = 0;
#pragma omp parallel for num_threads(dev.threads()) schedule(static)
  for (std::int64_t g = 0; g < groups; ++g) {
    std::int64_t count = 0;
    walk_group<Shape>(
        A, g, [&](std::int32_t) { ++count; }, [](int, int, std::int64_t) {});
    made.ptr[g + 1] = count;
  }
  std::partial_sum(made.ptr.begin(), made.ptr.end(), made.ptr.begin());
  const std::int64_t blocks = made.ptr[groups];
  if (blocks > most) return {};
  made.col = array<std::int32_t>(dev, blocks);
  made.val = array<T>(dev, blocks * size + Shape::spare);
  std::fill(made.val.end() - Shape::spare, made.val.end(), T{});
#pragma omp parallel for num_threads(dev.threads()) schedule(static)
  for (std::int64_t g = 0; g < groups; ++g) {
    std::int64_t next = made.ptr[g];
    T* values = nullptr;
    walk_group<Shape>(
        A, g,
        [&](std::int32_t begin) {
          made.col[next] = Shape::stored(begin);
          values = made.val.data() + size * next++;
          std::fill_n(values, size, T{});
        },
        [&](int r, int c, std::int64_t k) { values[Shape::place(r, c)] = A.val[k]; });
  }
  return made;
}

}  // namespace

template <real T>
std::optional<block_storage<T>> make_tiles(const device& dev, csr_view<const T> A, std::int64_t most) {
  if (A.cols < tile_layout<T>::width) return {};
  return make<tile_shape<T>>(dev, A, most);
}

template <real T>
std::optional<block_storage<T>> make_blocks(const device& dev, csr_view<const T> A, std::int64_t most) {
  if (A.rows % 3 != 0 || A.cols % 3 != 0) return {};
  return make<block_shape<T>>(dev, A, most);
}

template std::optional<block_storage<float>> make_tiles(const device&, csr_view<const float>, std::int64_t);
template std::optional<block_storage<double>> make_tiles(const device&, csr_view<const double>, std::int64_t);
template std::optional<block_storage<float>> make_blocks(const device&, csr_view<const float>, std::int64_t);
template std::optional<block_storage<double>> make_blocks(const device&, csr_view<const double>, std::int64_t);

}  // namespace vouch::detail
