// vouch/solve/krylov/resident.cuh -- what kernels share that keep a small system on the chip: the matrix as a plan lays it
// out over their blocks, its rows, sums and halos; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>
#include <vouch/core/gpu/cluster.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/krylov/cg_resident_plan.hpp>

namespace vouch::resident {

inline constexpr int max_cluster = 16;
inline constexpr unsigned all_lanes = ~0u;

/// A plan on the GPU.
template <class T>
struct placed_rows {
  resident_strides stride;
  int blocks;
  const resident_block* block;
  const T* val;
  const std::uint16_t* col;
  const std::uint32_t* slice;
  const std::int32_t* row;
  const std::uint16_t* push;
  const resident_task* task;
};

template <class Piece>
__device__ void bring_in(Piece* to, const Piece* from, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) to[i] = from[i];
}

// Sums over lanes that differ in a bit of [From, 32); every lane gets the sum.
template <int From>
__device__ double sum_across(double v) {
#pragma unroll
  for (int d = From; d < 32; d *= 2) v += __shfl_xor_sync(all_lanes, v, d);
  return v;
}

// Column sums of a table of `count` rows of Width doubles, by one warp: lane l gets column l % Width. AtOnce
// loads are under way before the first is added.
template <int Width, int AtOnce, class Load>
__device__ double sum_table(int count, Load load) {
  double sum = 0;
  for (int first = static_cast<int>(threadIdx.x % 32); first < count * Width; first += 32 * AtOnce) {
    double value[AtOnce];
#pragma unroll
    for (int m = 0; m < AtOnce; ++m) value[m] = first + 32 * m < count * Width ? load(first + 32 * m) : 0.0;
#pragma unroll
    for (int m = 0; m < AtOnce; ++m) sum += value[m];
  }
  return sum_across<Width>(sum);
}

// The dot product of a row's share of one lane: `count` entries, 32 apart.
template <class T>
__device__ T lane_product(const T* val, const std::uint16_t* col, const T* p, unsigned count) {
  T s0{}, s1{}, s2{}, s3{};
  for (; count >= 4; count -= 4, val += 128, col += 128) {
    const T v0 = val[0], v1 = val[32], v2 = val[64], v3 = val[96];
    const T p0 = p[col[0]], p1 = p[col[32]], p2 = p[col[64]], p3 = p[col[96]];
    s0 += v0 * p0;
    s1 += v1 * p1;
    s2 += v2 * p2;
    s3 += v3 * p3;
  }
  if (count > 0) s0 += val[0] * p[col[0]];
  if (count > 1) s1 += val[32] * p[col[32]];
  if (count > 2) s2 += val[64] * p[col[64]];
  return (s0 + s1) + (s2 + s3);
}

// Into `to` of every block that holds a row of this one as halo, what stands at `from` for it, by warps `first` and above;
// a warp sends up to 32 neighbours at once, the last warps begin.
template <class T>
__device__ void send_halo(const resident_task* tasks, int count, const std::uint16_t* push, const T* from,
                          T* to, std::uint64_t* arrival, int first = 0) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  for (int t = warps - 1 - warp; t < count; t += warps - first) {
    const resident_task task = tasks[t];
    if (lane < task.count)
      cluster_store_async(cluster_address(to + task.slot + lane, task.block), from[push[task.first + lane]],
                          cluster_address(arrival, task.block));
  }
}

/// The arrays of a plan.
template <class T>
class placed_plan {
 public:
  placed_plan(const device& dev, const resident_plan<T>& plan)
      : stride_(plan.stride),
        blocks_(plan.shape.blocks),
        block_(send(dev, plan.block)),
        val_(send(dev, plan.val)),
        col_(send(dev, plan.col)),
        slice_(send(dev, plan.slice)),
        row_(send(dev, plan.row)),
        push_(send(dev, plan.push)),
        task_(send(dev, plan.task)) {}

  placed_rows<T> rows() const {
    return {stride_,       blocks_,     block_.data(), val_.data(), col_.data(),
            slice_.data(), row_.data(), push_.data(),  task_.data()};
  }

 private:
  template <class Piece>
  static array<Piece> send(const device& dev, const std::vector<Piece>& pieces) {
    return array<Piece>::from(dev, pieces);
  }

  resident_strides stride_;
  int blocks_;
  array<resident_block> block_;
  array<T> val_;
  array<std::uint16_t> col_;
  array<std::uint32_t> slice_;
  array<std::int32_t> row_;
  array<std::uint16_t> push_;
  array<resident_task> task_;
};

inline launch_shape launch_shape_of(const resident_shape& shape, std::size_t shared_bytes) {
  return {shape.blocks, static_cast<unsigned>(shape.threads), shared_bytes,
          shape.cluster ? static_cast<unsigned>(shape.blocks) : 1, !shape.cluster};
}

/// Whether the GPU can hold all blocks of this kernel at once; sets the kernel up for its shared memory.
inline bool fits(const device& dev, const void* kernel, const resident_shape& shape, std::size_t shared_bytes) {
  cudaFuncAttributes facts{};
  check(cudaFuncGetAttributes(&facts, kernel), "resident kernel");
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev.index()), "resident kernel");
  if (shared_bytes + facts.sharedSizeBytes > static_cast<std::size_t>(most)) return false;
  check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
      "resident kernel");
  if (!shape.cluster) return true;
  if (!runs_sm90_code(dev)) return false;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "resident kernel");
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(shape.blocks);
  config.blockDim = static_cast<unsigned>(shape.threads);
  config.dynamicSmemBytes = shared_bytes;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {config.gridDim.x, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  return cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess && clusters > 0;
}

}  // namespace vouch::resident
