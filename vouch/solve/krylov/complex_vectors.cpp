#include <algorithm>
#include <cstring>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/krylov/complex_vectors.hpp>

namespace vouch {
namespace {

constexpr std::int64_t piece = 4096;  // parts; of a size that no number of threads changes

template <real T>
VOUCH_SIMD_INLINE void exchange_parts(lanes<T>& v) {
  if constexpr (sizeof(T) == 8)
    v = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  else
    v = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
}

// Lane by lane, the rest filled up with zeros; then the lanes from the first.
template <real T>
VOUCH_SIMD_INLINE complex_product product_of_piece(const T* u, const T* v, std::int64_t n) {
  constexpr int width = simd<T>::width;
  lanes<T> alike{}, crossed{}, first{}, second{};
  const auto add = [&](const T* from_u, const T* from_v) __attribute__((always_inline)) {
    lanes<T> a, b;
    load<T>(a, from_u);
    load<T>(b, from_v);
    first += a * a;
    second += b * b;
    alike += a * b;
    exchange_parts<T>(b);
    crossed += a * b;
  };
  const std::int64_t whole = n / width * width;
  for (std::int64_t i = 0; i < whole; i += width) add(u + i, v + i);
  if (whole < n) {
    T rest[2][width] = {};
    const auto bytes = static_cast<std::size_t>(n - whole) * sizeof(T);
    std::memcpy(rest[0], u + whole, bytes);
    std::memcpy(rest[1], v + whole, bytes);
    add(rest[0], rest[1]);
  }
  double real = 0;
  for (int l = 0; l < width; l += 2) real += static_cast<double>(alike[l]) - static_cast<double>(alike[l + 1]);
  return {{real, total<T>(crossed)}, total<T>(first), total<T>(second)};
}

#define VOUCH_PRODUCT_OF_PIECE(T)                                                      \
  VOUCH_SIMD_CLONES complex_product of_piece(const T* u, const T* v, std::int64_t n) { \
    return product_of_piece<T>(u, v, n);                                               \
  }                                                                                    \
  VOUCH_SIMD_CLONES void piecewise(const move_body<T>& body, std::int64_t n) {         \
    for (std::int64_t i = 0; i < n; ++i) body(i);                                      \
  }                                                                                    \
  VOUCH_SIMD_CLONES void piecewise(const turn_body<T>& body, std::int64_t n) {         \
    for (std::int64_t i = 0; i < n; ++i) body(i);                                      \
  }
VOUCH_PRODUCT_OF_PIECE(float)
VOUCH_PRODUCT_OF_PIECE(double)
#undef VOUCH_PRODUCT_OF_PIECE

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

template <real T>
void move_along(const device& dev, std::complex<double> alpha, const T* p, const T* q, T* x, T* r,
                std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return move_along_cuda(dev, alpha, p, q, x, r, n);
  const T a = static_cast<T>(alpha.real()), b = static_cast<T>(alpha.imag());
  for_pieces(dev, n, [&](std::int64_t first, std::int64_t count) {
    piecewise(move_body<T>{a, b, p + first, q + first, x + first, r + first}, count / 2);
  });
}

template <real T>
void turn_direction(const device& dev, const T* z, std::complex<double> beta, T* p, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return turn_direction_cuda(dev, z, beta, p, n);
  const T a = static_cast<T>(beta.real()), b = static_cast<T>(beta.imag());
  for_pieces(dev, n, [&](std::int64_t first, std::int64_t count) {
    piecewise(turn_body<T>{z + first, a, b, p + first}, count / 2);
  });
}

template <real T>
void multiply_numbers(const device& dev, const T* d, const T* r, T* z, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_numbers_cuda(dev, d, r, z, n);
  for_pieces(dev, n, [&](std::int64_t first, std::int64_t count) {
    const multiply_body<T> body{d + first, r + first, z + first};
    for (std::int64_t i = 0; i < count / 2; ++i) body(i);
  });
}

template <real T>
void multiply_by_i(const device& dev, const T* r, T* z, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_by_i_cuda(dev, r, z, n);
  for_pieces(dev, n, [&](std::int64_t first, std::int64_t count) {
    const multiply_by_i_body<T> body{r + first, z + first};
    for (std::int64_t i = 0; i < count / 2; ++i) body(i);
  });
}

#define VOUCH_COMPLEX_VECTORS(T)                                                                           \
  template complex_product multiply_complex(const device&, const T*, const T*, std::int64_t);              \
  template void move_along(const device&, std::complex<double>, const T*, const T*, T*, T*, std::int64_t); \
  template void turn_direction(const device&, const T*, std::complex<double>, T*, std::int64_t);           \
  template void multiply_by_i(const device&, const T*, T*, std::int64_t);                                  \
  template void multiply_numbers(const device&, const T*, const T*, T*, std::int64_t);
VOUCH_COMPLEX_VECTORS(float)
VOUCH_COMPLEX_VECTORS(double)
#undef VOUCH_COMPLEX_VECTORS

}  // namespace vouch
