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

// What is summed: with one vector u, or with u and v, of a real product; the same of complex ones. The registers of the
// product's kernel do not suffice for all at once.
enum class summed { one, two, complex_one, complex_two };

constexpr int count_of(summed kind) {
  return kind == summed::one           ? 3
         : kind == summed::complex_one ? 4
         : kind == summed::two         ? 5
                                       : product_sums::count;
}
constexpr bool is_complex(summed kind) { return kind == summed::complex_one || kind == summed::complex_two; }
constexpr bool has_two(summed kind) { return kind == summed::two || kind == summed::complex_two; }

// What a row needs; `other` is the other part of a complex number.
template <class T>
struct product_row {
  T w, diagonal, u, v, other_u, other_v;
};

template <class T, summed Kind>
struct fused_epilogue {
  using state = sums<count_of(Kind)>;
  using operands = product_row<T>;
  product_pass<T> pass;
  double* parts;
  unsigned* ticket;
  sum_message message;

  __device__ operands fetch(std::int64_t i) const {
    operands o{};
    if (pass.w != nullptr) o.w = pass.w[i];
    if (pass.diagonal != nullptr) o.diagonal = pass.diagonal[i];
    if (pass.u != nullptr) o.u = pass.u[i];
    if constexpr (has_two(Kind))
      if (pass.v != nullptr) o.v = pass.v[i];
    if constexpr (is_complex(Kind))
      if (pass.u != nullptr) o.other_u = pass.u[i ^ 1];
    if constexpr (Kind == summed::complex_two)
      if (pass.v != nullptr) o.other_v = pass.v[i ^ 1];
    return o;
  }

  __device__ void row(state& s, std::int64_t i, T sum, const operands& o) const {
    T y = pass.a * sum;
    double size;
    if (pass.diagonal != nullptr) {
      y = o.diagonal * (o.diagonal * y);
      if (pass.w != nullptr) y += pass.b * o.w;
      size = static_cast<double>(y / o.diagonal);
    } else {
      if (pass.w != nullptr) y += pass.b * o.w;
      size = y;
    }
    pass.y[i] = y;
    const double yi = y, ui = o.u, vi = o.v;
    // Of an imaginary part of y, of a real one.
    const double even = is_complex(Kind) && i % 2 == 0 ? -1 : 1;
    const double alike = is_complex(Kind) && pass.transposed ? -even : 1, crossed = pass.transposed ? 1 : even;
    s.value[0] += size * size;
    s.value[1] += alike * ui * yi;
    if constexpr (has_two(Kind)) {
      s.value[2] += alike * vi * yi;
      s.value[3] += ui * vi;
      s.value[4] += vi * vi;
    } else {
      s.value[2] += ui * ui;
    }
    if constexpr (Kind == summed::complex_one) s.value[3] += crossed * static_cast<double>(o.other_u) * yi;
    if constexpr (Kind == summed::complex_two) {
      s.value[5] += crossed * static_cast<double>(o.other_u) * yi;
      s.value[6] += crossed * static_cast<double>(o.other_v) * yi;
      s.value[7] += even * static_cast<double>(o.other_u) * vi;
    }
  }

  __device__ void finish(const state& s) const {
    grid_sum(s, parts, ticket, [&](const state& all) {
      for (int k = 0; k < count_of(Kind); ++k) message.value[k] = all.value[k];
      post(message);
    });
  }
};

// Where y holds A x by now; each thread takes every (grid)-th element. Bound by memory.
template <class T, summed Kind>
__global__ void __launch_bounds__(block) finish_product(std::int64_t n, fused_epilogue<T, Kind> epilogue) {
  typename fused_epilogue<T, Kind>::state s{};
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    epilogue.row(s, i, epilogue.pass.y[i], epilogue.fetch(i));
  epilogue.finish(s);
}

template <summed Kind, class T>
product_sums multiply(const device& dev, const spmv_plan<T>* plan, std::int64_t rows,
                      const product_pass<T>& pass, sum_room& room) {
  constexpr std::int64_t most_blocks = 1056;
  const std::int64_t blocks =
      plan != nullptr ? spmv_blocks(*plan)
                      : std::clamp<std::int64_t>(ceil_div<std::int64_t>(rows, block), 1, most_blocks);
  const fused_epilogue<T, Kind> epilogue{pass, room.parts(blocks * count_of(Kind)), room.ticket(),
                                         room.message()};
  if (plan != nullptr)
    launch_spmv(dev, *plan, pass.x, epilogue);
  else
    launch(dev, "finish_product", {blocks, block}, finish_product<T, Kind>, rows, epilogue);
  wait_for_sums_cuda(dev, epilogue.message);
  const double* const r = room.received();
  if constexpr (Kind == summed::one)
    return {.yy = r[0], .uy = r[1], .vy = r[1], .uv = r[2], .vv = r[2]};
  else if constexpr (Kind == summed::complex_one)
    return {r[0], r[1], r[1], r[2], r[2], r[3], r[3], 0};
  else if constexpr (Kind == summed::two)
    return {r[0], r[1], r[2], r[3], r[4]};
  else
    return {r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]};
}

}  // namespace

template <real T>
product_sums multiply_fused_cuda(const device& dev, const spmv_plan<T>* plan, std::int64_t rows,
                                 const product_pass<T>& pass, bool is_complex, sum_room& room) {
  const bool one = pass.v == nullptr || pass.v == pass.u;
  if (is_complex && one) return multiply<summed::complex_one>(dev, plan, rows, pass, room);
  if (is_complex) return multiply<summed::complex_two>(dev, plan, rows, pass, room);
  if (one) return multiply<summed::one>(dev, plan, rows, pass, room);
  return multiply<summed::two>(dev, plan, rows, pass, room);
}

template product_sums multiply_fused_cuda(const device&, const spmv_plan<float>*, std::int64_t,
                                          const product_pass<float>&, bool, sum_room&);
template product_sums multiply_fused_cuda(const device&, const spmv_plan<double>*, std::int64_t,
                                          const product_pass<double>&, bool, sum_room&);

}  // namespace vouch
