#include <algorithm>

#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/types.hpp>
#include <vouch/solve/krylov/chunk.cuh>
#include <vouch/solve/krylov/grid_sum.cuh>
#include <vouch/solve/krylov/vector_pass.hpp>
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch {
namespace {

using namespace passes;

// The same on every GPU, so that the bits of sums are too.
constexpr std::int64_t most_blocks = 2112;

bool is_aligned(const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }

// Probes that a kernel has registers for; without_sums where it takes no sums at all.
constexpr int without_sums = -1;
constexpr int count_of_sums(int probes, bool is_complex) { return 1 + probes * (is_complex ? 2 : 1); }

// A thread takes 16 bytes of every vector at a time. Bound by memory: each vector once.
template <class T, int Outputs, bool Complex, int Probes>
__global__ void __launch_bounds__(block)
    combine_vectors(__grid_constant__ const combination<T> c, std::int64_t n, bool aligned, double* parts,
                    unsigned* ticket, sum_message message) {
  constexpr int width = chunk<T>::width;
  constexpr bool is_summed = Probes != without_sums;
  sums<is_summed ? count_of_sums(Probes, Complex) : 1> s;
  const std::int64_t chunks = (n + width - 1) / width, whole_chunks = n / width;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x; k < chunks;
       k += std::int64_t{gridDim.x} * block) {
    const bool whole = aligned && k < whole_chunks;
    chunk<T> made[Outputs] = {};
#pragma unroll 4
    for (int m = 0; m < c.inputs; ++m) {
      const chunk<T> from = load_chunk(c.in[m], k, n, whole);
#pragma unroll
      for (int j = 0; j < Outputs; ++j) {
        const T re = c.re[j][m];
        if constexpr (Complex) {
          const T im = c.im[j][m];
#pragma unroll
          for (int e = 0; e < width; e += 2) {
            made[j].v[e] += re * from.v[e] - im * from.v[e + 1];
            made[j].v[e + 1] += re * from.v[e + 1] + im * from.v[e];
          }
        } else {
#pragma unroll
          for (int e = 0; e < width; ++e) made[j].v[e] += re * from.v[e];
        }
      }
    }
    if constexpr (is_summed) {
#pragma unroll
      for (int e = 0; e < width; ++e)
        s.value[0] += static_cast<double>(made[0].v[e]) * static_cast<double>(made[0].v[e]);
#pragma unroll
      for (int p = 0; p < Probes; ++p) {
        if (p >= c.probes) continue;
        const chunk<T> probe = c.probe[p] != nullptr ? load_chunk(c.probe[p], k, n, whole) : made[0];
        if constexpr (Complex) {
          const double sign = c.transposed ? -1 : 1;
#pragma unroll
          for (int e = 0; e < width; e += 2) {
            const double a = probe.v[e], b = sign * static_cast<double>(probe.v[e + 1]), x = made[0].v[e],
                         y = made[0].v[e + 1];
            s.value[1 + 2 * p] += a * x + b * y;
            s.value[2 + 2 * p] += a * y - b * x;
          }
        } else {
#pragma unroll
          for (int e = 0; e < width; ++e)
            s.value[1 + p] += static_cast<double>(probe.v[e]) * static_cast<double>(made[0].v[e]);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < Outputs; ++j)
      if (j < c.outputs) store_chunk(c.out[j], k, n, whole, made[j]);
  }
  if constexpr (is_summed)
    grid_sum(s, parts, ticket, [&](const auto& all) {
      for (int k = 0; k < count_of_sums(Probes == 0 ? 0 : c.probes, Complex); ++k)
        message.value[k] = all.value[k];
      post(message);
    });
}

template <class T, int Outputs, bool Complex>
void launch_combine(const device& dev, const combination<T>& c, std::int64_t n, sum_room& room, double* sums) {
  bool aligned = true;
  for (int k = 0; k < c.inputs; ++k) aligned = aligned && is_aligned(c.in[k]);
  for (int j = 0; j < c.outputs; ++j) aligned = aligned && is_aligned(c.out[j]);
  for (int p = 0; p < c.probes; ++p) aligned = aligned && is_aligned(c.probe[p]);
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div<std::int64_t>(n, block * chunk<T>::width));
  if (sums == nullptr) {
    launch(dev, "combine_vectors", {blocks, block}, combine_vectors<T, Outputs, Complex, without_sums>, c, n,
           aligned, nullptr, nullptr, sum_message{});
    return;
  }
  const std::int64_t summing = std::min(blocks, most_blocks);
  const sum_message message = room.message();
  const auto sum = [&]<int Probes>() {
    launch(dev, "combine_vectors", {summing, block}, combine_vectors<T, Outputs, Complex, Probes>, c, n,
           aligned, room.parts(summing * count_of_sums(Probes, Complex)), room.ticket(), message);
  };
  if (c.probes == 0)
    sum.template operator()<0>();
  else
    sum.template operator()<combination<T>::most_probes>();
  wait_for_sums_cuda(dev, message);
  std::copy_n(room.received(), count_of_sums(c.probes, Complex), sums);
}

template <class T, bool Complex>
void launch_combine(const device& dev, const combination<T>& c, std::int64_t n, sum_room& room, double* sums) {
  if (c.outputs == 1) return launch_combine<T, 1, Complex>(dev, c, n, room, sums);
  if (c.outputs == 2) return launch_combine<T, 2, Complex>(dev, c, n, room, sums);
  launch_combine<T, 4, Complex>(dev, c, n, room, sums);
}

// Columns a warp takes; a block has 8 warps, and every group of columns as many of them.
constexpr int own_columns = 4;
constexpr int warps = block / 32;
static_assert(own_columns * warps == column_products<double>::most_columns);
// Blocks that are resident at once on the GPUs this was measured on.
constexpr std::int64_t most_product_blocks = 528;

// Warps of one block share rows and take columns of their own, four each; where there are few columns they take other
// rows. Bound by memory: each column once, the vectors from the first-level cache but for the first warp.
template <class T, int Vectors, bool Complex>
__global__ void __launch_bounds__(block, 4)
    multiply_columns_kernel(__grid_constant__ const column_products<T> c, int groups, std::int64_t n,
                            bool aligned, double* parts, unsigned* ticket, sum_message message) {
  constexpr int width = chunk<T>::width, own_sums = own_columns * Vectors * (Complex ? 2 : 1);
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int group = warp % groups, strip = warp / groups, strips = warps / groups;
  const int first_column = group * own_columns, columns = min(own_columns, c.columns - first_column);
  double s[own_columns][Vectors][Complex ? 2 : 1] = {};
  const std::int64_t chunks = (n + width - 1) / width, whole_chunks = n / width;
  for (std::int64_t k = (std::int64_t{blockIdx.x} * strips + strip) * 32 + lane; k < chunks;
       k += std::int64_t{gridDim.x} * strips * 32) {
    const bool whole = aligned && k < whole_chunks;
    chunk<T> column[own_columns], vector[Vectors];
#pragma unroll
    for (int m = 0; m < own_columns; ++m)
      if (m < columns) column[m] = load_chunk(c.column[first_column + m], k, n, whole);
#pragma unroll
    for (int v = 0; v < Vectors; ++v) vector[v] = load_chunk(c.vector[v], k, n, whole);
#pragma unroll
    for (int m = 0; m < own_columns; ++m) {
      if (m >= columns) continue;
#pragma unroll
      for (int v = 0; v < Vectors; ++v) {
        if constexpr (Complex) {
#pragma unroll
          for (int e = 0; e < width; e += 2) {
            const double a = column[m].v[e], b = column[m].v[e + 1], x = vector[v].v[e], y = vector[v].v[e + 1];
            s[m][v][0] += a * x + b * y;
            s[m][v][1] += a * y - b * x;
          }
        } else {
#pragma unroll
          for (int e = 0; e < width; ++e)
            s[m][v][0] += static_cast<double>(column[m].v[e]) * static_cast<double>(vector[v].v[e]);
        }
      }
    }
  }
  __shared__ double of_warp[warps][own_sums];
  __shared__ bool last;
#pragma unroll
  for (int m = 0; m < own_columns; ++m)
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
#pragma unroll
      for (int part = 0; part < (Complex ? 2 : 1); ++part) {
        double sum = s[m][v][part];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (lane == 0) of_warp[warp][(m * Vectors + v) * (Complex ? 2 : 1) + part] = sum;
      }
  __syncthreads();
  const int count = groups * own_sums;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += block) {
    double sum = 0;
    for (int w = 0; w < strips; ++w) sum += of_warp[w * groups + k / own_sums][k % own_sums];
    parts[std::int64_t{blockIdx.x} * count + k] = sum;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  // Of several threads for one sum each takes every so many-th block.
  __shared__ double shares[block];
  const int teams = max(1, static_cast<int>(block) / count);
  for (int first = 0; first < count; first += block) {
    const int k = first + static_cast<int>(threadIdx.x) % min(count, static_cast<int>(block));
    const int team = static_cast<int>(threadIdx.x) / min(count, static_cast<int>(block));
    double sum = 0;
    if (team < teams && k < count)
      for (unsigned b = team; b < gridDim.x; b += teams) sum += __ldcg(parts + std::int64_t{b} * count + k);
    shares[threadIdx.x] = sum;
    __syncthreads();
    if (team == 0 && k < count) {
      for (int t = 1; t < teams; ++t) sum += shares[t * count + k - first];
      message.value[k] = sum;
      __threadfence_system();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) post(message);
}

template <class T, int Vectors, bool Complex>
void launch_products(const device& dev, const column_products<T>& c, std::int64_t n, sum_room& room,
                     double* sums) {
  bool aligned = true;
  for (int k = 0; k < c.columns; ++k) aligned = aligned && is_aligned(c.column[k]);
  for (int v = 0; v < Vectors; ++v) aligned = aligned && is_aligned(c.vector[v]);
  int groups = 1;
  while (groups * own_columns < c.columns) groups *= 2;
  constexpr int own_sums = own_columns * Vectors * (Complex ? 2 : 1);
  static_assert(own_sums * warps <= sum_mailbox::most);
  const std::int64_t chunks_a_block = 32 * (warps / groups);
  const std::int64_t blocks = std::clamp<std::int64_t>(
      ceil_div<std::int64_t>(ceil_div<std::int64_t>(n, chunk<T>::width), chunks_a_block), 1,
      most_product_blocks);
  const sum_message message = room.message();
  launch(dev, "multiply_columns", {blocks, block}, multiply_columns_kernel<T, Vectors, Complex>, c, groups, n,
         aligned, room.parts(blocks * groups * own_sums), room.ticket(), message);
  wait_for_sums_cuda(dev, message);
  std::copy_n(room.received(), c.columns * Vectors * (Complex ? 2 : 1), sums);
}

}  // namespace

template <real T>
void combine_cuda(const device& dev, const combination<T>& c, bool is_complex, std::int64_t n, sum_room& room,
                  double* sums) {
  if (is_complex) return launch_combine<T, true>(dev, c, n, room, sums);
  launch_combine<T, false>(dev, c, n, room, sums);
}

template <real T>
void multiply_columns_cuda(const device& dev, const column_products<T>& c, bool is_complex, std::int64_t n,
                           sum_room& room, double* sums) {
  if (c.vectors == 2)
    return is_complex ? launch_products<T, 2, true>(dev, c, n, room, sums)
                      : launch_products<T, 2, false>(dev, c, n, room, sums);
  is_complex ? launch_products<T, 1, true>(dev, c, n, room, sums)
             : launch_products<T, 1, false>(dev, c, n, room, sums);
}

#define VOUCH_VECTOR_PASS(T)                                                                                   \
  template void combine_cuda(const device&, const combination<T>&, bool, std::int64_t, sum_room&, double*);    \
  template void multiply_columns_cuda(const device&, const column_products<T>&, bool, std::int64_t, sum_room&, \
                                      double*);
VOUCH_VECTOR_PASS(float)
VOUCH_VECTOR_PASS(double)
#undef VOUCH_VECTOR_PASS

std::shared_ptr<sum_mailbox> pinned_sums_cuda() { return acquire_pinned<sum_mailbox>(); }

void wait_for_sums_cuda(const device& dev, const sum_message& message) {
  const volatile std::int64_t* const arrived = message.arrived;
  constexpr int looks = 1000;  // between two at the stream, which take longer
  for (;;) {
    for (int k = 0; k < looks; ++k)
      if (*arrived == message.number) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        return;
      }
    const cudaError_t state = cudaStreamQuery(static_cast<cudaStream_t>(dev.stream()));
    if (state != cudaErrorNotReady) check(state, "sums of vectors");
  }
}

}  // namespace vouch
