// A matrix that comes to the GPU in pieces, and the kernels that begin with it.
#include <cuda_runtime.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/stationary/dense_engines.hpp>

namespace vouch {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr unsigned fitting = 1024;  // threads that fit what is missing
// A piece is a part of what is still missing, the smaller the nearer the end; but a sweep over all rows is to
// be over before the next piece is there.
constexpr std::int64_t part_of_missing = 6, least_part = 48;
constexpr std::int64_t least_piece = std::int64_t{4} << 20;  // bytes; about what takes as long as a few kernels

/// What the kernels tell each other.
struct start_facts {
  int from_zero;  // x was zero
  int dominant;   // so far every row outweighs its other entries
};

// A GPU's stream for copies, made once and for ever: making one takes longer than a small copy.
cudaStream_t copy_stream(int gpu) {
  static std::mutex mutex;
  static std::map<int, cudaStream_t>& streams = *new std::map<int, cudaStream_t>;
  const std::lock_guard lock(mutex);
  cudaStream_t& stream = streams[gpu];
  check(cudaSetDevice(gpu), "selecting the GPU");
  if (stream == nullptr) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return stream;
}

// Copies beside the work on the GPU.
class copy_queue {
 public:
  explicit copy_queue(const device& gpu)
      : work_(static_cast<cudaStream_t>(gpu.stream())), copies_(copy_stream(gpu.index())) {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
    after(copies_, work_);  // what was there in this memory before is done with
  }
  // The host's memory may be given back then.
  ~copy_queue() {
    cudaStreamSynchronize(copies_);
    cudaEventDestroy(event_);
  }
  copy_queue(const copy_queue&) = delete;
  copy_queue& operator=(const copy_queue&) = delete;

  // Columns j to j + count - 1; work given to the GPU from now on finds them there.
  template <class T>
  void copy(matrix_view<const T> from, matrix_view<T> to, std::int64_t j, std::int64_t count) {
    const auto size = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    if (from.ld == from.rows && to.ld == from.rows)
      check(cudaMemcpyAsync(&to(0, j), &from(0, j), size(from.rows * count), cudaMemcpyHostToDevice, copies_),
            "copying to the GPU");
    else
      check(cudaMemcpy2DAsync(&to(0, j), size(to.ld), &from(0, j), size(from.ld), size(from.rows),
                              static_cast<std::size_t>(count), cudaMemcpyHostToDevice, copies_),
            "copying to the GPU");
    after(work_, copies_);
  }

 private:
  void after(cudaStream_t second, cudaStream_t first) const {
    check(cudaEventRecord(event_, first), "cudaEventRecord");
    check(cudaStreamWaitEvent(second, event_, 0), "cudaStreamWaitEvent");
  }

  cudaStream_t work_, copies_;
  cudaEvent_t event_ = nullptr;
};

struct sum_of {
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct largest_of {
  __device__ double operator()(double a, double b) const { return fmax(a, b); }
};

// What join makes of the values of a warp, in every lane; a fixed tree.
template <class Join>
__device__ double over_warp(double v, Join join) {
  for (int d = 16; d > 0; d /= 2) v = join(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

template <class T, int Width>
struct alignas(sizeof(T) * Width) pack {
  T v[Width];
};

// This thread's part of a row's product with x, and of the sum of its other entries; it takes every `apart`-th
// pack.
struct row_part {
  double product = 0, others = 0;
};
template <class T, int Width>
__device__ row_part part_of_row(const T* __restrict__ row, std::int64_t n, std::int64_t i,
                                const T* __restrict__ x, int place, int apart) {
  T product[Width] = {}, others[Width] = {};
#pragma unroll 8
  for (std::int64_t j = place * Width; j < n; j += apart * Width) {
    const auto a_j = *reinterpret_cast<const pack<T, Width>*>(row + j);
    const auto x_j = *reinterpret_cast<const pack<T, Width>*>(x + j);
#pragma unroll
    for (int l = 0; l < Width; ++l) {
      product[l] += a_j.v[l] * x_j.v[l];
      others[l] += i == j + l ? T{} : fabs(a_j.v[l]);
    }
  }
  row_part sum;
#pragma unroll
  for (int l = 0; l < Width; ++l) {
    sum.product += product[l];
    sum.others += others[l];
  }
  return sum;
}

template <class T>
__device__ T improved(T x, T b, double product, double diagonal) {
  return static_cast<T>(static_cast<double>(x) + (static_cast<double>(b) - product) / diagonal);
}

// next[i] = what row i makes of its unknown, for i < `last`. A warp a row, with eight packs a lane under way.
// Bound by memory; a fixed tree.
template <class T, int Width>
__global__ void __launch_bounds__(threads)
    sweep_rows(const T* __restrict__ a, std::int64_t n, std::int64_t last, const T* __restrict__ b,
               const T* __restrict__ x, T* __restrict__ next) {
  const std::int64_t i = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (i >= last) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const double product = over_warp(part_of_row<T, Width>(a + i * n, n, i, x, lane, 32).product, sum_of{});
  if (lane == 0) next[i] = improved(x[i], b[i], product, static_cast<double>(a[i * n + i]));
}

// The same for the rows from `first` on, which are few and new: a block a row; ratio[i] is the sum of its other
// entries over the diagonal one. Bound by latency.
template <class T, int Width>
__global__ void __launch_bounds__(threads)
    take_rows(const T* __restrict__ a, std::int64_t n, std::int64_t first, const T* __restrict__ b,
              const T* __restrict__ x, T* __restrict__ next, T* __restrict__ ratio) {
  __shared__ row_part part[warps];
  const std::int64_t i = first + blockIdx.x;
  row_part sum = part_of_row<T, Width>(a + i * n, n, i, x, static_cast<int>(threadIdx.x), threads);
  sum = {over_warp(sum.product, sum_of{}), over_warp(sum.others, sum_of{})};
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < warps; ++w) {
    sum.product += part[w].product;
    sum.others += part[w].others;
  }
  const double diagonal = a[i * n + i];
  next[i] = improved(x[i], b[i], sum.product, diagonal);
  ratio[i] = static_cast<T>(sum.others / fabs(diagonal));
}

// The same over the block of `fitting` threads, in every thread; room is for a value a warp.
template <class Join>
__device__ double over_block(double v, double* room, Join join) {
  static_assert(fitting == 32 * 32);
  v = over_warp(v, join);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
  __syncthreads();
  v = over_warp(room[threadIdx.x % 32], join);
  __syncthreads();
  return v;
}

// One block: both copies of the start, and what there is to know of it.
template <class T>
__global__ void __launch_bounds__(fitting)
    take_start(const T* __restrict__ x, std::int64_t n, T* __restrict__ now, T* __restrict__ next,
               start_facts* __restrict__ facts) {
  __shared__ double room[32];
  double largest = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += fitting) {
    now[i] = next[i] = x[i];
    largest = fmax(largest, x[i] == T{} ? 0.0 : 1.0);
  }
  largest = over_block(largest, room, largest_of{});
  if (threadIdx.x == 0) *facts = {largest == 0 ? 1 : 0, 1};
}

// One block: the new unknowns of the rows `first` to `last` - 1 from next to x, and in both what is taken for
// those after them.
template <class T>
__global__ void __launch_bounds__(fitting)
    fit_missing(const T* __restrict__ b, std::int64_t n, std::int64_t first, std::int64_t last,
                const T* __restrict__ ratio, T* __restrict__ x, T* __restrict__ next,
                start_facts* __restrict__ facts) {
  __shared__ double room[32];
  double product = 0, square = 0, largest = 0, weakest = 0;
  for (std::int64_t i = first + threadIdx.x; i < last; i += fitting) {
    const double x_i = next[i], b_i = b[i];
    x[i] = next[i];
    product += x_i * b_i;
    square += b_i * b_i;
    largest = fmax(largest, fabs(x_i));
    weakest = fmax(weakest, ratio[i] < T{1} ? 0.0 : 1.0);  // NaN too
  }
  product = over_block(product, room, sum_of{});
  square = over_block(square, room, sum_of{});
  largest = over_block(largest, room, largest_of{});
  weakest = over_block(weakest, room, largest_of{});
  if (threadIdx.x == 0 && weakest > 0) facts->dominant = 0;
  if (facts->from_zero == 0 || !(square > 0)) return;
  const double t = product / square;
  for (std::int64_t i = last + threadIdx.x; i < n; i += fitting)
    x[i] = next[i] = static_cast<T>(fmin(fmax(t * static_cast<double>(b[i]), -largest), largest));
}

template <class T>
__global__ void __launch_bounds__(threads)
    give_start(const T* __restrict__ now, std::int64_t n, const start_facts* __restrict__ facts,
               T* __restrict__ x) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < n && facts->dominant != 0) x[i] = now[i];
}

// The start that becomes better while rows arrive.
template <class T>
class early_sweeps {
 public:
  early_sweeps(const device& gpu, matrix_view<const T> A, const T* b, const T* x)
      : gpu_(gpu), A_(A), b_(b), now_(gpu, A.rows), next_(gpu, A.rows), ratio_(gpu, A.rows), facts_(gpu, 1) {
    launch(gpu_, "take_start", {1, fitting}, take_start<T>, x, A_.rows, now_.data(), next_.data(),
           facts_.data());
  }

  // Rows up to `last` are there, from `first` on they are new.
  void take(std::int64_t first, std::int64_t last) {
    const bool whole = A_.rows % width == 0;
    launch(gpu_, "take_rows", {last - first, threads}, whole ? take_rows<T, width> : take_rows<T, 1>, A_.data,
           A_.rows, first, b_, static_cast<const T*>(now_.data()), next_.data(), ratio_.data());
    launch(gpu_, "fit_missing", {1, fitting}, fit_missing<T>, b_, A_.rows, first, last,
           static_cast<const T*>(ratio_.data()), now_.data(), next_.data(), facts_.data());
    if (last == A_.rows) return;
    launch(gpu_, "sweep_rows", {ceil_div<std::int64_t>(last, warps), threads},
           whole ? sweep_rows<T, width> : sweep_rows<T, 1>, A_.data, A_.rows, last, b_,
           static_cast<const T*>(now_.data()), next_.data());
    std::swap(now_, next_);
  }

  void finish(T* x) {
    launch(gpu_, "give_start", {ceil_div<std::int64_t>(A_.rows, threads), threads}, give_start<T>,
           static_cast<const T*>(now_.data()), A_.rows, static_cast<const start_facts*>(facts_.data()), x);
  }

 private:
  static constexpr int width = 16 / static_cast<int>(sizeof(T));

  device gpu_;
  matrix_view<const T> A_;
  const T* b_;
  array<T> now_, next_, ratio_;
  array<start_facts> facts_;
};

}  // namespace

template <real T>
void send_matrix(const device& gpu, matrix_view<const T> from, matrix_view<T> to, const T* b, T* x) {
  const std::int64_t n = from.cols;
  if (n == 0) return;
  const std::int64_t line = n * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t least =
      std::max(ceil_div<std::int64_t>(n, least_part), ceil_div<std::int64_t>(least_piece, line));
  copy_queue queue(gpu);
  if (b == nullptr || least >= n) return queue.copy(from, to, 0, n);
  early_sweeps<T> sweeps(gpu, to, b, x);
  for (std::int64_t first = 0, count = 0; first < n; first += count) {
    count = std::min(n - first, std::max(least, (n - first) / part_of_missing));
    queue.copy(from, to, first, count);
    sweeps.take(first, first + count);
  }
  sweeps.finish(x);
}

template void send_matrix(const device&, matrix_view<const float>, matrix_view<float>, const float*, float*);
template void send_matrix(const device&, matrix_view<const double>, matrix_view<double>, const double*,
                          double*);

}  // namespace vouch
