#include <vouch/core/array.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/dense/blas/blas1_cuda.hpp>
#include <vouch/dense/blas/lanes.cuh>
#include <vouch/dense/blas/summation.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

template <class TX, class TY>
struct copied {
  view<const TX> x;
  view<TY> y;
  __device__ void operator()(std::int64_t i) const { y[i] = x[i]; }
};

template <class T>
struct swapped {
  view<T> x, y;
  __device__ void operator()(std::int64_t i) const {
    const T old = x[i];
    x[i] = y[i];
    y[i] = old;
  }
};

template <class T>
struct scaled {
  T alpha;
  view<T> x;
  __device__ void operator()(std::int64_t i) const { x[i] = multiply_add(alpha, x[i], T{}); }
};

template <class TX, class TY>
struct added {
  TY alpha;
  view<const TX> x;
  view<TY> y;
  __device__ void operator()(std::int64_t i) const { y[i] = multiply_add(alpha, x[i], y[i]); }
};

template <class T>
struct rotated {
  modified_rotation<T> h;
  view<T> x, y;
  __device__ void operator()(std::int64_t i) const {
    const T a = x[i], b = y[i];
    x[i] = multiply_add(h.h12, b, multiply_add(h.h11, a, T{}));
    y[i] = multiply_add(h.h21, a, multiply_add(h.h22, b, T{}));
  }
};

// What is added up: the sum after element i.
template <class R, class TX, class TY>
struct products {
  view<const TX> x;
  view<const TY> y;
  __device__ R operator()(std::int64_t i, R sum) const { return multiply_add(x[i], y[i], sum); }
};

template <class T>
struct magnitudes {
  view<const T> x;
  __device__ T operator()(std::int64_t i, T sum) const { return add_magnitude(x[i], sum); }
};

template <class T>
struct squares {
  view<const T> x;
  T scale;
  __device__ T operator()(std::int64_t i, T sum) const {
    return add_square(multiply_add(scale, x[i], T{}), sum);
  }
};

// A piece of 4096 elements has lane_count<R> threads, 16 to 64; lane l adds elements l, l + lanes, ... one
// after the other, as on the CPU, and the lanes are added pairwise. Bound by memory where there are many
// pieces.
template <class R, class Term>
__global__ void __launch_bounds__(block) sum_of_pieces(std::int64_t n, Term term, R* partial) {
  constexpr int lanes = lane_count<R>, pieces = static_cast<int>(block) / lanes;
  static_assert(piece_size % lanes == 0 && static_cast<int>(block) % lanes == 0);
  const int lane = static_cast<int>(threadIdx.x) % lanes, mine = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t piece = std::int64_t{blockIdx.x} * pieces + mine, first = piece * piece_size,
                     last = ::min(first + piece_size, n);
  R sum{};
  for (std::int64_t i = first + lane; i < last; i += lanes) sum = term(i, sum);
  sum = sum_of_lanes<block>(sum);
  if (lane == 0 && first < n) partial[piece] = sum;
}

// Halves the list until one is left, as on the CPU (sum_of_list). One block.
template <class R>
__global__ void __launch_bounds__(1024) sum_of_partial(std::int64_t count, R* partial) {
  while (count > 1) {
    const std::int64_t half = (count + 1) / 2;
    for (std::int64_t i = threadIdx.x; i + half < count; i += blockDim.x)
      partial[i] = partial[i] + partial[i + half];
    count = half;
    __syncthreads();
  }
}

template <class R, class Term>
R sum(const device& dev, const char* name, std::int64_t n, Term term) {
  constexpr std::int64_t pieces_a_block = block / lane_count<R>;
  const std::int64_t pieces = piece_count(n);
  if (pieces == 0) return R{};
  array<R> partial(dev, pieces);
  launch(dev, name, {ceil_div(pieces, pieces_a_block), block}, sum_of_pieces<R, Term>, n, term, partial.data());
  launch(dev, name, {1, 1024}, sum_of_partial<R>, pieces, partial.data());
  R result;
  copy_bytes(&result, device::cpu(1), partial.data(), dev, sizeof(R));
  return result;
}

// A size and where it stands; index -1: none.
template <class T>
struct sized {
  T size;
  std::int64_t index;
};

template <class T>
__device__ sized<T> better(const sized<T>& a, const sized<T>& b, bool largest) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  if (a.size == b.size) return a.index < b.index ? a : b;
  return (a.size > b.size) == largest ? a : b;
}

// The best of the block's elements; with the blocks' results as elements, the best of all.
template <class T, class Element>
__global__ void __launch_bounds__(block)
    best_of(std::int64_t n, Element element, bool largest, sized<T>* result) {
  __shared__ sized<T> found[block];
  sized<T> best{T{}, -1};
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    best = better(best, element(i), largest);
  found[threadIdx.x] = best;
  __syncthreads();
  for (unsigned half = block / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) found[threadIdx.x] = better(found[threadIdx.x], found[threadIdx.x + half], largest);
    __syncthreads();
  }
  if (threadIdx.x == 0) result[blockIdx.x] = found[0];
}

template <class T>
struct size_of_element {
  view<const T> x;
  bool largest;
  __device__ sized<bound_of<T>> operator()(std::int64_t i) const {
    const bound_of<T> size = largest ? largest_size(x[i]) : smallest_size(x[i]);
    return {size, size == size ? i : -1};
  }
};

template <class T>
struct of_block {
  const sized<T>* found;
  __device__ sized<T> operator()(std::int64_t i) const { return found[i]; }
};

}  // namespace

template <scalar TX, scalar TY>
void copy_cuda(const device& dev, view<const TX> x, view<TY> y) {
  parallel_for(dev, "copy", x.size(), copied<TX, TY>{x, y});
}

template <scalar T>
void swap_cuda(const device& dev, view<T> x, view<T> y) {
  parallel_for(dev, "swap", x.size(), swapped<T>{x, y});
}

template <scalar T>
void scal_cuda(const device& dev, T alpha, view<T> x) {
  parallel_for(dev, "scal", x.size(), scaled<T>{alpha, x});
}

template <scalar TX, scalar TY>
void axpy_cuda(const device& dev, TY alpha, view<const TX> x, view<TY> y) {
  parallel_for(dev, "axpy", x.size(), added<TX, TY>{alpha, x, y});
}

template <scalar T>
void rotm_cuda(const device& dev, view<T> x, view<T> y, const modified_rotation<T>& h) {
  parallel_for(dev, "rotm", x.size(), rotated<T>{h, x, y});
}

template <scalar R, scalar TX, scalar TY>
R dot_cuda(const device& dev, view<const TX> x, view<const TY> y) {
  return sum<R>(dev, "dot", x.size(), products<R, TX, TY>{x, y});
}

template <scalar T>
T magnitudes_cuda(const device& dev, view<const T> x) {
  return sum<T>(dev, "asum", x.size(), magnitudes<T>{x});
}

template <scalar T>
T squares_cuda(const device& dev, view<const T> x, bound_of<T> scale) {
  return sum<T>(dev, "nrm2", x.size(), squares<T>{x, T{scale}});
}

template <scalar T>
std::int64_t best_index_cuda(const device& dev, view<const T> x, bool largest) {
  using B = bound_of<T>;
  if (x.size() == 0) return -1;
  const std::int64_t blocks =
      std::min<std::int64_t>(ceil_div<std::int64_t>(x.size(), block), 8 * dev.processors());
  array<sized<B>> found(dev, blocks), best(dev, 1);
  launch(dev, "best_of", {blocks, block}, best_of<B, size_of_element<T>>, x.size(),
         size_of_element<T>{x, largest}, largest, found.data());
  launch(dev, "best_of", {1, block}, best_of<B, of_block<B>>, blocks, of_block<B>{found.data()}, largest,
         best.data());
  return best.to_vector()[0].index;
}

template <scalar T>
T element_cuda(const device& dev, view<const T> x, std::int64_t i) {
  T value;
  copy_bytes(&value, device::cpu(1), &x[i], dev, sizeof value);
  return value;
}

#define VOUCH_POINTS_AND_INTERVALS(TX, TY)                              \
  template void copy_cuda(const device&, view<const TX>, view<TY>);     \
  template void axpy_cuda(const device&, TY, view<const TX>, view<TY>); \
  template product_of<TX, TY> dot_cuda<product_of<TX, TY>>(const device&, view<const TX>, view<const TY>);
#define VOUCH_ONE_TYPE(T)                                                                \
  VOUCH_POINTS_AND_INTERVALS(T, T)                                                       \
  template void swap_cuda(const device&, view<T>, view<T>);                              \
  template void scal_cuda(const device&, T, view<T>);                                    \
  template void rotm_cuda(const device&, view<T>, view<T>, const modified_rotation<T>&); \
  template T magnitudes_cuda(const device&, view<const T>);                              \
  template T squares_cuda(const device&, view<const T>, bound_of<T>);                    \
  template std::int64_t best_index_cuda(const device&, view<const T>, bool);             \
  template T element_cuda(const device&, view<const T>, std::int64_t);
#define VOUCH_PRECISION(T)                                                                           \
  VOUCH_ONE_TYPE(T)                                                                                  \
  VOUCH_ONE_TYPE(interval<T>)                                                                        \
  VOUCH_POINTS_AND_INTERVALS(T, interval<T>)                                                         \
  template interval<T> dot_cuda<interval<T>>(const device&, view<const interval<T>>, view<const T>); \
  template interval<T> dot_cuda<interval<T>>(const device&, view<const T>, view<const T>);

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
