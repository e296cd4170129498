// Products of the rows of two matrices, and sums of Gaussians of their distances, tile by tile. A block takes 64
// prints and 128 rows of a matrix at a time; each of its 256 threads keeps 4 x 8 sums. Bound by the FP32 units: two
// instructions for each of a prototype's numbers.
#include <algorithm>
#include <array>
#include <cfloat>
#include <vector>

#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/core/types.hpp>
#include <vouch/fingerprint/gpu_networks.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint::gpu {
namespace {

constexpr int threads = 256, tile_prints = 64, tile_rows = 128, tile_depth = row_unit;
constexpr int own_prints = 4, own_rows = 8, rows_across = 16;  // threads side by side along the rows

// Both operands with their depth first, so that a thread reads neighbours at once.
struct tile_memory {
  float prints[tile_depth][tile_prints + 4];
  float rows[tile_depth][tile_rows + 4];
};

struct operand {
  const float* values;  // of the tile's first row
  std::int64_t stride;
  int count;  // rows that are there
};

struct product {
  __device__ static void add(float a, float b, float& sum) { sum += a * b; }
};
struct squared_difference {
  __device__ static void add(float a, float b, float& sum) { sum += (a - b) * (a - b); }
};

__device__ float4 four_of_row(const operand& of, int row, int column) {
  if (row >= of.count) return float4{0, 0, 0, 0};
  return *reinterpret_cast<const float4*>(of.values + row * of.stride + column);
}

// The row within the tile of a thread's b-th sum.
__device__ int row_of(int b) { return b / 4 * 64 + static_cast<int>(threadIdx.x) % rows_across * 4 + b % 4; }
__device__ int print_of(int a) { return static_cast<int>(threadIdx.x) / rows_across * own_prints + a; }

// sums[a][b] of print_of(a) and row_of(b), over the columns, in their order.
template <class Term>
__device__ void accumulate(const operand& prints, const operand& rows, int depth, tile_memory& shared,
                           float (&sums)[own_prints][own_rows]) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int first = 0; first < depth; first += tile_depth) {
    __syncthreads();  // everybody has used what stands there
    {
      const int row = thread % tile_prints, column = thread / tile_prints * 4;
      const float4 v = four_of_row(prints, row, first + column);
      shared.prints[column][row] = v.x;
      shared.prints[column + 1][row] = v.y;
      shared.prints[column + 2][row] = v.z;
      shared.prints[column + 3][row] = v.w;
    }
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int row = thread % tile_rows, column = (thread / tile_rows + 2 * part) * 4;
      const float4 v = four_of_row(rows, row, first + column);
      shared.rows[column][row] = v.x;
      shared.rows[column + 1][row] = v.y;
      shared.rows[column + 2][row] = v.z;
      shared.rows[column + 3][row] = v.w;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < tile_depth; ++k) {
      const float4 p = *reinterpret_cast<const float4*>(&shared.prints[k][print_of(0)]);
      const float4 low = *reinterpret_cast<const float4*>(&shared.rows[k][row_of(0)]);
      const float4 high = *reinterpret_cast<const float4*>(&shared.rows[k][row_of(4)]);
      const float own[own_prints] = {p.x, p.y, p.z, p.w};
      const float other[own_rows] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int a = 0; a < own_prints; ++a)
#pragma unroll
        for (int b = 0; b < own_rows; ++b) Term::add(own[a], other[b], sums[a][b]);
    }
  }
}

// results[print][row] := prints * matrix^T, in a layer of a network the activation of that and a bias; zeros between
// the matrix's rows and the stride of the results.
__global__ void __launch_bounds__(threads, 2)
    form_layer(const float* prints, std::int64_t stride, std::int64_t n, const float* values, int rows,
               int columns, const float* bias, float* results, int result_stride) {
  __shared__ tile_memory shared;
  const int row_tiles = (result_stride + tile_rows - 1) / tile_rows;
  const std::int64_t first_print = std::int64_t{blockIdx.x} / row_tiles * tile_prints;
  const int first_row = static_cast<int>(blockIdx.x) % row_tiles * tile_rows;
  const operand left{prints + first_print * stride, stride,
                     static_cast<int>(min(std::int64_t{tile_prints}, n - first_print))};
  const operand right{values + std::int64_t{first_row} * columns, columns,
                      max(0, min(tile_rows, rows - first_row))};
  float sums[own_prints][own_rows] = {};
  accumulate<product>(left, right, columns, shared, sums);
#pragma unroll
  for (int a = 0; a < own_prints; ++a)
#pragma unroll
    for (int b = 0; b < own_rows; ++b) {
      const int row = first_row + row_of(b);
      if (print_of(a) >= left.count || row >= result_stride) continue;
      float value = sums[a][b];
      if (bias != nullptr) value = row < rows ? 0.5F * (1 + sinf(0.5F * (bias[row] + value))) : 0.0F;
      results[(first_print + print_of(a)) * result_stride + row] = value;
    }
}

// The sum of 2^(scale * (nearest - distance)) over some prototypes.
struct gaussian_sum {
  float nearest = FLT_MAX;
  float sum = 0;

  __device__ void bring_nearer(float distance, float scale) {
    if (!(distance < nearest)) return;
    sum *= exp2f(scale * (distance - nearest));
    nearest = distance;
  }
  __device__ void add(float distance, float scale) { sum += exp2f(scale * (nearest - distance)); }
};

// The same on both sides of a shuffle: the sum of two does not depend on their order.
__device__ gaussian_sum both(gaussian_sum a, gaussian_sum b, float scale) {
  gaussian_sum sum;
  sum.nearest = fminf(a.nearest, b.nearest);
  sum.sum = a.sum * exp2f(scale * (sum.nearest - a.nearest)) + b.sum * exp2f(scale * (sum.nearest - b.nearest));
  return sum;
}

// So many blocks share the prototypes of 64 prints. A number of its own: what a print gets does not depend on those
// beside it.
constexpr int chunks = 12;

// partial[(chunk * classes + class) * n + print] of the prototypes of a chunk.
__global__ void __launch_bounds__(threads, 3)
    sum_gaussians(const float* features, int stride, std::int64_t n, const float* prototypes,
                  const prototype_tile* tiles, int tile_count, float scale, gaussian_sum* partial) {
  __shared__ tile_memory shared;
  const int chunk = static_cast<int>(blockIdx.x % chunks);
  const std::int64_t first_print = std::int64_t{blockIdx.x / chunks} * tile_prints;
  const int count = static_cast<int>(min(std::int64_t{tile_prints}, n - first_print));
  const int begin = static_cast<int>(std::int64_t{tile_count} * chunk / chunks);
  const int end = static_cast<int>(std::int64_t{tile_count} * (chunk + 1) / chunks);
  gaussian_sum* const sums_of_chunk = partial + std::int64_t{chunk} * classes * n + first_print;
  for (int i = static_cast<int>(threadIdx.x); i < classes * tile_prints; i += threads)
    if (i % tile_prints < count) sums_of_chunk[i / tile_prints * n + i % tile_prints] = gaussian_sum();
  gaussian_sum own[own_prints];
  for (int t = begin; t < end; ++t) {
    const prototype_tile now = tiles[t];
    float distances[own_prints][own_rows] = {};
    accumulate<squared_difference>({features + first_print * stride, stride, count},
                                   {prototypes + std::int64_t{now.first} * stride, stride, now.count}, stride,
                                   shared, distances);
#pragma unroll
    for (int a = 0; a < own_prints; ++a) {
#pragma unroll
      for (int b = 0; b < own_rows; ++b)
        if (row_of(b) < now.count) own[a].bring_nearer(distances[a][b], scale);
#pragma unroll
      for (int b = 0; b < own_rows; ++b)
        if (row_of(b) < now.count) own[a].add(distances[a][b], scale);
    }
    if (t + 1 < end && tiles[t + 1].its_class == now.its_class) continue;
#pragma unroll
    for (int a = 0; a < own_prints; ++a) {
#pragma unroll
      for (int apart = rows_across / 2; apart > 0; apart /= 2) {
        gaussian_sum other;
        other.nearest = __shfl_xor_sync(0xffffffffU, own[a].nearest, apart);
        other.sum = __shfl_xor_sync(0xffffffffU, own[a].sum, apart);
        own[a] = both(own[a], other, scale);
      }
      if (threadIdx.x % rows_across == 0 && print_of(a) < count)
        sums_of_chunk[now.its_class * n + print_of(a)] = own[a];
      own[a] = gaussian_sum();
    }
  }
}

// One thread a print: shares of the classes in all sums, in double and in the order of the chunks.
__global__ void __launch_bounds__(threads)
    finish_shares(const gaussian_sum* partial, std::int64_t n, double scale, class_outputs* outputs) {
  const std::int64_t print = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (print >= n) return;
  float nearest = FLT_MAX;
  for (int i = 0; i < chunks * classes; ++i) nearest = fminf(nearest, partial[i * n + print].nearest);
  double sums[classes] = {}, total = 0;
#pragma unroll
  for (int c = 0; c < classes; ++c) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const gaussian_sum s = partial[(chunk * classes + c) * n + print];
      if (s.sum > 0)
        sums[c] += static_cast<double>(s.sum) *
                   exp2(scale * (static_cast<double>(nearest) - static_cast<double>(s.nearest)));
    }
    total += sums[c];
  }
#pragma unroll
  for (int c = 0; c < classes; ++c)
    reinterpret_cast<float*>(outputs + print)[c] = static_cast<float>(sums[c] / total);
}

std::int64_t tiles_of(std::int64_t n, int tile) { return ceil_div<std::int64_t>(n, tile); }

void layer(const device& dev, const char* name, std::int64_t n, const float* prints, const matrix& m,
           const float* bias, float* results, int result_stride) {
  const int stride = padded(m.columns);
  launch(dev, name, {tiles_of(n, tile_prints) * tiles_of(result_stride, tile_rows), threads}, form_layer,
         prints, stride, n, m.values.data(), m.rows, stride, bias, results, result_stride);
}

array<float> padded_rows(const device& dev, std::span<const float> values, std::size_t columns) {
  const auto stride = static_cast<std::size_t>(padded(static_cast<int>(columns)));
  if (stride == columns) return array<float>::from(dev, values);
  const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
  std::vector<float> rows_apart(rows * stride);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * columns), columns,
                rows_apart.begin() + static_cast<std::ptrdiff_t>(i * stride));
  return array<float>::from(dev, std::span<const float>(rows_apart));
}

// The numbers of all prototypes of one class, then those of the next.
std::vector<std::size_t> by_class(const pnn& source) {
  std::vector<std::size_t> order;
  for (int c = 0; c < classes; ++c)
    for (std::size_t i = 0; i < source.classes.size(); ++i)
      if (source.classes[i] == c) order.push_back(i);
  return order;
}

}  // namespace

matrix::matrix(const device& dev, const feature_matrix& m)
    : rows(m.rows),
      columns(m.columns),
      values(padded_rows(dev, m.values, static_cast<std::size_t>(m.columns))) {}

network::network(const device& dev, const mlp& source)
    : transform_(dev, source.transform),
      hidden_(dev, source.hidden),
      output_(dev, source.output),
      hidden_bias_(array<float>::from(dev, std::span<const float>(source.hidden_bias))),
      output_bias_(array<float>::from(dev, std::span<const float>(source.output_bias))) {}

network::network(const device& dev, const pnn& source)
    : transform_(dev, source.transform), smoothing_(source.smoothing) {
  const auto columns = static_cast<std::size_t>(source.prototypes.columns);
  feature_matrix sorted{source.prototypes.rows, source.prototypes.columns, {}};
  std::vector<prototype_tile> tiles;
  for (const std::size_t i : by_class(source)) {
    const auto first = source.prototypes.values.begin() + static_cast<std::ptrdiff_t>(i * columns);
    const auto at = static_cast<std::int32_t>(sorted.values.size() / columns);
    sorted.values.insert(sorted.values.end(), first, first + static_cast<std::ptrdiff_t>(columns));
    if (tiles.empty() || tiles.back().its_class != source.classes[i] || tiles.back().count == tile_rows)
      tiles.push_back({at, 0, source.classes[i]});
    ++tiles.back().count;
  }
  prototypes_ = matrix(dev, sorted);
  tiles_ = array<prototype_tile>::from(dev, std::span<const prototype_tile>(tiles));
}

void network::transform(const device& dev, std::int64_t n, const float* averages, float* features) const {
  layer(dev, "transform", n, averages, transform_, nullptr, features, feature_stride());
}

void network::evaluate(const device& dev, std::int64_t n, const float* features, class_outputs* outputs) const {
  return smoothing_ > 0 ? evaluate_pnn(dev, n, features, outputs) : evaluate_mlp(dev, n, features, outputs);
}

void network::evaluate_mlp(const device& dev, std::int64_t n, const float* features,
                           class_outputs* outputs) const {
  const int stride = padded(hidden_.rows);
  const scratch<float> hidden(dev, n * stride);
  layer(dev, "hidden layer", n, features, hidden_, hidden_bias_.data(), hidden.data(), stride);
  layer(dev, "output layer", n, hidden.data(), output_, output_bias_.data(), reinterpret_cast<float*>(outputs),
        classes);
}

void network::evaluate_pnn(const device& dev, std::int64_t n, const float* features,
                           class_outputs* outputs) const {
  constexpr double log2_e = 1.4426950408889634074;
  const double scale = static_cast<double>(smoothing_) * log2_e;
  const scratch<gaussian_sum> partial(dev, std::int64_t{chunks} * classes * n);
  launch(dev, "sum_gaussians", {tiles_of(n, tile_prints) * chunks, threads}, sum_gaussians, features,
         padded(prototypes_.columns), n, prototypes_.values.data(), tiles_.data(),
         static_cast<int>(tiles_.size()), static_cast<float>(scale), partial.data());
  launch(dev, "finish_shares", {tiles_of(n, threads), threads}, finish_shares, partial.data(), n, scale,
         outputs);
}

namespace {

template <class Network>
void evaluate_there(const device& dev, const Network& source, int inputs, std::span<const float> features,
                    std::span<class_outputs> outputs) {
  const auto n = static_cast<std::int64_t>(outputs.size());
  const network there(dev, source);
  const array<float> rows = padded_rows(dev, features, static_cast<std::size_t>(inputs));
  array<class_outputs> results(dev, n);
  there.evaluate(dev, n, rows.data(), results.data());
  copy_bytes(outputs.data(), device::cpu(1), results.data(), dev, outputs.size_bytes());
}

}  // namespace

void transform(const device& dev, const feature_matrix& m, std::span<const float> averages,
               std::span<float> features) {
  const auto n = static_cast<std::int64_t>(averages.size() / orientation_size);
  const matrix there(dev, m);
  const auto of_prints = array<float>::from(dev, averages);
  array<float> results(dev, static_cast<std::int64_t>(features.size()));
  layer(dev, "transform", n, of_prints.data(), there, nullptr, results.data(), m.rows);
  copy_bytes(features.data(), device::cpu(1), results.data(), dev, features.size_bytes());
}

void evaluate(const device& dev, const mlp& source, std::span<const float> features,
              std::span<class_outputs> outputs) {
  evaluate_there(dev, source, source.hidden.columns, features, outputs);
}

void evaluate(const device& dev, const pnn& source, std::span<const float> features,
              std::span<class_outputs> outputs) {
  evaluate_there(dev, source, source.prototypes.columns, features, outputs);
}

}  // namespace vouch::fingerprint::gpu
