#include <vouch/sparse/spmv_cpu.hpp>

#include <algorithm>
#include <cstring>

#include <vouch/core/simd.hpp>

namespace vouch::detail {
namespace {

// Entry k of a row goes to sum k % 4; four sums hide the latency of adding. Where rows are short, entries some
// pages on are asked of memory once a row: the hardware stops looking ahead at the end of a page. One core then
// reads twice as fast; for long rows it costs more than it saves.
template <bool short_rows, real T>
VOUCH_SIMD_INLINE void csr_range(const csr_view<const T>& A, const T* x, T* sums, std::int64_t row_begin,
                                 std::int64_t row_end) {
  constexpr std::int64_t ahead = 1024;
  const T* const val = A.val;
  const std::int32_t* const col = A.col;
  for (std::int64_t i = row_begin; i < row_end; ++i) {
    T s0{}, s1{}, s2{}, s3{};
    std::int64_t k = A.row_ptr[i];
    const std::int64_t end = A.row_ptr[i + 1];
    if constexpr (short_rows) {
      __builtin_prefetch(val + k + ahead);
      __builtin_prefetch(col + k + ahead);
    }
    for (; k + 4 <= end; k += 4) {
      s0 += val[k] * x[col[k]];
      s1 += val[k + 1] * x[col[k + 1]];
      s2 += val[k + 2] * x[col[k + 2]];
      s3 += val[k + 3] * x[col[k + 3]];
    }
    if (k < end) s0 += val[k] * x[col[k]];
    if (k + 1 < end) s1 += val[k + 1] * x[col[k + 1]];
    if (k + 2 < end) s2 += val[k + 2] * x[col[k + 2]];
    sums[i - row_begin] = (s0 + s1) + (s2 + s3);
  }
}

template <real T>
VOUCH_SIMD_INLINE void csr_rows(const csr_view<const T>& A, const T* x, T* sums, std::int64_t row_begin,
                                std::int64_t row_end) {
  if (A.nonzeros < 10 * A.rows)
    csr_range<true>(A, x, sums, row_begin, row_end);
  else
    csr_range<false>(A, x, sums, row_begin, row_end);
}

// Rows begin to begin + count - 1, which all meet diagonals first to last - 1, four vectors of rows at a time.
template <real T>
VOUCH_SIMD_INLINE void dia_piece(const dia_layout<T>& A, int first, int last, const T* x, T* sums,
                                 std::int64_t begin, std::int64_t count) {
  constexpr int width = simd<T>::width, batch = 4;
  std::int64_t i = 0;
  for (; i + batch * width <= count; i += batch * width) {
    lanes<T> sum[batch] = {};
    for (int k = first; k < last; ++k) {
      const T* const value = A.val + (A.start[k] + begin + i);
      const T* const other = x + (A.offset[k] + begin + i);
      for (int u = 0; u < batch; ++u) {
        lanes<T> a, b;
        load<T>(a, value + u * width);
        load<T>(b, other + u * width);
        sum[u] += a * b;
      }
    }
    for (int u = 0; u < batch; ++u) store<T>(sums + i + u * width, sum[u]);
  }
  for (; i < count; ++i) {
    T sum{};
    for (int k = first; k < last; ++k) sum += A.val[A.start[k] + begin + i] * x[A.offset[k] + begin + i];
    sums[i] = sum;
  }
}

// Entries by ascending column. Which diagonals a row meets changes at few rows only: offsets ascend, so they
// are always a range of them.
template <real T>
VOUCH_SIMD_INLINE void dia_rows(const dia_layout<T>& A, const T* x, T* sums, std::int64_t row_begin,
                                std::int64_t row_end) {
  int first = A.count, last = A.count;
  for (std::int64_t i = row_begin; i < row_end;) {
    while (first > 0 && A.offset[first - 1] + i >= 0) --first;
    while (last > first && A.offset[last - 1] + i >= A.cols) --last;
    std::int64_t end = row_end;
    if (first > 0) end = std::min(end, -A.offset[first - 1]);
    if (last > first) end = std::min(end, A.cols - A.offset[last - 1]);
    dia_piece<T>(A, first, last, x, sums + (i - row_begin), i, end - i);
    i = end;
  }
}

// Four elements of x beside each row of a tile.
VOUCH_SIMD_INLINE void spread(lanes<double>& v, const double* x) {
  typedef double four __attribute__((vector_size(32)));
  four x4;
  std::memcpy(&x4, x, sizeof x4);
  v = __builtin_shufflevector(x4, x4, 0, 1, 2, 3, 0, 1, 2, 3);
}
VOUCH_SIMD_INLINE void spread(lanes<float>& v, const float* x) {
  typedef float four __attribute__((vector_size(16)));
  four x4;
  std::memcpy(&x4, x, sizeof x4);
  // In two steps: g++ takes one step from 4 lanes to 16 through memory.
  const auto x8 = __builtin_shufflevector(x4, x4, 0, 1, 2, 3, 0, 1, 2, 3);
  v = __builtin_shufflevector(x8, x8, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}

// The sum of each row of a tile, (0 + 1) + (2 + 3), in the row's first lane.
VOUCH_SIMD_INLINE void add_across(lanes<double>& v) {
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
}
VOUCH_SIMD_INLINE void add_across(lanes<float>& v) {
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
}

// Writes the sums of a group's rows, those of the range alone.
template <int height, real T>
VOUCH_SIMD_INLINE void put_group(const T* group, std::int64_t first_row, T* sums, std::int64_t row_begin,
                                 std::int64_t row_end) {
  if (first_row >= row_begin && first_row + height <= row_end) {
    std::memcpy(sums + (first_row - row_begin), group, height * sizeof(T));
    return;
  }
  for (int r = 0; r < height; ++r)
    if (first_row + r >= row_begin && first_row + r < row_end) sums[first_row + r - row_begin] = group[r];
}

// Lane c of a row adds the entries that stand at place c of its tiles, even and odd tiles apart.
template <real T>
VOUCH_SIMD_INLINE void tile_rows(const tile_layout<T>& A, const T* x, T* sums, std::int64_t row_begin,
                                 std::int64_t row_end) {
  constexpr int height = tile_layout<T>::height, size = height * tile_layout<T>::width;
  const T* const val = A.val;
  const std::int32_t* const col = A.col;
  for (std::int64_t g = row_begin / height; g * height < row_end; ++g) {
    lanes<T> even{}, odd{}, a, b;
    std::int64_t k = A.ptr[g];
    const std::int64_t end = A.ptr[g + 1];
    for (; k + 2 <= end; k += 2) {
      load<T>(a, val + size * k);
      spread(b, x + col[k]);
      even += a * b;
      load<T>(a, val + size * (k + 1));
      spread(b, x + col[k + 1]);
      odd += a * b;
    }
    if (k < end) {
      load<T>(a, val + size * k);
      spread(b, x + col[k]);
      even += a * b;
    }
    even += odd;
    add_across(even);
    T group[height];
    for (int r = 0; r < height; ++r) group[r] = even[4 * r];
    put_group<height>(group, g * height, sums, row_begin, row_end);
  }
}

// Adds one block to the sums: column c of a block of 3 to sum c, whose fourth lane takes what comes and is
// dropped; a whole block of 2 to sum 0, its columns side by side.
template <int B, class Four, real T>
VOUCH_SIMD_INLINE void add_block(const T* val, const T* x, Four* sum) {
  Four a;
  if constexpr (B == 2) {
    std::memcpy(&a, val, sizeof a);
    sum[0] += a * Four{x[0], x[0], x[1], x[1]};
  } else {
    for (int c = 0; c < 3; ++c) {
      std::memcpy(&a, val + 3 * c, sizeof a);
      sum[c] += a * x[c];
    }
  }
}

// A sum a row for each column of its blocks, joined from left to right.
template <int B, real T>
VOUCH_SIMD_INLINE void block_rows(const block_layout<T>& A, const T* x, T* sums, std::int64_t row_begin,
                                  std::int64_t row_end) {
  typedef T four __attribute__((vector_size(4 * sizeof(T))));
  for (std::int64_t g = row_begin / B; g * B < row_end; ++g) {
    four sum[3] = {};
    for (std::int64_t k = A.ptr[g]; k < A.ptr[g + 1]; ++k)
      add_block<B>(A.val + B * B * k, x + std::int64_t{A.col[k]} * B, sum);
    T group[B];
    for (int r = 0; r < B; ++r)
      group[r] = B == 2 ? sum[0][r] + sum[0][r + 2] : (sum[0][r] + sum[1][r]) + sum[2][r];
    put_group<B>(group, g * B, sums, row_begin, row_end);
  }
}

// The products of a and of b with both parts of x in sums of their own, even and odd blocks apart.
template <real T>
VOUCH_SIMD_INLINE void complex_rows(const complex_layout<T>& A, const T* x, T* sums, std::int64_t row_begin,
                                    std::int64_t row_end) {
  typedef T two __attribute__((vector_size(2 * sizeof(T))));
  for (std::int64_t g = row_begin / 2; g * 2 < row_end; ++g) {
    two by_a[2] = {}, by_b[2] = {};
    const auto add = [&](std::int64_t k, int u) __attribute__((always_inline)) {
      two v;
      std::memcpy(&v, x + 2 * std::int64_t{A.col[k]}, sizeof v);
      by_a[u] += A.val[2 * k] * v;
      by_b[u] += A.val[2 * k + 1] * v;
    };
    std::int64_t k = A.ptr[g];
    const std::int64_t end = A.ptr[g + 1];
    for (; k + 2 <= end; k += 2) {
      add(k, 0);
      add(k + 1, 1);
    }
    if (k < end) add(k, 0);
    by_a[0] += by_a[1];
    by_b[0] += by_b[1];
    const T group[2] = {by_a[0][0] - by_b[0][1], by_a[0][1] + by_b[0][0]};
    put_group<2>(group, g * 2, sums, row_begin, row_end);
  }
}

}  // namespace

#define VOUCH_ROWS_OF(T)                                                                                  \
  VOUCH_SIMD_CLONES void rows_of(const csr_view<const T>& A, const T* x, T* sums, std::int64_t row_begin, \
                                 std::int64_t row_end) {                                                  \
    csr_rows<T>(A, x, sums, row_begin, row_end);                                                          \
  }                                                                                                       \
  VOUCH_SIMD_CLONES void rows_of(const dia_layout<T>& A, const T* x, T* sums, std::int64_t row_begin,     \
                                 std::int64_t row_end) {                                                  \
    dia_rows<T>(A, x, sums, row_begin, row_end);                                                          \
  }                                                                                                       \
  VOUCH_SIMD_CLONES void rows_of(const tile_layout<T>& A, const T* x, T* sums, std::int64_t row_begin,    \
                                 std::int64_t row_end) {                                                  \
    tile_rows<T>(A, x, sums, row_begin, row_end);                                                         \
  }                                                                                                       \
  VOUCH_SIMD_CLONES void rows_of(const block_layout<T>& A, const T* x, T* sums, std::int64_t row_begin,   \
                                 std::int64_t row_end) {                                                  \
    if (A.b == 2) return block_rows<2, T>(A, x, sums, row_begin, row_end);                                \
    block_rows<3, T>(A, x, sums, row_begin, row_end);                                                     \
  }                                                                                                       \
  VOUCH_SIMD_CLONES void rows_of(const complex_layout<T>& A, const T* x, T* sums, std::int64_t row_begin, \
                                 std::int64_t row_end) {                                                  \
    complex_rows<T>(A, x, sums, row_begin, row_end);                                                      \
  }
VOUCH_ROWS_OF(float)
VOUCH_ROWS_OF(double)
#undef VOUCH_ROWS_OF

}  // namespace vouch::detail
