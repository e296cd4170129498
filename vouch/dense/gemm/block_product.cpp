#include <omp.h>

#include <algorithm>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/pieces.hpp>
#include <vouch/dense/gemm/block_product.hpp>
#include <vouch/dense/gemm/strided.hpp>
#include <vouch/dense/gemm/tile_avx512.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t block_depth = 128;

// A block of C by one thread: its factors' packed blocks stay in the cache of a core.
struct block_sizes {
  std::int64_t rows = 128;
  std::int64_t cols = 252;  // whole tiles of 6 and 12 columns
};

// Small matrices are cut finer so that many threads have work.
block_sizes sizes_for(std::int64_t m, std::int64_t n, int threads) {
  block_sizes size;
  while (threads > 1 && size.rows > 64 && ceil_div(m, size.rows) * ceil_div(n, size.cols) < 32)
    size = {size.rows / 2, size.cols == 252 ? 132 : 72};
  return size;
}

// The stored entries where the block does not meet the diagonal, else a copy in scratch; nothing for a block
// of zeros.
template <scalar T>
std::optional<strided<T>> block_of(const factor<T>& f, std::int64_t i, std::int64_t k, std::int64_t rows,
                                   std::int64_t depth, std::vector<T>& scratch) {
  const auto direct = [&](bool transposed) {
    return transposed ? strided<T>{&f.A(k, i), f.A.ld, 1, rows, depth}
                      : strided<T>{&f.A(i, k), 1, f.A.ld, rows, depth};
  };
  if (f.form == shape::general) return direct(f.transposed);
  const bool below = i >= k + depth, above = k >= i + rows;
  if (f.is_lower() ? below : above) return direct(f.transposed);
  if (f.is_lower() ? above : below) {
    if (f.form == shape::triangular) return std::nullopt;
    return direct(!f.transposed);
  }
  scratch.resize(static_cast<std::size_t>(rows * depth));
  for (std::int64_t c = 0; c < depth; ++c)
    for (std::int64_t r = 0; r < rows; ++r) scratch[static_cast<std::size_t>(r + c * rows)] = f(i + r, k + c);
  return strided<T>{scratch.data(), 1, rows, rows, depth};
}

// What one thread needs for its blocks, made before the threads start.
template <scalar R, scalar A, scalar B>
struct workspace {
  using T = bound_of<R>;
  std::vector<A> left_scratch;
  std::vector<B> right_scratch;
  array<T> left_packed;
  array<T> right_packed;
  array<R> sums;
  std::int64_t ld;

  workspace(const block_sizes& size)
      : left_packed(device::cpu(1), 4 * (size.rows + 64) * block_depth),
        right_packed(device::cpu(1), 4 * (size.cols + 12) * block_depth),
        sums(device::cpu(1), (size.rows + 64) * (size.cols + 12)),
        ld(size.rows + 64) {
    left_scratch.reserve(static_cast<std::size_t>(size.rows * block_depth));
    right_scratch.reserve(static_cast<std::size_t>(size.cols * block_depth));
  }
};

// A block of C: where it starts and how large it is.
struct block {
  std::int64_t i, j, rows, cols;

  bool meets(region written) const {
    if (written == region::lower) return i + rows > j;
    if (written == region::upper) return j + cols > i;
    return true;
  }
};

// sums += left right, entry by entry, without those that take no part.
template <scalar R, scalar A, scalar B>
void multiply_inside(const factors<A, B>& term, const block& at, std::int64_t k0, std::int64_t depth, R* sums,
                     std::int64_t ld) {
  for (std::int64_t j = 0; j < at.cols; ++j)
    for (std::int64_t k = k0; k < k0 + depth; ++k) {
      if (term.right.is_outside(k, at.j + j)) continue;
      const B b = term.right(k, at.j + j);
      for (std::int64_t i = 0; i < at.rows; ++i)
        if (!term.left.is_outside(at.i + i, k))
          sums[i + j * ld] = multiply_add(term.left(at.i + i, k), b, sums[i + j * ld]);
    }
}

// sums += left right, entry by entry.
template <scalar R, scalar A, scalar B>
void multiply_entries(const strided<A>& left, const strided<B>& right, R* sums, std::int64_t ld) {
  for (std::int64_t j = 0; j < right.rows; ++j)
    for (std::int64_t k = 0; k < left.depth; ++k) {
      const B b = right.data[j * right.across + k * right.along];
      R* column = sums + j * ld;
      for (std::int64_t i = 0; i < left.rows; ++i)
        column[i] = multiply_add(left.data[i * left.across + k * left.along], b, column[i]);
    }
}

#if VOUCH_HAS_AVX512
template <bool Straddles, scalar R, scalar A, scalar B>
void multiply_tiles(const strided<A>& left, const strided<B>& right, workspace<R, A, B>& work) {
  using tile = avx512::tile<R, A, B>;
  using form = typename tile::form;
  for (std::int64_t j = 0; j < right.rows; j += tile::cols)
    for (std::int64_t i = 0; i < left.rows; i += tile::rows)
      tile::template multiply<Straddles>(left.depth, work.left_packed.data() + i * left.depth * form::parts_a,
                                         work.right_packed.data() + j * left.depth * form::parts_b,
                                         work.sums.data() + i + j * work.ld, work.ld);
}

// The same through packed registers; false where an operand is not finite.
template <scalar R, scalar A, scalar B>
bool multiply_packed(const strided<A>& left, const strided<B>& right, workspace<R, A, B>& work) {
  using tile = avx512::tile<R, A, B>;
  using form = typename tile::form;
  const auto seen_left = avx512::pack<form::parts_a, tile::rows, is_interval<R>>(left, work.left_packed.data());
  const auto seen_right =
      avx512::pack<form::parts_b, tile::cols, is_interval<R>>(right, work.right_packed.data());
  if (is_interval<R> && !(seen_left.finite && seen_right.finite)) return false;
  if (seen_right.straddles)
    multiply_tiles<true>(left, right, work);
  else
    multiply_tiles<false>(left, right, work);
  return true;
}
#endif

// False where that needs a look at every entry.
template <scalar R, scalar A, scalar B>
bool multiply_quickly(const strided<A>& left, const strided<B>& right, workspace<R, A, B>& work) {
#if VOUCH_HAS_AVX512
  if (avx512::available()) return multiply_packed(left, right, work);
#endif
  return false;
}

template <scalar R, scalar A, scalar B>
void sum_block(const factors<A, B>& term, const block& at, workspace<R, A, B>& work) {
  const std::int64_t depth = term.left.cols();
  for (std::int64_t k = 0; k < depth; k += block_depth) {
    const std::int64_t part = std::min(block_depth, depth - k);
    const auto left = block_of(term.left, at.i, k, at.rows, part, work.left_scratch);
    if (!left) continue;
    factor<B> right_transposed = term.right;
    right_transposed.transposed = !right_transposed.transposed;
    const auto right = block_of(right_transposed, at.j, k, at.cols, part, work.right_scratch);
    if (!right) continue;
    if (multiply_quickly(*left, *right, work)) continue;
    if (term.left.form == shape::triangular || term.right.form == shape::triangular)
      multiply_inside(term, at, k, part, work.sums.data(), work.ld);
    else
      multiply_entries(*left, *right, work.sums.data(), work.ld);
  }
}

template <scalar R, scalar A, scalar B>
void form_block(R alpha, const std::vector<factors<A, B>>& terms, R beta, matrix_view<R> C, region written,
                const block& at, workspace<R, A, B>& work) {
  for (std::int64_t j = 0; j < at.cols + 12; ++j)
    std::fill_n(work.sums.data() + j * work.ld, std::min(at.rows + 32, work.ld), R{});
  if (!is_zero(alpha))
    for (const factors<A, B>& term : terms) sum_block(term, at, work);
  for (std::int64_t j = at.j; j < at.j + at.cols; ++j) {
    const std::int64_t first = written == region::lower ? std::max(at.i, j) : at.i;
    const std::int64_t last = written == region::upper ? std::min(at.i + at.rows, j + 1) : at.i + at.rows;
    if (first >= last) continue;
    const R* sums = work.sums.data() + (first - at.i) + (j - at.j) * work.ld;
    if (is_zero(alpha))
      scale_column(beta, last - first, &C(first, j));
    else
      finish_column(alpha, sums, beta, last - first, &C(first, j));
  }
}

}  // namespace

template <scalar R>
void scale_column(R beta, std::int64_t n, R* x) {
  if (is_zero(beta))
    std::fill_n(x, n, R{});
  else if (!is_one(beta))
    scaled_piece(n, beta, static_cast<const R*>(x), x);
}

template <scalar R>
void finish_column(R alpha, const R* sums, R beta, std::int64_t n, R* c) {
  if (is_zero(beta) && is_one(alpha)) {
    std::copy_n(sums, n, c);
  } else if (is_zero(beta)) {
    scaled_piece(n, alpha, sums, c);
  } else {
    scale_column(beta, n, c);
    axpy_piece(n, alpha, sums, c);
  }
}

template <scalar R, scalar A, scalar B>
requires accumulates<R, A, B>
void add_products(const device& dev, R alpha, const std::vector<factors<A, B>>& terms, R beta, matrix_view<R> C,
                  region written) {
  if (C.rows == 0 || C.cols == 0) return;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return add_products_cuda(dev, alpha, terms, beta, C, written);
  const block_sizes size = sizes_for(C.rows, C.cols, dev.threads());
  const std::int64_t down = ceil_div(C.rows, size.rows), across = ceil_div(C.cols, size.cols);
  const int threads = static_cast<int>(std::min<std::int64_t>(dev.threads(), down * across));
  std::vector<workspace<R, A, B>> work;
  for (int t = 0; t < threads; ++t) work.emplace_back(size);
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(dynamic) if (threads > 1)
  for (std::int64_t b = 0; b < down * across; ++b) {
    if (stop.requested()) continue;
    const std::int64_t i = b % down * size.rows, j = b / down * size.cols;
    const block at{i, j, std::min(size.rows, C.rows - i), std::min(size.cols, C.cols - j)};
    if (at.meets(written))
      form_block(alpha, terms, beta, C, written, at, work[static_cast<std::size_t>(omp_get_thread_num())]);
  }
  stop.check();
}

#define VOUCH_PRODUCT(R, A, B) \
  template void add_products(const device&, R, const std::vector<factors<A, B>>&, R, matrix_view<R>, region);
#define VOUCH_PRECISION(T)                                                                               \
  template void scale_column(T, std::int64_t, T*);                                                       \
  template void scale_column(interval<T>, std::int64_t, interval<T>*);                                   \
  template void finish_column(T, const T*, T, std::int64_t, T*);                                         \
  template void finish_column(interval<T>, const interval<T>*, interval<T>, std::int64_t, interval<T>*); \
  VOUCH_PRODUCT(T, T, T)                                                                                 \
  VOUCH_PRODUCT(interval<T>, T, T)                                                                       \
  VOUCH_PRODUCT(interval<T>, T, interval<T>)                                                             \
  VOUCH_PRODUCT(interval<T>, interval<T>, T)                                                             \
  VOUCH_PRODUCT(interval<T>, interval<T>, interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
