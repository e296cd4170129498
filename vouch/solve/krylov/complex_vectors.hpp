// vouch/solve/krylov/complex_vectors.hpp -- vectors of complex numbers by their parts in turns, as the real form of a
// complex system has them; private.
#pragma once
#include <complex>
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>

namespace vouch {

/// Of two vectors: u^T v without conjugation, and the squares of their norms.
struct complex_product {
  std::complex<double> product;
  double first = 0, second = 0;
};

/// n counts parts, two for each number; vectors are contiguous, on dev. Sums have a fixed order; a GPU is waited for.
template <real T>
complex_product multiply_complex(const device& dev, const T* u, const T* v, std::int64_t n);

/// x := x + alpha p, r := r - alpha q.
template <real T>
void move_along(const device& dev, std::complex<double> alpha, const T* p, const T* q, T* x, T* r,
                std::int64_t n);

/// p := z + beta p.
template <real T>
void turn_direction(const device& dev, const T* z, std::complex<double> beta, T* p, std::int64_t n);

/// z := d r, number by number.
template <real T>
void multiply_numbers(const device& dev, const T* d, const T* r, T* z, std::int64_t n);

/// z := i r.
template <real T>
void multiply_by_i(const device& dev, const T* r, T* z, std::int64_t n);

template <real T>
complex_product multiply_complex_cuda(const device& dev, const T* u, const T* v, std::int64_t n);
template <real T>
void move_along_cuda(const device& dev, std::complex<double> alpha, const T* p, const T* q, T* x, T* r,
                     std::int64_t n);
template <real T>
void turn_direction_cuda(const device& dev, const T* z, std::complex<double> beta, T* p, std::int64_t n);
template <real T>
void multiply_numbers_cuda(const device& dev, const T* d, const T* r, T* z, std::int64_t n);

template <real T>
void multiply_by_i_cuda(const device& dev, const T* r, T* z, std::int64_t n);

// What becomes of number i, the same on every device.

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

}  // namespace vouch
