#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/blas/entries.cuh>
#include <vouch/dense/blas/lanes.cuh>
#include <vouch/dense/gemm/block_product.hpp>
#include <vouch/dense/gemm/gemm.hpp>

namespace vouch::detail {
namespace {

constexpr int tile = 64, tile_depth = 16, per_thread = 4;
constexpr unsigned tile_threads = 256, line_threads = 256;
// Where halving ends: of triangular factors, and of results of which a triangle is written.
constexpr std::int64_t smallest_triangle = 128, smallest_region = 1024;

__host__ __device__ bool is_written(region written, std::int64_t i, std::int64_t j) {
  return written == region::all || (written == region::lower ? i >= j : i <= j);
}

// What stands in C after a sum: alpha sum + beta c.
template <class R>
__device__ R finished(R alpha, R sum, R beta, R c) {
  R value{};
  if (!is_zero(beta)) value = is_one(beta) ? c : multiply_add(beta, c, R{});
  if (is_zero(alpha)) return value;
  if (is_zero(beta) && is_one(alpha)) return sum;
  return multiply_add(alpha, sum, value);
}

// The running sums of a thread: rows t % 16 + 16 h, columns t / 16 + 16 h of its block's tile.
template <class R, class A, class B>
struct tile_sums {
  R sum[per_thread][per_thread];

  // One stage from shared memory; Outside: entries that take no part are looked for.
  template <bool Finite, bool Outside>
  __device__ void add(const A (*left)[tile + 1], const B (*right)[tile + 1], int depth, const factor<A>& a,
                      const factor<B>& b, std::int64_t i0, std::int64_t j0, std::int64_t k0) {
    const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
#pragma unroll 1
    for (int k = 0; k < depth; ++k) {
      A row[per_thread];
      B column[per_thread];
#pragma unroll
      for (int h = 0; h < per_thread; ++h) {
        row[h] = left[k][x + 16 * h];
        column[h] = right[k][y + 16 * h];
      }
#pragma unroll
      for (int p = 0; p < per_thread; ++p)
#pragma unroll
        for (int q = 0; q < per_thread; ++q) {
          if constexpr (Outside)
            if (a.is_outside(i0 + x + 16 * p, k0 + k) || b.is_outside(k0 + k, j0 + y + 16 * q)) continue;
          if constexpr (Finite)
            sum[p][q] = multiply_add_finite(row[p], R{column[q]}, sum[p][q]);
          else
            sum[p][q] = multiply_add(row[p], column[q], sum[p][q]);
        }
    }
  }
};

template <class A, class B>
struct two_terms {
  factors<A, B> term[2];
  int count;
};

// A block forms 64 by 64 elements of C: for each term the chain over k upwards, as on the CPU. Bound by the
// arithmetic of intervals.
template <class R, class A, class B>
__global__ void __launch_bounds__(tile_threads)
    form_tiles(R alpha, two_terms<A, B> terms, R beta, matrix_view<R> C, region written,
               std::int64_t tiles_down) {
  __shared__ shared_elements<A, tile_depth*(tile + 1)> left_memory;
  __shared__ shared_elements<B, tile_depth*(tile + 1)> right_memory;
  auto* const left = reinterpret_cast<A(*)[tile + 1]>(left_memory.bytes);
  auto* const right = reinterpret_cast<B(*)[tile + 1]>(right_memory.bytes);
  const std::int64_t i0 = blockIdx.x % tiles_down * tile, j0 = blockIdx.x / tiles_down * tile;
  if ((written == region::lower && i0 + tile <= j0) || (written == region::upper && j0 + tile <= i0)) return;
  tile_sums<R, A, B> sums;
#pragma unroll
  for (auto& line : sums.sum)
#pragma unroll
    for (R& s : line) s = R{};
  for (int t = 0; t < (is_zero(alpha) ? 0 : terms.count); ++t) {
    const factor<A>& a = terms.term[t].left;
    const factor<B>& b = terms.term[t].right;
    const std::int64_t depth = a.cols();
    for (std::int64_t k0 = 0; k0 < depth; k0 += tile_depth) {
      const int steps = static_cast<int>(::min(std::int64_t{tile_depth}, depth - k0));
      bool all_finite = true;
      for (int e = static_cast<int>(threadIdx.x); e < tile * tile_depth; e += static_cast<int>(tile_threads)) {
        // Neighbouring threads take neighbours in memory.
        const int ia = a.transposed ? e / tile_depth : e % tile, ka = a.transposed ? e % tile_depth : e / tile;
        const int jb = b.transposed ? e % tile : e / tile_depth, kb = b.transposed ? e / tile : e % tile_depth;
        const A entry_a = ka < steps && i0 + ia < C.rows ? a(i0 + ia, k0 + ka) : A{};
        const B entry_b = kb < steps && j0 + jb < C.cols ? b(k0 + kb, j0 + jb) : B{};
        left[ka][ia] = entry_a;
        right[kb][jb] = entry_b;
        all_finite = all_finite && finite(entry_a) && finite(entry_b);
      }
      if (__syncthreads_and(all_finite))
        sums.template add<true, false>(left, right, steps, a, b, i0, j0, k0);
      else
        sums.template add<false, true>(left, right, steps, a, b, i0, j0, k0);
      __syncthreads();
    }
  }
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
#pragma unroll
  for (int p = 0; p < per_thread; ++p)
#pragma unroll
    for (int q = 0; q < per_thread; ++q) {
      const std::int64_t i = i0 + x + 16 * p, j = j0 + y + 16 * q;
      if (i < C.rows && j < C.cols && is_written(written, i, j))
        C(i, j) = finished(alpha, sums.sum[p][q], beta, is_zero(beta) ? R{} : C(i, j));
    }
}

template <class R>
__global__ void __launch_bounds__(line_threads)
    combine(R alpha, matrix_view<const R> S, R beta, matrix_view<R> C, region written, std::int64_t groups) {
  const std::int64_t i = blockIdx.x % groups * line_threads + threadIdx.x, j = blockIdx.x / groups;
  if (i < C.rows && is_written(written, i, j))
    C(i, j) = finished(alpha, S(i, j), beta, is_zero(beta) ? R{} : C(i, j));
}

// A := f, entry by entry.
template <class T>
__global__ void __launch_bounds__(line_threads) expand(factor<T> f, matrix_view<T> A, std::int64_t groups) {
  const std::int64_t i = blockIdx.x % groups * line_threads + threadIdx.x, j = blockIdx.x / groups;
  if (i < A.rows) A(i, j) = f(i, j);
}

template <class TA, class TC>
__global__ void __launch_bounds__(line_threads)
    squares_of_rows(bool transposed, TC alpha, matrix_view<const TA> A, TC beta, view<const TC> old,
                    matrix_view<TC> C) {
  constexpr int lanes = lane_count<TC>;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t i = std::int64_t{blockIdx.x} * (line_threads / lanes) + threadIdx.x / lanes;
  const std::int64_t depth = transposed ? A.rows : A.cols;
  TC sum{};
  if (i < C.rows)
    for (std::int64_t k = lane; k < depth; k += lanes)
      sum = add_square(TC{transposed ? A(k, i) : A(i, k)}, sum);
  sum = sum_of_lanes<line_threads>(sum);
  if (i >= C.rows || lane != 0) return;
  TC entry = is_zero(beta) ? TC{} : is_one(beta) ? old[i] : multiply_add(beta, old[i], TC{});
  if (!is_zero(alpha)) entry = multiply_add(alpha, sum, entry);
  C(i, i) = entry;
}

template <scalar R, scalar A, scalar B>
void form_directly(const device& dev, R alpha, const std::vector<factors<A, B>>& terms, R beta,
                   matrix_view<R> C, region written) {
  two_terms<A, B> both{{}, static_cast<int>(terms.size())};
  std::copy_n(terms.begin(), terms.size(), both.term);
  const std::int64_t down = ceil_div<std::int64_t>(C.rows, tile), across = ceil_div<std::int64_t>(C.cols, tile);
  launch(dev, "form_tiles", {down * across, tile_threads}, form_tiles<R, A, B>, alpha, both, beta, C, written,
         down);
}

template <class T>
matrix_view<T> as_matrix(const scratch<T>& memory, std::int64_t rows, std::int64_t cols) {
  return {memory.data(), rows, cols, std::max<std::int64_t>(1, rows)};
}

// The middle of n, a multiple of tiles.
std::int64_t half_of(std::int64_t n) { return ceil_div<std::int64_t>(n, 256) * 128; }

template <scalar T>
factor<T> row_part(const factor<T>& f, range rows) {
  return general_part(f, rows, {0, f.cols()});
}
template <scalar T>
factor<T> column_part(const factor<T>& f, range cols) {
  return general_part(f, {0, f.rows()}, cols);
}

// Intervals, alpha and beta points: what can be goes through tensor cores.
template <real T, scalar A, scalar B>
class tensor_products {
 public:
  using R = interval<T>;
  explicit tensor_products(const device& dev) : dev_(dev) {}

  /// C := alpha (sum of terms) + beta C, term after term.
  void add(T alpha, const std::vector<factors<A, B>>& terms, T beta, matrix_view<R> C, region written) const {
    for (const factors<A, B>& term : terms) {
      add(alpha, term.left, term.right, beta, C, written);
      beta = 1;
    }
  }

 private:
  void add(T alpha, const factor<A>& left, const factor<B>& right, T beta, matrix_view<R> C,
           region written) const {
    if (C.rows == 0 || C.cols == 0) return;
    if (written != region::all) return add_region(alpha, left, right, beta, C, written);
    if (left.form == shape::triangular) return add_triangular_left(alpha, left, right, beta, C);
    if (right.form == shape::triangular) return add_triangular_right(alpha, left, right, beta, C);
    if (left.form == shape::symmetric)
      return with_all_of(left, [&](const factor<A>& all) { add(alpha, all, right, beta, C, written); });
    if (right.form == shape::symmetric)
      return with_all_of(right, [&](const factor<B>& all) { add(alpha, left, all, beta, C, written); });
    const auto op = [](bool transposed) { return transposed ? transpose::yes : transpose::no; };
    gemm_tight_cuda<A, B, T>(dev_, op(left.transposed), op(right.transposed), alpha, left.A, right.A, beta, C);
  }

  // A triangle of C for general factors: two triangles and the block between them.
  void add_region(T alpha, const factor<A>& left, const factor<B>& right, T beta, matrix_view<R> C,
                  region written) const {
    const std::int64_t n = C.rows, h = half_of(n);
    if (n <= smallest_region) {
      const scratch<R> all(dev_, n * n);
      add(1, left, right, 0, as_matrix(all, n, n), region::all);
      return combine_cuda<R>(dev_, R(alpha), as_matrix(all, n, n), R(beta), C, written);
    }
    const range low{0, h}, high{h, n};
    add(alpha, row_part(left, low), column_part(right, low), beta, C.block(0, 0, h, h), written);
    if (written == region::lower)
      add(alpha, row_part(left, high), column_part(right, low), beta, C.block(h, 0, n - h, h), region::all);
    else
      add(alpha, row_part(left, low), column_part(right, high), beta, C.block(0, h, h, n - h), region::all);
    add(alpha, row_part(left, high), column_part(right, high), beta, C.block(h, h, n - h, n - h), written);
  }

  void add_triangular_left(T alpha, const factor<A>& left, const factor<B>& right, T beta,
                           matrix_view<R> C) const {
    const std::int64_t n = C.rows, h = half_of(n);
    if (n <= smallest_triangle)
      return form_directly<R, A, B>(dev_, R(alpha), {{left, right}}, R(beta), C, region::all);
    const range low{0, h}, high{h, n};
    const auto first = C.block(0, 0, h, C.cols), second = C.block(h, 0, n - h, C.cols);
    add(alpha, diagonal_part(left, low), row_part(right, low), beta, first, region::all);
    if (left.is_lower()) {
      add(alpha, general_part(left, high, low), row_part(right, low), beta, second, region::all);
      add(alpha, diagonal_part(left, high), row_part(right, high), 1, second, region::all);
    } else {
      add(alpha, general_part(left, low, high), row_part(right, high), 1, first, region::all);
      add(alpha, diagonal_part(left, high), row_part(right, high), beta, second, region::all);
    }
  }

  void add_triangular_right(T alpha, const factor<A>& left, const factor<B>& right, T beta,
                            matrix_view<R> C) const {
    const std::int64_t n = C.cols, h = half_of(n);
    if (n <= smallest_triangle)
      return form_directly<R, A, B>(dev_, R(alpha), {{left, right}}, R(beta), C, region::all);
    const range low{0, h}, high{h, n};
    const auto first = C.block(0, 0, C.rows, h), second = C.block(0, h, C.rows, n - h);
    add(alpha, column_part(left, low), diagonal_part(right, low), beta, first, region::all);
    if (right.is_lower()) {
      add(alpha, column_part(left, high), general_part(right, high, low), 1, first, region::all);
      add(alpha, column_part(left, high), diagonal_part(right, high), beta, second, region::all);
    } else {
      add(alpha, column_part(left, low), general_part(right, low, high), beta, second, region::all);
      add(alpha, column_part(left, high), diagonal_part(right, high), 1, second, region::all);
    }
  }

  template <scalar E, class Body>
  void with_all_of(const factor<E>& f, const Body& body) const {
    const std::int64_t n = f.rows(), groups = ceil_div<std::int64_t>(n, line_threads);
    const scratch<E> all(dev_, n * n);
    launch(dev_, "expand", {groups * n, line_threads}, expand<E>, f, as_matrix(all, n, n), groups);
    body(factor<E>{as_matrix(all, n, n)});
  }

  device dev_;
};

}  // namespace

template <scalar R>
void combine_cuda(const device& dev, R alpha, matrix_view<const R> S, R beta, matrix_view<R> C,
                  region written) {
  const std::int64_t groups = ceil_div<std::int64_t>(C.rows, line_threads);
  launch(dev, "combine", {groups * C.cols, line_threads}, combine<R>, alpha, S, beta, C, written, groups);
}

template <scalar R, scalar A, scalar B>
void add_products_cuda(const device& dev, R alpha, const std::vector<factors<A, B>>& terms, R beta,
                       matrix_view<R> C, region written) {
  if (C.rows == 0 || C.cols == 0) return;
  if constexpr (is_interval<R>) {
    const bool points = lower(alpha) == upper(alpha) && lower(beta) == upper(beta);
    const tensor_products<bound_of<R>, A, B> products(dev);
    if (!is_zero(alpha) && terms[0].left.cols() > 0) {
      if (points) return products.add(lower(alpha), terms, lower(beta), C, written);
      const scratch<R> sums(dev, C.rows * C.cols);
      products.add(1, terms, 0, as_matrix(sums, C.rows, C.cols), written);
      return combine_cuda<R>(dev, alpha, as_matrix(sums, C.rows, C.cols), beta, C, written);
    }
  }
  form_directly(dev, alpha, terms, beta, C, written);
}

template <scalar TA, scalar TC>
void square_diagonal_cuda(const device& dev, bool transposed, TC alpha, matrix_view<const TA> A, TC beta,
                          view<const TC> old, matrix_view<TC> C) {
  constexpr std::int64_t rows_a_block = line_threads / lane_count<TC>;
  launch(dev, "squares_of_rows", {ceil_div(C.rows, rows_a_block), line_threads}, squares_of_rows<TA, TC>,
         transposed, alpha, A, beta, old, C);
}

template <scalar T>
void copy_matrix_cuda(const device& dev, matrix_view<const T> A, matrix_view<T> B) {
  if (A.rows == 0 || A.cols == 0) return;
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
  check(cudaSetDevice(dev.index()), "copying a matrix");
  check(cudaMemcpy2DAsync(B.data, bytes(B.ld), A.data, bytes(A.ld), bytes(A.rows),
                          static_cast<std::size_t>(A.cols), cudaMemcpyDeviceToDevice,
                          static_cast<cudaStream_t>(dev.stream())),
        "copying a matrix");
}

#define VOUCH_PRODUCT(R, A, B)                                                                            \
  template void add_products_cuda(const device&, R, const std::vector<factors<A, B>>&, R, matrix_view<R>, \
                                  region);
#define VOUCH_TWO(A, R)                                                                              \
  template void square_diagonal_cuda(const device&, bool, R, matrix_view<const A>, R, view<const R>, \
                                     matrix_view<R>);
#define VOUCH_ONE(T)                                                                             \
  template void combine_cuda(const device&, T, matrix_view<const T>, T, matrix_view<T>, region); \
  template void copy_matrix_cuda(const device&, matrix_view<const T>, matrix_view<T>);
#define VOUCH_PRECISION(T)                             \
  VOUCH_PRODUCT(T, T, T)                               \
  VOUCH_PRODUCT(interval<T>, T, T)                     \
  VOUCH_PRODUCT(interval<T>, T, interval<T>)           \
  VOUCH_PRODUCT(interval<T>, interval<T>, T)           \
  VOUCH_PRODUCT(interval<T>, interval<T>, interval<T>) \
  VOUCH_TWO(T, T)                                      \
  VOUCH_TWO(T, interval<T>)                            \
  VOUCH_TWO(interval<T>, interval<T>)                  \
  VOUCH_ONE(T)                                         \
  VOUCH_ONE(interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
