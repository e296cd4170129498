// Lanczos's recurrence for a stencil with a unit diagonal on a GPU, two kernels a step and nobody waits: every block adds
// the parts of an inner product, in the same order, before it needs it. Bound by memory, on coarse levels by launches.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/amg/stencil_product.cuh>
#include <vouch/solve/precond/amg/stencil_product.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>

namespace vouch::multigrid {
namespace {

constexpr unsigned block = 256;

struct lanczos_scalars {
  double norm[lanczos_steps + 1];  // of the vector that a step begins with
  double alpha[lanczos_steps];     // times its square
};

// The sum of a number a thread, in every thread.
__device__ double sum_of_block(double v) {
  __shared__ double parts[block / 32];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  double sum = 0;
  for (unsigned w = 0; w < block / 32; ++w) sum += parts[w];
  return sum;
}
__device__ double sum_of_parts(const double* parts) {
  double sum = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += block) sum += parts[k];
  return sum_of_block(sum);
}

__global__ void __launch_bounds__(block) begin_lanczos(int n, float* u, double* squares) {
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * block)) {
    u[i] = hashed_element<float>(lanczos_stream, i);
    sum += static_cast<double>(u[i]) * static_cast<double>(u[i]);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// w := A u and the parts of u w; the norm of u.
template <int count>
__global__ void __launch_bounds__(block)
    multiply_lanczos(__grid_constant__ const upper_diagonals U, int n, const float* u, float* w,
                     const double* squares, double* products, lanczos_scalars* s, std::int64_t step) {
  const double square = sum_of_parts(squares);
  if (blockIdx.x == 0 && threadIdx.x == 0) s->norm[step] = std::sqrt(square);
  if (products == nullptr) return;
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * block)) {
    w[i] = row_product<count>(U, n, u, i);
    sum += static_cast<double>(u[i]) * static_cast<double>(w[i]);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) products[blockIdx.x] = sum;
}

// previous := the next vector, and the parts of its square.
__global__ void __launch_bounds__(block)
    advance_lanczos(int n, const float* u, const float* w, float* previous, const double* products,
                    double* squares, lanczos_scalars* s, std::int64_t step) {
  const double product = sum_of_parts(products), norm = s->norm[step];
  if (blockIdx.x == 0 && threadIdx.x == 0) s->alpha[step] = product;
  const auto keep = static_cast<float>(-product / (norm * norm * norm)), by = static_cast<float>(1 / norm),
             momentum = static_cast<float>(step == 0 ? 0.0 : -norm / s->norm[step - 1]);
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * block)) {
    const float before = step == 0 ? 0.0F : momentum * previous[i];
    const float next = keep * u[i] + before + by * w[i];
    previous[i] = next;
    sum += static_cast<double>(next) * static_cast<double>(next);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace

double largest_ritz_value_cuda(const device& dev, const step_values<float>& upper) {
  const std::int64_t n = upper.grid.points(), steps = std::min(lanczos_steps, n);
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div<std::int64_t>(n, block), 4 * dev.processors());
  const upper_diagonals U = diagonals_of(steps_of(upper));
  const int rows = static_cast<int>(n);
  array<float> one(dev, n), other(dev, n), w(dev, n);
  array<double> squares(dev, blocks), products(dev, blocks);
  auto scalars = array<lanczos_scalars>::zeros(dev, 1);
  float *u = one.data(), *previous = other.data();
  const launch_shape shape{blocks, block};
  const auto multiply = with_count(U, [](auto count) { return multiply_lanczos<count>; });
  launch(dev, "begin_lanczos", shape, begin_lanczos, rows, u, squares.data());
  for (std::int64_t k = 0; k < steps; ++k) {
    launch(dev, "multiply_lanczos", shape, multiply, U, rows, u, w.data(), squares.data(), products.data(),
           scalars.data(), k);
    launch(dev, "advance_lanczos", shape, advance_lanczos, rows, u, w.data(), previous, products.data(),
           squares.data(), scalars.data(), k);
    std::swap(u, previous);
  }
  launch(dev, "multiply_lanczos", shape, multiply, U, rows, u, w.data(), squares.data(), nullptr,
         scalars.data(), steps);
  const lanczos_scalars found = scalars.to_vector().front();
  std::vector<double> alpha, beta;
  for (std::int64_t k = 0; k < steps && std::isfinite(found.norm[k]); ++k) {
    alpha.push_back(found.alpha[k] / (found.norm[k] * found.norm[k]));
    beta.push_back(found.norm[k + 1]);
    if (!(beta.back() > lanczos_invariant * std::abs(alpha.front()))) break;
  }
  return lanczos_safety * largest_eigenvalue(alpha, beta);
}

}  // namespace vouch::multigrid
