#include <algorithm>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/loop/lane_sums.hpp>

namespace vouch {
namespace {

constexpr std::int64_t piece = 4096;  // parts; of a size that no number of threads changes

// Lane by lane; then the lanes from the first.
template <real T>
VOUCH_SIMD_INLINE complex_product product_of_piece(const T* u, const T* v, std::int64_t n) {
  lanes<T> alike{}, crossed{}, first{}, second{};
  lane_by_lane<T>(
      {u, v}, n, [&](lanes<T>(&x)[2]) __attribute__((always_inline)) {
        first += x[0] * x[0];
        second += x[1] * x[1];
        alike += x[0] * x[1];
        exchange_parts<T>(x[1]);
        crossed += x[0] * x[1];
      });
  return {{alternating_total<T>(alike), total<T>(crossed)}, total<T>(first), total<T>(second)};
}

#define VOUCH_PIECEWISE(T, body)                                                             \
  VOUCH_SIMD_CLONES void piecewise(const body<T>& each, std::int64_t i, std::int64_t last) { \
    for (; i < last; ++i) each(i);                                                           \
  }
#define VOUCH_PRODUCT_OF_PIECE(T)                                                      \
  VOUCH_SIMD_CLONES complex_product of_piece(const T* u, const T* v, std::int64_t n) { \
    return product_of_piece<T>(u, v, n);                                               \
  }
VOUCH_PRODUCT_OF_PIECE(float)
VOUCH_PRODUCT_OF_PIECE(double)
#undef VOUCH_PRODUCT_OF_PIECE
#define VOUCH_BODY(body)       \
  VOUCH_PIECEWISE(float, body) \
  VOUCH_PIECEWISE(double, body)
VOUCH_COMPLEX_BODIES(VOUCH_BODY)
#undef VOUCH_BODY
#undef VOUCH_PIECEWISE

// work(first, parts) for every piece.
template <class Work>
void for_pieces(const device& dev, std::int64_t n, const Work& work) {
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, n)) schedule(static)
  for (std::int64_t first = 0; first < n; first += piece) work(first, std::min(piece, n - first));
}

}  // namespace

template <real T>
complex_product multiply_complex(const device& dev, const T* u, const T* v, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_complex_cuda(dev, u, v, n);
  std::vector<complex_product> parts(static_cast<std::size_t>(ceil_div(n, piece)));
  for_pieces(dev, n, [&](std::int64_t first, std::int64_t count) {
    parts[static_cast<std::size_t>(first / piece)] = of_piece(u + first, v + first, count);
  });
  complex_product all;
  for (const complex_product& part : parts) {
    all.product += part.product;
    all.first += part.first;
    all.second += part.second;
  }
  return all;
}

template <class Body>
void for_numbers(const device& dev, std::int64_t n, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_numbers_cuda(dev, n, body);
  for_pieces(dev, n,
             [&](std::int64_t first, std::int64_t count) { piecewise(body, first / 2, (first + count) / 2); });
}

#define VOUCH_COMPLEX_VECTORS(T) \
  template complex_product multiply_complex(const device&, const T*, const T*, std::int64_t);
VOUCH_COMPLEX_VECTORS(float)
VOUCH_COMPLEX_VECTORS(double)
#undef VOUCH_COMPLEX_VECTORS

#define VOUCH_FOR_NUMBERS(body)                                               \
  template void for_numbers(const device&, std::int64_t, const body<float>&); \
  template void for_numbers(const device&, std::int64_t, const body<double>&);
VOUCH_COMPLEX_BODIES(VOUCH_FOR_NUMBERS)
#undef VOUCH_FOR_NUMBERS

}  // namespace vouch
