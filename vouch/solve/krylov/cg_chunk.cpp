#include <vouch/solve/krylov/cg_chunk.hpp>

#include <cstring>

#include <vouch/core/simd.hpp>

namespace vouch::cg_chunk {
namespace {

// The five products of one chunk: whole vectors of lanes first, then the rest as one vector filled with zeros.
template <real T, bool Diagonal>
VOUCH_SIMD_INLINE cg_dots chunk_dots(const T* p, const T* q, const T* r, const T* minv, std::int64_t n) {
  constexpr int width = simd<T>::width;
  lanes<T> pq{}, qmq{}, rmq{}, rmr{}, rr{};
  const auto add = [&](const T* pi, const T* qi, const T* ri, const T* mi) __attribute__((always_inline)) {
    lanes<T> pv, qv, rv;
    load<T>(pv, pi);
    load<T>(qv, qi);
    load<T>(rv, ri);
    lanes<T> mq = qv;
    if constexpr (Diagonal) {
      lanes<T> mv;
      load<T>(mv, mi);
      mq = mv * qv;
      rmr += rv * (mv * rv);
    }
    pq += pv * qv;
    qmq += qv * mq;
    rmq += rv * mq;
    rr += rv * rv;
  };
  const std::int64_t whole = n / width * width;
  for (std::int64_t i = 0; i < whole; i += width) add(p + i, q + i, r + i, Diagonal ? minv + i : nullptr);
  if (whole < n) {
    T rest[4][width] = {};
    const auto bytes = static_cast<std::size_t>(n - whole) * sizeof(T);
    std::memcpy(rest[0], p + whole, bytes);
    std::memcpy(rest[1], q + whole, bytes);
    std::memcpy(rest[2], r + whole, bytes);
    if constexpr (Diagonal) std::memcpy(rest[3], minv + whole, bytes);
    add(rest[0], rest[1], rest[2], rest[3]);
  }
  const double square = total<T>(rr);
  return {total<T>(pq), total<T>(qmq), total<T>(rmq), Diagonal ? total<T>(rmr) : square, square};
}

template <real T, bool Diagonal>
VOUCH_SIMD_INLINE void chunk_solution(T along_p, T along_mr, const T* p, const T* r, const T* minv, T* d,
                                      std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) d[i] += along_p * p[i] + along_mr * (Diagonal ? minv[i] * r[i] : r[i]);
}

template <real T, bool Diagonal>
VOUCH_SIMD_INLINE void chunk_update(T alpha, T beta, const T* q, const T* minv, T* p, T* r, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    r[i] -= alpha * q[i];
    p[i] = (Diagonal ? minv[i] * r[i] : r[i]) + beta * p[i];
  }
}

}  // namespace

#define VOUCH_CHUNK_KERNELS(T)                                                                               \
  VOUCH_SIMD_CLONES cg_dots dots(const T* p, const T* q, const T* r, const T* minv, std::int64_t n) {        \
    return minv ? chunk_dots<T, true>(p, q, r, minv, n) : chunk_dots<T, false>(p, q, r, minv, n);            \
  }                                                                                                          \
  VOUCH_SIMD_CLONES void update_solution(T along_p, T along_mr, const T* p, const T* r, const T* minv, T* d, \
                                         std::int64_t n) {                                                   \
    minv ? chunk_solution<T, true>(along_p, along_mr, p, r, minv, d, n)                                      \
         : chunk_solution<T, false>(along_p, along_mr, p, r, minv, d, n);                                    \
  }                                                                                                          \
  VOUCH_SIMD_CLONES void update(T alpha, T beta, const T* q, const T* minv, T* p, T* r, std::int64_t n) {    \
    minv ? chunk_update<T, true>(alpha, beta, q, minv, p, r, n)                                              \
         : chunk_update<T, false>(alpha, beta, q, minv, p, r, n);                                            \
  }
VOUCH_CHUNK_KERNELS(float)
VOUCH_CHUNK_KERNELS(double)
#undef VOUCH_CHUNK_KERNELS

}  // namespace vouch::cg_chunk
