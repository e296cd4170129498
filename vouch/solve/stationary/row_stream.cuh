// vouch/solve/stationary/row_stream.cuh -- rows of a dense matrix on their way from memory to the sums of a kernel that
// stays on the GPU; private.
//
// Mapping   256 threads sum rows. A row comes in pieces of 4 KiB; of each piece a thread takes 16 bytes, so
//           that a thread meets the same columns in every row and nobody else needs its share of the vector.
// Ring      stages in shared memory, filled by the copy engine ahead of the sums, on the word of a thread that
//           does nothing else. The matrix does not depend on the vector: stages of the next sweep come in while
//           blocks wait for each other. Where the ring holds all that a block needs it is filled once.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/gpu/tma.cuh>

namespace vouch::stream {

inline constexpr int threads = 256;
inline constexpr int warps = threads / 32;
inline constexpr int piece_bytes = 16 * threads;
inline constexpr unsigned everyone = ~0u;

/// Columns of a piece that one thread takes, and all of them.
template <class S>
inline constexpr int lane_columns = 16 / static_cast<int>(sizeof(S));
template <class S>
inline constexpr int piece_columns = threads* lane_columns<S>;

template <class S>
__host__ __device__ int pieces_of(std::int64_t n) {
  return static_cast<int>((n + piece_columns<S> - 1) / piece_columns<S>);
}

/// 16 bytes of a row as numbers of type T.
template <class T>
__device__ void unpack(const float* from, T (&to)[4]) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
template <class T>
__device__ void unpack(const double* from, T (&to)[2]) {
  const double2 v = *reinterpret_cast<const double2*>(from);
  to[0] = v.x, to[1] = v.y;
}
template <class T>
__device__ void unpack(const __nv_bfloat16* from, T (&to)[8]) {
  const uint4 v = *reinterpret_cast<const uint4*>(from);
  const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[2 * k] = __uint_as_float(word[k] << 16);
    to[2 * k + 1] = __uint_as_float(word[k] & 0xffff0000u);
  }
}

template <class T>
__device__ void unpack(const __nv_fp8_e4m3* from, T (&to)[16]) {
  const uint4 v = *reinterpret_cast<const uint4*>(from);
  const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const auto pair = static_cast<__nv_fp8x2_storage_t>(word[k / 2] >> (16 * (k % 2)) & 0xffffU);
    const float2 two = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(pair, __NV_E4M3)));
    to[2 * k] = two.x, to[2 * k + 1] = two.y;
  }
}

/// Count numbers from or to memory that begins on 16 bytes, as whole 16 bytes.
template <int Count>
__device__ void load_lanes(const float* from, float (&to)[Count]) {
#pragma unroll
  for (int k = 0; k < Count; k += 4) {
    const float4 v = *reinterpret_cast<const float4*>(from + k);
    to[k] = v.x, to[k + 1] = v.y, to[k + 2] = v.z, to[k + 3] = v.w;
  }
}
template <int Count>
__device__ void load_lanes(const double* from, double (&to)[Count]) {
#pragma unroll
  for (int k = 0; k < Count; k += 2) {
    const double2 v = *reinterpret_cast<const double2*>(from + k);
    to[k] = v.x, to[k + 1] = v.y;
  }
}
template <int Count>
__device__ void store_lanes(const float (&from)[Count], float* to) {
#pragma unroll
  for (int k = 0; k < Count; k += 4)
    *reinterpret_cast<float4*>(to + k) = make_float4(from[k], from[k + 1], from[k + 2], from[k + 3]);
}
template <int Count>
__device__ void store_lanes(const double (&from)[Count], double* to) {
#pragma unroll
  for (int k = 0; k < Count; k += 2) *reinterpret_cast<double2*>(to + k) = make_double2(from[k], from[k + 1]);
}

/// A thread's share of a vector: its columns of every piece, which nobody else reads. Neighbours' 16 bytes
/// stand side by side, so that all banks of shared memory are at work.
template <class S, class T>
struct own_columns {
  static constexpr int lanes = lane_columns<S>, whole = lane_columns<T>;
  T* at;  // of this thread

  __device__ own_columns(T* all) : at(all + threadIdx.x % threads * whole) {}
  /// Where the S are as wide as the T: all of a piece.
  __device__ T* piece(int p) const { return at + p * piece_columns<S>; }
  __device__ void load(int p, T (&to)[lanes]) const {
#pragma unroll
    for (int k = 0; k < lanes; k += whole) {
      T some[whole];
      load_lanes(piece(p) + k * threads, some);
#pragma unroll
      for (int l = 0; l < whole; ++l) to[k + l] = some[l];
    }
  }
  __device__ void store(int p, const T (&from)[lanes]) const {
#pragma unroll
    for (int k = 0; k < lanes; k += whole) {
      T some[whole];
#pragma unroll
      for (int l = 0; l < whole; ++l) some[l] = from[k + l];
      store_lanes(some, piece(p) + k * threads);
    }
  }
};

/// Where in the ring a walk stands, and in which turn.
struct ring_place {
  int slot = 0;
  unsigned turn = 0;  // its parity

  __device__ void next(int stages) {
    if (++slot < stages) return;
    slot = 0;
    turn ^= 1;
  }
};

/// The stages and their barriers, in shared memory.
class stage_ring {
 public:
  static constexpr std::size_t align = 128;

  __host__ __device__ static std::size_t bytes(int stages, int stage_bytes) {
    return barrier_bytes(stages) + static_cast<std::size_t>(stages) * static_cast<std::size_t>(stage_bytes);
  }

  __device__ stage_ring(char* memory, int stages, int stage_bytes)
      : full_(reinterpret_cast<std::uint64_t*>(memory)),
        empty_(full_ + stages),
        stage_(memory + barrier_bytes(stages)),
        stage_bytes_(stage_bytes),
        stages_(stages) {}

  /// One thread, before a barrier of the block.
  __device__ void init() const {
    for (int s = 0; s < stages_; ++s) {
      mbarrier_init(full_ + s, 1);
      mbarrier_init(empty_ + s, warps);
    }
    mbarrier_init_fence();
  }

  __device__ int stages() const { return stages_; }
  __device__ std::uint64_t* full(int slot) const { return full_ + slot; }
  __device__ char* data(int slot) const { return stage_ + slot * stage_bytes_; }

  /// Whether all have read what was in the slot; the turn before the first counts as read.
  __device__ bool is_free(const ring_place& at) const {
    return mbarrier_test_wait(empty_ + at.slot, at.turn ^ 1);
  }
  /// The filling thread announces what comes into a free slot, after it has ordered it.
  __device__ void claim(const ring_place& at, unsigned bytes) const {
    mbarrier_arrive_expect_tx(full_ + at.slot, bytes);
  }
  __device__ void copy(int slot, int offset, const void* from, unsigned bytes, std::uint64_t policy) const {
    bulk_load(data(slot) + offset, from, bytes, full_ + slot, policy);
  }
  /// Waits for the slot to be full.
  __device__ void wait(const ring_place& at) const { mbarrier_wait(full_ + at.slot, at.turn); }
  /// The calling warp has read it.
  __device__ void release(int slot) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(empty_ + slot);
  }

 private:
  __host__ __device__ static std::size_t barrier_bytes(int stages) {
    return (2 * static_cast<std::size_t>(stages) * sizeof(std::uint64_t) + align - 1) / align * align;
  }

  std::uint64_t* full_;
  std::uint64_t* empty_;
  char* stage_;
  int stage_bytes_;
  int stages_;
};

/// The filling thread's work: stages come in as slots become free, until `ended` is set; then it waits for
/// those on their way. `enough` stages are all that there are; negative: they go round and round. Filler has
/// at and fill(ring), which brings the next stage.
template <class Filler>
__device__ void keep_filling(const stage_ring& ring, Filler& filler, std::int64_t enough,
                             const volatile int& ended) {
  std::int64_t filled = 0;
  for (; filled != enough; ++filled) {
    bool over = false;
    while (!ring.is_free(filler.at) && !over) over = ended != 0;
    if (over) break;
    filler.fill(ring);
    filler.at.next(ring.stages());
  }
  for (std::int64_t k = max(std::int64_t{0}, filled - ring.stages()); k < filled; ++k)
    ring.wait({static_cast<int>(k % ring.stages()), static_cast<unsigned>(k / ring.stages()) & 1});
}

/// Sums over the warp of Count values a lane: lane l gets the sum of value l / (32 / Count).
template <int Count, class V>
__device__ V sum_over_warp(const V (&values)[Count]) {
  V v[Count];
#pragma unroll
  for (int i = 0; i < Count; ++i) v[i] = values[i];
  int distance = 16;
#pragma unroll
  for (int half = Count / 2; half > 0; half /= 2, distance /= 2) {
    const bool upper = (static_cast<int>(threadIdx.x) & distance) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const V keep = upper ? v[i + half] : v[i], give = upper ? v[i] : v[i + half];
      v[i] = keep + __shfl_xor_sync(everyone, give, distance);
    }
  }
  for (; distance > 0; distance /= 2) v[0] += __shfl_xor_sync(everyone, v[0], distance);
  return v[0];
}

__device__ inline double sum_over_warp(double v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(everyone, v, d);
  return v;
}
__device__ inline double largest_of_warp(double v) {
  for (int d = 16; d > 0; d /= 2) v = fmax(v, __shfl_xor_sync(everyone, v, d));
  return v;
}

/// The next `bytes` bytes of a block's dynamic shared memory.
template <class Piece>
__device__ Piece* carve(char*& free, std::int64_t count) {
  auto* piece = reinterpret_cast<Piece*>(free);
  free += (static_cast<std::size_t>(count) * sizeof(Piece) + 15) / 16 * 16;
  return piece;
}
template <class Piece>
__host__ __device__ std::size_t carved_bytes(std::int64_t count) {
  return (static_cast<std::size_t>(count) * sizeof(Piece) + 15) / 16 * 16;
}

}  // namespace vouch::stream
