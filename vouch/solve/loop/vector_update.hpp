// vouch/solve/loop/vector_update.hpp -- the few vector operations around a solver's loop; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/double_double.hpp>
#include <vouch/core/random.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>

namespace vouch {

/// hi + lo := hi + lo + d, with hi the rounded value. n elements each, on dev.
template <real T>
void accumulate_pair(const device& dev, T* hi, T* lo, const T* d, std::int64_t n);

/// The sum of x, in double-double and fixed order; waits for the GPU.
template <real T>
double sum_elements(const device& dev, const T* x, std::int64_t n);

/// x := x + c (a null space of constants is taken out so).
template <real T>
void add_constant(const device& dev, T* x, double c, std::int64_t n);

/// x := c everywhere.
template <real T>
void fill(const device& dev, T* x, T c, std::int64_t n);

/// Streams of our own, this and those behind it: none that a right-hand side is likely to be of.
constexpr std::uint64_t own_stream = 0x4b72796c6f76;
/// x := hashed numbers between -1/2 and 1/2, the same for the same stream (random_unit()).
template <real T>
void fill_hashed(const device& dev, std::uint64_t stream, view<T> x);

/// x := c x.
template <real T>
void scale(const device& dev, T* x, T c, std::int64_t n);

/// y := a x + b y.
template <real T>
void axpby(const device& dev, T a, const T* x, T b, T* y, std::int64_t n);

/// y := x, rounded to the other precision.
template <real To, real From>
void convert(const device& dev, To* y, const From* x, std::int64_t n);

/// The largest magnitude of v, NaN passed over; 0 where there is none.
template <real T>
double largest_magnitude(const device& dev, view<const T> v);
/// Its binary exponent; 0 where it is zero or infinite.
template <real T>
int exponent_of(const device& dev, view<const T> v);

template <real T>
void accumulate_pair_cuda(const device& dev, T* hi, T* lo, const T* d, std::int64_t n);
template <real T>
double sum_elements_cuda(const device& dev, const T* x, std::int64_t n);
template <real T>
void add_constant_cuda(const device& dev, T* x, double c, std::int64_t n);
template <real T>
void fill_cuda(const device& dev, T* x, T c, std::int64_t n);
template <real T>
void scale_cuda(const device& dev, T* x, T c, std::int64_t n);
template <real T>
void axpby_cuda(const device& dev, T a, const T* x, T b, T* y, std::int64_t n);

template <real T>
void fill_hashed_cuda(const device& dev, std::uint64_t stream, view<T> x);
template <real T>
VOUCH_HOST_DEVICE inline T hashed_element(std::uint64_t stream, std::int64_t i) {
  return static_cast<T>(random_unit(stream, static_cast<std::uint64_t>(i)) - 0.5);
}

template <real To, real From>
void convert_cuda(const device& dev, To* y, const From* x, std::int64_t n);

// one element of accumulate_pair, the same on every device.

template <real T>
VOUCH_HOST_DEVICE inline void add_to_pair(T& hi, T& lo, T d) {
  const double_double<T> sum = double_double<T>{hi, lo} + d;
  hi = sum.hi;
  lo = sum.lo;
}

}  // namespace vouch
