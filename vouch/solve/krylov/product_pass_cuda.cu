#include <algorithm>

#include <vouch/core/launch.cuh>
#include <vouch/core/types.hpp>
#include <vouch/solve/krylov/grid_sum.cuh>
#include <vouch/solve/krylov/product_pass.hpp>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch {
namespace {

using namespace passes;
static_assert(block == spmv_threads);

// What a row needs; `other` is the other part of a complex number.
template <class T>
struct product_row {
  T w, diagonal, u, v, other_u, other_v;
};

template <class T>
__device__ product_row<T> fetch_row(const product_pass<T>& p, bool is_complex, std::int64_t i) {
  product_row<T> o{};
  if (p.w != nullptr) o.w = p.w[i];
  if (p.diagonal != nullptr) o.diagonal = p.diagonal[i];
  if (p.u != nullptr) o.u = p.u[i];
  if (p.v != nullptr) o.v = p.v[i];
  if (is_complex && p.u != nullptr) o.other_u = p.u[i ^ 1];
  if (is_complex && p.v != nullptr) o.other_v = p.v[i ^ 1];
  return o;
}

// The element of y; sums gets its part.
template <class T>
__device__ T finish_row(const product_pass<T>& p, bool is_complex, std::int64_t i, T sum,
                        const product_row<T>& o, product_sums& s) {
  T scaled = p.a * sum, y;
  double size;
  if (p.diagonal != nullptr) {
    scaled = o.diagonal * scaled;
    y = o.diagonal * scaled;
    if (p.w != nullptr) y += p.b * o.w;
    size = static_cast<double>(y) / static_cast<double>(o.diagonal);
  } else {
    y = scaled;
    if (p.w != nullptr) y += p.b * o.w;
    size = y;
  }
  const double yi = y, ui = o.u, vi = o.v;
  s.yy += size * size;
  s.uy += ui * yi;
  s.vy += vi * yi;
  s.uv += ui * vi;
  s.vv += vi * vi;
  if (is_complex) {
    const double sign = i % 2 == 0 ? -1 : 1;
    s.imaginary_uy += sign * static_cast<double>(o.other_u) * yi;
    s.imaginary_vy += sign * static_cast<double>(o.other_v) * yi;
    s.imaginary_uv += sign * static_cast<double>(o.other_u) * vi;
  }
  return y;
}

template <class T>
struct fused_epilogue {
  using state = product_sums;
  using operands = product_row<T>;
  product_pass<T> pass;
  bool is_complex;
  double* parts;
  unsigned* ticket;
  double* result;

  __device__ operands fetch(std::int64_t i) const { return fetch_row(pass, is_complex, i); }
  __device__ void row(state& s, std::int64_t i, T sum, const operands& o) const {
    pass.y[i] = finish_row(pass, is_complex, i, sum, o, s);
  }
  __device__ void finish(const state& s) const {
    const sums<product_sums::count> mine{
        {s.yy, s.uy, s.vy, s.uv, s.vv, s.imaginary_uy, s.imaginary_vy, s.imaginary_uv}};
    grid_sum(mine, parts, ticket, [&](const auto& all) {
      for (int k = 0; k < product_sums::count; ++k) result[k] = all.value[k];
    });
  }
};

// Where y holds A x by now; each thread takes every (grid)-th element. Bound by memory.
template <class T>
__global__ void __launch_bounds__(block) finish_product(std::int64_t n, fused_epilogue<T> epilogue) {
  product_sums s{};
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    epilogue.row(s, i, epilogue.pass.y[i], epilogue.fetch(i));
  epilogue.finish(s);
}

}  // namespace

template <real T>
product_sums multiply_fused_cuda(const device& dev, const spmv_plan<T>* plan, std::int64_t rows,
                                 const product_pass<T>& pass, bool is_complex, sum_room& room) {
  constexpr std::int64_t most_blocks = 2112;
  const std::int64_t blocks =
      plan != nullptr ? spmv_blocks(*plan)
                      : std::clamp<std::int64_t>(ceil_div<std::int64_t>(rows, block), 1, most_blocks);
  const fused_epilogue<T> epilogue{pass, is_complex, room.parts(blocks * product_sums::count), room.ticket(),
                                   room.result()};
  if (plan != nullptr)
    launch_spmv(dev, *plan, pass.x, epilogue);
  else
    launch(dev, "finish_product", {blocks, block}, finish_product<T>, rows, epilogue);
  dev.synchronize();
  const double* const r = room.result();
  return {r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]};
}

template product_sums multiply_fused_cuda(const device&, const spmv_plan<float>*, std::int64_t,
                                          const product_pass<float>&, bool, sum_room&);
template product_sums multiply_fused_cuda(const device&, const spmv_plan<double>*, std::int64_t,
                                          const product_pass<double>&, bool, sum_room&);

}  // namespace vouch
