// vouch/solve/loop/complex_vectors.hpp -- vectors of complex numbers by their parts in turns, as the real form of a
// complex system has them; private.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>

namespace vouch {

VOUCH_HOST_DEVICE inline double conjugate(double a) { return a; }
inline std::complex<double> conjugate(const std::complex<double>& a) { return std::conj(a); }

/// a / |a|; 1 for zero.
VOUCH_HOST_DEVICE inline double direction_of(double a) { return std::copysign(1.0, a); }
inline std::complex<double> direction_of(const std::complex<double>& a) {
  const double size = std::abs(a);
  return size > 0 ? a / size : 1.0;
}

// n counts parts everywhere, two for each number; vectors are contiguous, on dev. Sums have a fixed order.

/// Of two vectors: u^T v without conjugation, and the squares of their norms.
struct complex_product {
  std::complex<double> product;
  double first = 0, second = 0;
};

/// Waits for a GPU.
template <real T>
complex_product multiply_complex(const device& dev, const T* u, const T* v, std::int64_t n);

/// body(i) for every number i; of a body below.
template <class Body>
void for_numbers(const device& dev, std::int64_t n, const Body& body);

template <real T>
complex_product multiply_complex_cuda(const device& dev, const T* u, const T* v, std::int64_t n);
template <class Body>
void for_numbers_cuda(const device& dev, std::int64_t n, const Body& body);

// What becomes of number i, the same on every device. X(body) for all of them:
#define VOUCH_COMPLEX_BODIES(X) X(multiply_body) X(multiply_by_i_body)

template <class T>
struct multiply_body {
  const T *d, *r;
  T* z;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const T a = d[2 * i], b = d[2 * i + 1], ra = r[2 * i], rb = r[2 * i + 1];
    z[2 * i] = a * ra - b * rb;
    z[2 * i + 1] = a * rb + b * ra;
  }
};

template <class T>
struct multiply_by_i_body {
  const T* r;
  T* z;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const T a = r[2 * i];
    z[2 * i] = -r[2 * i + 1];
    z[2 * i + 1] = a;
  }
};

/// z := d r, number by number.
template <real T>
void multiply_numbers(const device& dev, const T* d, const T* r, T* z, std::int64_t n) {
  for_numbers(dev, n, multiply_body<T>{d, r, z});
}

/// z := i r.
template <real T>
void multiply_by_i(const device& dev, const T* r, T* z, std::int64_t n) {
  for_numbers(dev, n, multiply_by_i_body<T>{r, z});
}

}  // namespace vouch
