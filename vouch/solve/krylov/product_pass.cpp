#include <vouch/solve/krylov/product_pass.hpp>

#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/solve/krylov/sum_pieces.hpp>
#include <vouch/solve/loop/lane_sums.hpp>
#include <vouch/solve/loop/plan_operator.hpp>

namespace vouch {
namespace {

constexpr std::int64_t block = 512;  // rows that stay in the first-level cache

// Lane by lane, of the rows of a piece.
template <real T>
struct lane_products {
  lanes<T> yy{}, uy{}, vy{}, uv{}, vv{}, crossed_uy{}, crossed_vy{}, crossed_uv{};
};

// Of rows i to i + n - 1, n at most `block`, where y holds A x; w is what w was.
template <real T>
VOUCH_SIMD_INLINE void finish_block(const product_pass<T>& p, const T* w, bool is_complex, std::int64_t i,
                                    std::int64_t n, lane_products<T>& s) {
  alignas(64) T sizes[block];
  T* __restrict__ const y = p.y + i;
  const T* size = y;
  if (p.diagonal != nullptr) {
    const T* const d = p.diagonal + i;
    for (std::int64_t k = 0; k < n; ++k) y[k] = d[k] * (d[k] * (p.a * y[k]));
  } else if (p.a != 1) {
    for (std::int64_t k = 0; k < n; ++k) y[k] *= p.a;
  }
  if (w != nullptr)
    for (std::int64_t k = 0; k < n; ++k) y[k] += p.b * w[k];
  if (p.diagonal != nullptr) {
    for (std::int64_t k = 0; k < n; ++k) sizes[k] = y[k] / p.diagonal[i + k];
    size = sizes;
  }
  const T* const u = p.u != nullptr ? p.u + i : nullptr;
  const T* const v = p.v != nullptr ? p.v + i : nullptr;
  if (u == nullptr && v == nullptr) return add_products<T>(size, size, n, s.yy);
  lanes<T> yy = s.yy, uy = s.uy, vy = s.vy, uv = s.uv, vv = s.vv;
  if (v == nullptr)
    lane_by_lane<T>(
        {size, y, u}, n, [&](const lanes<T>(&x)[3]) __attribute__((always_inline)) {
          yy += x[0] * x[0];
          uy += x[2] * x[1];
        });
  else
    lane_by_lane<T>(
        {size, y, u != nullptr ? u : v, v}, n, [&](const lanes<T>(&x)[4]) __attribute__((always_inline)) {
          yy += x[0] * x[0];
          uy += x[2] * x[1];
          vy += x[3] * x[1];
          uv += x[2] * x[3];
          vv += x[3] * x[3];
        });
  s.yy = yy, s.uy = uy, s.vy = vy, s.uv = uv, s.vv = vv;
  if (!is_complex) return;
  if (u != nullptr) add_crossed_products<T>(u, y, n, s.crossed_uy);
  if (v != nullptr) add_crossed_products<T>(v, y, n, s.crossed_vy);
  if (u != nullptr && v != nullptr) add_crossed_products<T>(u, v, n, s.crossed_uv);
}

template <real T>
VOUCH_SIMD_INLINE void store_sums(const lane_products<T>& s, bool transposed, double* sums) {
  const double all[] = {total<T>(s.yy),
                        transposed ? alternating_total<T>(s.uy) : total<T>(s.uy),
                        transposed ? alternating_total<T>(s.vy) : total<T>(s.vy),
                        total<T>(s.uv),
                        total<T>(s.vv),
                        transposed ? total<T>(s.crossed_uy) : alternating_total<T>(s.crossed_uy),
                        transposed ? total<T>(s.crossed_vy) : alternating_total<T>(s.crossed_vy),
                        alternating_total<T>(s.crossed_uv)};
  static_assert(sizeof all == product_sums::count * sizeof(double));
  std::copy_n(all, product_sums::count, sums);
}

#define VOUCH_PRODUCT_ROWS(T)                                                                               \
  VOUCH_SIMD_CLONES void finish_rows(const product_pass<T>& p, const T* w, bool is_complex, std::int64_t i, \
                                     std::int64_t n, lane_products<T>& s) {                                 \
    finish_block<T>(p, w, is_complex, i, n, s);                                                             \
  }                                                                                                         \
  VOUCH_SIMD_CLONES void add_lanes(const lane_products<T>& s, bool transposed, double* sums) {              \
    store_sums<T>(s, transposed, sums);                                                                     \
  }
VOUCH_PRODUCT_ROWS(float)
VOUCH_PRODUCT_ROWS(double)
#undef VOUCH_PRODUCT_ROWS

}  // namespace

template <real T>
product_sums multiply_fused(const device& dev, const linear_operator<T>& A, std::int64_t rows,
                            const product_pass<T>& pass, bool is_complex, sum_room& room) {
  const auto* const stored = dynamic_cast<const plan_operator<T>*>(&A);
  const spmv_plan<T>* const plan = stored != nullptr ? &stored->plan() : nullptr;
  if (plan == nullptr) A.apply(dev, {pass.x, rows}, {pass.y, rows});
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_fused_cuda(dev, plan, rows, pass, is_complex, room);
  double sums[product_sums::count];
  const std::int64_t work = plan != nullptr ? plan->bytes() / 12 : rows;
  const std::int64_t piece = rows <= 65536 ? block : sum_piece;
  in_pieces(dev, rows, piece, work, product_sums::count, room, sums,
            [&](std::int64_t first, std::int64_t count, double* part) {
              lane_products<T> products;
              for (std::int64_t i = first; i < first + count; i += block) {
                const std::int64_t n = std::min(block, first + count - i);
                T before[block];
                const T* w = pass.w != nullptr ? pass.w + i : nullptr;
                if (pass.w != nullptr && pass.w == pass.y) w = std::copy_n(w, n, before) - n;
                if (plan != nullptr) plan->multiply_rows(pass.x, pass.y, i, i + n);
                finish_rows(pass, w, is_complex, i, n, products);
              }
              add_lanes(products, pass.transposed, part);
            });
  return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]};
}

template product_sums multiply_fused(const device&, const linear_operator<float>&, std::int64_t,
                                     const product_pass<float>&, bool, sum_room&);
template product_sums multiply_fused(const device&, const linear_operator<double>&, std::int64_t,
                                     const product_pass<double>&, bool, sum_room&);

}  // namespace vouch
