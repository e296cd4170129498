#include <algorithm>
#include <cstring>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>

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

// add(u, v) for as many elements as there are lanes at a time, the rest filled up with zeros.
template <real T, class Add>
VOUCH_SIMD_INLINE void lane_by_lane(const T* u, const T* v, std::int64_t n, const Add& add) {
  constexpr int width = simd<T>::width;
  const std::int64_t whole = n / width * width;
  for (std::int64_t i = 0; i < whole; i += width) add(u + i, v + i);
  if (whole < n) {
    T rest[2][width] = {};
    const auto bytes = static_cast<std::size_t>(n - whole) * sizeof(T);
    std::memcpy(rest[0], u + whole, bytes);
    std::memcpy(rest[1], v + whole, bytes);
    add(rest[0], rest[1]);
  }
}

// Lane by lane; then the lanes from the first.
template <real T>
VOUCH_SIMD_INLINE complex_product product_of_piece(const T* u, const T* v, std::int64_t n) {
  constexpr int width = simd<T>::width;
  lanes<T> alike{}, crossed{}, first{}, second{};
  lane_by_lane(
      u, v, n, [&](const T* from_u, const T* from_v) __attribute__((always_inline)) {
        lanes<T> a, b;
        load<T>(a, from_u);
        load<T>(b, from_v);
        first += a * a;
        second += b * b;
        alike += a * b;
        exchange_parts<T>(b);
        crossed += a * b;
      });
  double real = 0;
  for (int l = 0; l < width; l += 2) real += static_cast<double>(alike[l]) - static_cast<double>(alike[l + 1]);
  return {{real, total<T>(crossed)}, total<T>(first), total<T>(second)};
}

// The conjugate of u times v, lane by lane likewise.
template <real T>
VOUCH_SIMD_INLINE std::complex<double> conjugate_product_of_piece(const T* u, const T* v, std::int64_t n) {
  constexpr int width = simd<T>::width;
  lanes<T> alike{}, crossed{};
  lane_by_lane(
      u, v, n, [&](const T* from_u, const T* from_v) __attribute__((always_inline)) {
        lanes<T> a, b;
        load<T>(a, from_u);
        load<T>(b, from_v);
        alike += a * b;
        exchange_parts<T>(b);
        crossed += a * b;
      });
  double imaginary = 0;
  for (int l = 0; l < width; l += 2)
    imaginary += static_cast<double>(crossed[l]) - static_cast<double>(crossed[l + 1]);
  return {total<T>(alike), imaginary};
}

#define VOUCH_PIECEWISE(T, body)                                                             \
  VOUCH_SIMD_CLONES void piecewise(const body<T>& each, std::int64_t i, std::int64_t last) { \
    for (; i < last; ++i) each(i);                                                           \
  }
#define VOUCH_PRODUCT_OF_PIECE(T)                                                                     \
  VOUCH_SIMD_CLONES complex_product of_piece(const T* u, const T* v, std::int64_t n) {                \
    return product_of_piece<T>(u, v, n);                                                              \
  }                                                                                                   \
  VOUCH_SIMD_CLONES std::complex<double> conjugate_of_piece(const T* u, const T* v, std::int64_t n) { \
    return conjugate_product_of_piece<T>(u, v, n);                                                    \
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

template <real T>
void multiply_columns(const device& cpu, matrix_view<const T> V, const T* v, std::complex<double>* products) {
  const std::int64_t n = V.rows, columns = V.cols;
  std::vector<std::complex<double>> parts(static_cast<std::size_t>(ceil_div(n, piece) * columns));
  for_pieces(cpu, n, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t k = 0; k < columns; ++k)
      parts[static_cast<std::size_t>(first / piece * columns + k)] =
          conjugate_of_piece(V.data + k * V.ld + first, v + first, count);
  });
  std::fill_n(products, columns, 0.0);
  for (std::size_t p = 0; p < parts.size(); ++p) products[static_cast<std::int64_t>(p) % columns] += parts[p];
}

template <real T>
void add_columns(const device& cpu, matrix_view<const T> V, const std::complex<double>* w, T* y) {
  for_pieces(cpu, V.rows, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t k = 0; k < V.cols; ++k)
      piecewise(add_body<T>{static_cast<T>(w[k].real()), static_cast<T>(w[k].imag()), V.data + k * V.ld, y},
                first / 2, (first + count) / 2);
  });
}

template <class Body>
void for_numbers(const device& dev, std::int64_t n, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_numbers_cuda(dev, n, body);
  for_pieces(dev, n,
             [&](std::int64_t first, std::int64_t count) { piecewise(body, first / 2, (first + count) / 2); });
}

#define VOUCH_COMPLEX_VECTORS(T)                                                                        \
  template complex_product multiply_complex(const device&, const T*, const T*, std::int64_t);           \
  template void multiply_columns(const device&, matrix_view<const T>, const T*, std::complex<double>*); \
  template void add_columns(const device&, matrix_view<const T>, const std::complex<double>*, T*);
VOUCH_COMPLEX_VECTORS(float)
VOUCH_COMPLEX_VECTORS(double)
#undef VOUCH_COMPLEX_VECTORS

#define VOUCH_FOR_NUMBERS(body)                                               \
  template void for_numbers(const device&, std::int64_t, const body<float>&); \
  template void for_numbers(const device&, std::int64_t, const body<double>&);
VOUCH_COMPLEX_BODIES(VOUCH_FOR_NUMBERS)
#undef VOUCH_FOR_NUMBERS

}  // namespace vouch
