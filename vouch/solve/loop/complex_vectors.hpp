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

inline double conjugate(double a) { return a; }
inline std::complex<double> conjugate(const std::complex<double>& a) { return std::conj(a); }

/// a / |a|; 1 for zero.
inline double direction_of(double a) { return std::copysign(1.0, a); }
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
#define VOUCH_COMPLEX_BODIES(X) X(move_body) X(turn_body) X(multiply_body) X(multiply_by_i_body)

template <class T>
struct move_body {
  T a, b;  // alpha
  const T *p, *q;
  T *x, *r;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const T pa = p[2 * i], pb = p[2 * i + 1], qa = q[2 * i], qb = q[2 * i + 1];
    x[2 * i] += a * pa - b * pb;
    x[2 * i + 1] += a * pb + b * pa;
    r[2 * i] -= a * qa - b * qb;
    r[2 * i + 1] -= a * qb + b * qa;
  }
};

template <class T>
struct turn_body {
  const T* z;
  T a, b;  // beta
  T* p;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const T pa = p[2 * i], pb = p[2 * i + 1];
    p[2 * i] = z[2 * i] + (a * pa - b * pb);
    p[2 * i + 1] = z[2 * i + 1] + (a * pb + b * pa);
  }
};

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

/// x := x + alpha p, r := r - alpha q.
template <real T>
void move_along(const device& dev, std::complex<double> alpha, const T* p, const T* q, T* x, T* r,
                std::int64_t n) {
  for_numbers(dev, n, move_body<T>{static_cast<T>(alpha.real()), static_cast<T>(alpha.imag()), p, q, x, r});
}

/// p := z + beta p.
template <real T>
void turn_direction(const device& dev, const T* z, std::complex<double> beta, T* p, std::int64_t n) {
  for_numbers(dev, n, turn_body<T>{z, static_cast<T>(beta.real()), static_cast<T>(beta.imag()), p});
}

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
