#include <algorithm>
#include <limits>
#include <numeric>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/spmv_convert.hpp>
#include <vouch/sparse/structure_row.hpp>

namespace vouch::detail {
namespace {

// The diagonal of this offset, which shape has, from one that is not beyond it: offsets of a row's entries ascend.
template <class T>
int diagonal_from(int d, const dia_layout<T>& shape, std::int64_t offset) {
  while (shape.offset[d] < offset) ++d;
  return d;
}

}  // namespace

template <real T>
std::vector<std::int64_t> occupied_diagonals(const device& dev, csr_view<const T> A,
                                             [[maybe_unused]] bool complex) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return occupied_diagonals_cuda(dev, A, complex);
  constexpr std::size_t limit = dia_layout<T>::max_diagonals + 1;
  const int threads = loop_threads(dev, A.nonzeros);
  std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(threads));
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    std::vector<std::int64_t>& mine = found[static_cast<std::size_t>(t)];
    const std::int64_t begin = A.rows * t / threads;
    for (std::int64_t i = begin; i < A.rows * (t + 1) / threads; ++i) {
      if (i > begin && continues_row_above(A, i)) continue;
      auto place = mine.begin();  // offsets of a row ascend, too
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1] && mine.size() < limit; ++k) {
        const std::int64_t offset = A.col[k] - i;
        while (place != mine.end() && *place < offset) ++place;
        if (place == mine.end() || *place != offset) place = mine.insert(place, offset);
      }
    }
  }
  std::vector<std::int64_t> all;
  for (const auto& mine : found) {
    std::vector<std::int64_t> joined;
    std::set_union(all.begin(), all.end(), mine.begin(), mine.end(), std::back_inserter(joined));
    all = std::move(joined);
  }
  if (all.size() > limit) all.resize(limit);
  return all;
}

template <real T>
void fill_diagonals(const device& dev, csr_view<const T> A, const dia_layout<T>& shape, std::int64_t lowest,
                    T* val) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return fill_diagonals_cuda(dev, A, shape, lowest, val);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    int d = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] - i >= lowest) {
        d = diagonal_from(d, shape, A.col[k] - i);
        val[shape.start[d] + i] = A.val[k];
      }
  }
}

template <real T>
mirrored mirrors_upper_half(const device& dev, csr_view<const T> A, const dia_layout<T>& shape, const T* val) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return mirrors_upper_half_cuda(dev, A, shape, val);
  // Every lower entry has its equal above, and there are as many non-zeros below as above: a bijection.
  std::int64_t below_minus_above = 0;
  bool equal = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static) \
    reduction(+ : below_minus_above) reduction(&& : equal)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    int d = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t offset = A.col[k] - i;
      if (offset < 0) {
        d = diagonal_from(d, shape, offset);
        if (A.val[k] != val[shape.start[d] + i]) equal = false;
      }
      if (offset != 0 && A.val[k] != T{}) below_minus_above += offset < 0 ? 1 : -1;
    }
  }
  return equal && below_minus_above == 0 ? mirrored::yes : mirrored::no;
}

template std::vector<std::int64_t> occupied_diagonals(const device&, csr_view<const float>, bool);
template std::vector<std::int64_t> occupied_diagonals(const device&, csr_view<const double>, bool);
template void fill_diagonals(const device&, csr_view<const float>, const dia_layout<float>&, std::int64_t,
                             float*);
template void fill_diagonals(const device&, csr_view<const double>, const dia_layout<double>&, std::int64_t,
                             double*);
template mirrored mirrors_upper_half(const device&, csr_view<const float>, const dia_layout<float>&,
                                     const float*);
template mirrored mirrors_upper_half(const device&, csr_view<const double>, const dia_layout<double>&,
                                     const double*);

// ---- tiles and blocks for the CPU

namespace {

// How the two layouts differ: where a block may begin, and how its entries stand.
template <class T>
struct tile_shape {
  static constexpr int height = tile_layout<T>::height, width = tile_layout<T>::width, spare = 0;
  static constexpr int size = height * width, kept_columns = width;
  static std::int32_t begin(std::int32_t col, std::int64_t cols) {
    return std::min(col, static_cast<std::int32_t>(cols - width));
  }
  static std::int32_t stored(std::int32_t begin) { return begin; }
  static int place(int r, int c) { return r * width + c; }
};

template <int B>
struct block_shape {
  static constexpr int height = B, width = B, spare = 1, size = B * B, kept_columns = B;
  static std::int32_t begin(std::int32_t col, std::int64_t) { return col / B * B; }
  static std::int32_t stored(std::int32_t begin) { return begin / B; }
  static int place(int r, int c) { return c * B + r; }
};

// Of [a -b; b a] the first column.
struct complex_shape : block_shape<2> {
  static constexpr int spare = 0, size = 2, kept_columns = 1;
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
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
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
  constexpr int size = Shape::size;
  storage.col = array<std::int32_t>(dev, storage.blocks());
  storage.val = array<T>(dev, storage.blocks() * size + Shape::spare);
  std::fill(storage.val.end() - Shape::spare, storage.val.end(), T{});
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static)
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
        [&](int r, int c, std::int64_t k) {
          if (c < Shape::kept_columns) values[Shape::place(r, c)] = A.val[k];
        });
  }
}

// Calls action with the shape that a kind of block has.
template <class T, class Action>
void with_shape(block_kind kind, Action action) {
  if (kind == block_kind::tiles) action(tile_shape<T>{});
  if (kind == block_kind::twos) action(block_shape<2>{});
  if (kind == block_kind::threes) action(block_shape<3>{});
  if (kind == block_kind::complex) action(complex_shape{});
}

// Whether the blocks of two neighbouring rows are all [a -b; b a].
template <real T>
bool is_complex_row(csr_view<const T> A, std::int64_t group) {
  T block[2][2] = {};
  bool all = true;
  const auto look = [&] { all = all && block[0][0] == block[1][1] && block[0][1] == -block[1][0]; };
  walk_group<block_shape<2>>(
      A, group,
      [&](std::int32_t) {
        look();
        block[0][0] = block[0][1] = block[1][0] = block[1][1] = 0;
      },
      [&](int r, int c, std::int64_t k) { block[r][c] = A.val[k]; });
  look();
  return all;
}

}  // namespace

template <real T>
bool holds_complex_numbers(const device& dev, csr_view<const T> A) {
  if (A.rows % 2 != 0 || A.cols % 2 != 0) return false;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return holds_complex_numbers_cuda(dev, A);
  // Of other matrices the first rows tell it.
  constexpr std::int64_t piece = 4096;
  const std::int64_t groups = A.rows / 2;
  for (std::int64_t first = 0; first < groups; first += piece) {
    const std::int64_t last = std::min(first + piece, groups);
    bool all = true;
    for (std::int64_t g = first; g < std::min(first + 8, last) && all; ++g) all = is_complex_row(A, g);
    if (!all) return false;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static) reduction(&& : all)
    for (std::int64_t g = first; g < last; ++g) all = all && is_complex_row(A, g);
    if (!all) return false;
  }
  return true;
}

template <real T>
std::optional<block_storage<T>> count_blocks(const device& dev, csr_view<const T> A, block_kind kind) {
  const int b = kind == block_kind::tiles ? 1 : kind == block_kind::threes ? 3 : 2;
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

template bool holds_complex_numbers(const device&, csr_view<const float>);
template bool holds_complex_numbers(const device&, csr_view<const double>);
template VOUCH_PUBLIC std::optional<block_storage<float>> count_blocks(const device&, csr_view<const float>,
                                                                       block_kind);
template VOUCH_PUBLIC std::optional<block_storage<double>> count_blocks(const device&, csr_view<const double>,
                                                                        block_kind);
template VOUCH_PUBLIC void fill_blocks(const device&, csr_view<const float>, block_storage<float>&);
template VOUCH_PUBLIC void fill_blocks(const device&, csr_view<const double>, block_storage<double>&);

}  // namespace vouch::detail
