#include <algorithm>

#include <vouch/band/gpu/check_cuda.hpp>
#include <vouch/band/gpu/device_offsets.cuh>
#include <vouch/band/reduced_block.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

constexpr unsigned block = 128;
constexpr std::int64_t item_rows = 1024;

// Rows first to last - 1 of one system, looked at by one warp, or by one thread where systems lie side by side:
// neighbouring threads read neighbours in memory. Bound by memory.
struct item {
  std::int64_t index, system, first, last, rows;
  int lane, lanes;

  __device__ item(const batch_shape& shape, std::int64_t items_a_system, int lanes_an_item) {
    const std::int64_t thread = std::int64_t{blockIdx.x} * block + threadIdx.x;
    index = thread / lanes_an_item;
    lanes = lanes_an_item;
    lane = static_cast<int>(thread % lanes);
    // The systems run fastest, so that threads of one warp have neighbours.
    system = index % shape.systems;
    const std::int64_t part = index / shape.systems;
    rows = part < items_a_system ? shape.rows(system) : 0;
    first = part * item_rows;
    last = first + item_rows < rows ? first + item_rows : rows;
  }
};

std::int64_t items_a_system(const batch_shape& shape) { return ceil_div(shape.n, item_rows); }
int lanes_an_item(const batch_shape& shape) {
  return shape.offsets == nullptr && shape.system_stride == 1 && shape.systems > 1 ? 1 : 32;
}
launch_shape shape_of(const batch_shape& shape) {
  return {ceil_div<std::int64_t>(shape.systems * items_a_system(shape) * lanes_an_item(shape), block), block};
}

// Sums of squares that neither over- nor underflow: large, usual and tiny numbers apart.
struct square_sums {
  double large = 0, usual = 0, tiny = 0;

  __device__ void add(double v) {
    const double size = fabs(v);
    if (size > 0x1p500)
      large += v * 0x1p-600 * (v * 0x1p-600);
    else if (size < 0x1p-500)
      tiny += v * 0x1p600 * (v * 0x1p600);
    else
      usual += v * v;  // NaN goes here
  }
  __device__ void join(int lanes) {
    for (int d = lanes / 2; d > 0; d /= 2) {
      large += __shfl_down_sync(~0u, large, static_cast<unsigned>(d));
      usual += __shfl_down_sync(~0u, usual, static_cast<unsigned>(d));
      tiny += __shfl_down_sync(~0u, tiny, static_cast<unsigned>(d));
    }
  }
  scaled_norm norm() const {
    scaled_norm all{0x1p600, large};
    all.add({1, usual});
    all.add({0x1p-600, tiny});
    return all;
  }
};

struct item_residual {
  square_sums residual, rhs;
  double residual_inf = 0, matrix_inf = 0, x_inf = 0, rhs_inf = 0;
};

__device__ void join_worst(double& v, int lanes) {
  for (int d = lanes / 2; d > 0; d /= 2) v = worse(__shfl_down_sync(~0u, v, static_cast<unsigned>(d)), v);
}

template <real T>
__global__ void __launch_bounds__(block)
    residual_items(tridiagonal_view<const T> A, batch_view<const T> b, batch_view<const T> x, T* r,
                   std::int64_t items, int lanes, item_residual* found) {
  const item of(b.shape, items, lanes);
  item_residual here;
  for (std::int64_t i = of.first + of.lane; i < of.last; i += of.lanes) {
    const residual_row row = residual_at(A, b, x, of.system, i, of.rows);
    if (r != nullptr) r[x.shape.at(of.system, i)] = static_cast<T>(row.residual);
    here.residual.add(row.residual);
    here.rhs.add(row.rhs);
    here.residual_inf = worse(fabs(row.residual), here.residual_inf);
    here.matrix_inf = worse(row.matrix, here.matrix_inf);
    here.x_inf = worse(row.x, here.x_inf);
    here.rhs_inf = worse(row.rhs, here.rhs_inf);
  }
  here.residual.join(lanes);
  here.rhs.join(lanes);
  join_worst(here.residual_inf, lanes);
  join_worst(here.matrix_inf, lanes);
  join_worst(here.x_inf, lanes);
  join_worst(here.rhs_inf, lanes);
  if (of.lane == 0 && of.index < items * b.shape.systems) found[of.index] = here;
}

template <real T>
__global__ void __launch_bounds__(block)
    examine_items(tridiagonal_view<const T> A, std::int64_t items, int lanes, matrix_facts* found) {
  const item of(A.shape, items, lanes);
  matrix_facts here;
  for (std::int64_t i = of.first + of.lane; i < of.last; i += of.lanes)
    here.add(facts_of_row(A, of.system, i, of.rows));
  for (int d = lanes / 2; d > 0; d /= 2) {
    const auto step = static_cast<unsigned>(d);
    matrix_facts other;
    other.symmetric = __shfl_down_sync(~0u, here.symmetric, step);
    other.positive = __shfl_down_sync(~0u, here.positive, step);
    other.dominance = __shfl_down_sync(~0u, here.dominance, step);
    other.column_dominance = __shfl_down_sync(~0u, here.column_dominance, step);
    other.largest = __shfl_down_sync(~0u, here.largest, step);
    other.weakest = __shfl_down_sync(~0u, here.weakest, step);
    other.bad = __shfl_down_sync(~0u, here.bad, step);
    here.add(other);
  }
  if (of.lane == 0 && of.index < items * A.shape.systems) found[of.index] = here;
}

template <real T>
__global__ void __launch_bounds__(block)
    add_to(batch_view<T> x, const T* dx, const unsigned char* those, std::int64_t items, int lanes) {
  const item of(x.shape, items, lanes);
  if (of.first >= of.last || those[of.system] == 0) return;
  for (std::int64_t i = of.first + of.lane; i < of.last; i += of.lanes)
    x(of.system, i) = dx != nullptr ? x(of.system, i) + dx[x.shape.at(of.system, i)] : T{0};
}

__global__ void __launch_bounds__(block)
    round_rows(tridiagonal_view<const double> A, batch_view<const double> b, tridiagonal_view<float> to,
               float* f, std::int64_t items, int lanes) {
  const item of(b.shape, items, lanes);
  for (std::int64_t i = of.first + of.lane; i < of.last; i += of.lanes) {
    const std::int64_t from = A.shape.at(of.system, i), at = to.shape.at(of.system, i);
    const double a = i > 0 || A.periodic ? A.dl[from] : 0, d = A.d[from],
                 c = i + 1 < of.rows || A.periodic ? A.du[from] : 0;
    const double power = balancing_power_of(fmax(fabs(a), fmax(fabs(d), fabs(c))));
    f[at] = static_cast<float>(b(of.system, i) * power);
    if (to.dl == nullptr) continue;
    to.dl[at] = static_cast<float>(a * power);
    to.d[at] = static_cast<float>(d * power);
    to.du[at] = static_cast<float>(c * power);
  }
}

__global__ void __launch_bounds__(block)
    widen(batch_view<const float> from, batch_view<double> to, std::int64_t items, int lanes) {
  const item of(to.shape, items, lanes);
  for (std::int64_t i = of.first + of.lane; i < of.last; i += of.lanes) to(of.system, i) = from(of.system, i);
}

}  // namespace

template <real T>
void band_residual_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                        const batch_view<const T>& x, T* r, band_residual_facts* facts) {
  const std::int64_t systems = b.shape.systems, items = items_a_system(b.shape);
  for (std::int64_t s = 0; s < systems; ++s) facts[s] = {};
  if (items * systems == 0) return;
  const device_offsets offsets(dev, systems);
  array<item_residual> found(dev, items * systems);
  const int lanes = lanes_an_item(b.shape);
  launch(dev, "residual_items", shape_of(b.shape), residual_items<T>, offsets.of(A), offsets.of(b),
         offsets.of(x), r, items, lanes, found.data());
  const std::vector<item_residual> all = found.to_vector();
  for (std::int64_t k = 0; k < items * systems; ++k) {
    const item_residual& here = all[static_cast<std::size_t>(k)];
    facts[k % systems].add(
        {here.residual.norm(), here.rhs.norm(), here.residual_inf, here.matrix_inf, here.x_inf, here.rhs_inf});
  }
}

template <real T>
std::vector<matrix_facts> examine_cuda(const device& dev, const tridiagonal_view<const T>& A) {
  tridiagonal_view<const T> stored = A;
  if (A.shape.offsets == nullptr && A.shape.system_stride == 0)
    stored.shape.systems = std::min<std::int64_t>(A.shape.systems, 1);
  const std::int64_t systems = stored.shape.systems, items = items_a_system(stored.shape);
  std::vector<matrix_facts> facts(static_cast<std::size_t>(systems));
  if (items * systems == 0) return facts;
  const device_offsets offsets(dev, systems);
  array<matrix_facts> found(dev, items * systems);
  launch(dev, "examine_items", shape_of(stored.shape), examine_items<T>, offsets.of(stored), items,
         lanes_an_item(stored.shape), found.data());
  const std::vector<matrix_facts> all = found.to_vector();
  for (std::int64_t k = 0; k < items * systems; ++k)
    facts[static_cast<std::size_t>(k % systems)].add(all[static_cast<std::size_t>(k)]);
  return facts;
}

template <real T>
void add_correction_cuda(const device& dev, const batch_view<T>& x, const T* dx,
                         const std::vector<unsigned char>& those) {
  if (x.shape.n == 0 || those.empty()) return;
  const device_offsets offsets(dev, x.shape.systems);
  const auto on_gpu = array<unsigned char>::from(dev, those);
  launch(dev, "add_to", shape_of(x.shape), add_to<T>, offsets.of(x), dx, on_gpu.data(), items_a_system(x.shape),
         lanes_an_item(x.shape));
  dev.synchronize();  // what was copied goes with this call
}

void round_rows_cuda(const device& dev, const tridiagonal_view<const double>& A,
                     const batch_view<const double>& b, const tridiagonal_view<float>& to, float* f) {
  const device_offsets offsets(dev, b.shape.systems);
  launch(dev, "round_rows", shape_of(b.shape), round_rows, offsets.of(A), offsets.of(b), offsets.of(to), f,
         items_a_system(b.shape), lanes_an_item(b.shape));
  dev.synchronize();
}

void widen_cuda(const device& dev, const batch_view<const float>& from, const batch_view<double>& to) {
  const device_offsets offsets(dev, to.shape.systems);
  launch(dev, "widen", shape_of(to.shape), widen, offsets.of(from), offsets.of(to), items_a_system(to.shape),
         lanes_an_item(to.shape));
  dev.synchronize();
}

template void band_residual_cuda(const device&, const tridiagonal_view<const float>&,
                                 const batch_view<const float>&, const batch_view<const float>&, float*,
                                 band_residual_facts*);
template void band_residual_cuda(const device&, const tridiagonal_view<const double>&,
                                 const batch_view<const double>&, const batch_view<const double>&, double*,
                                 band_residual_facts*);
template std::vector<matrix_facts> examine_cuda(const device&, const tridiagonal_view<const float>&);
template std::vector<matrix_facts> examine_cuda(const device&, const tridiagonal_view<const double>&);
template void add_correction_cuda(const device&, const batch_view<float>&, const float*,
                                  const std::vector<unsigned char>&);
template void add_correction_cuda(const device&, const batch_view<double>&, const double*,
                                  const std::vector<unsigned char>&);

}  // namespace vouch::detail
