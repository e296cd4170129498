// vouch/verify/system_lanes.cuh -- what the lanes that share a tridiagonal system tell each other while they
// factor it; private.
#pragma once
#include <cstdint>

#include <vouch/verify/batch_visit.cuh>

namespace vouch::detail {

constexpr int octave = 1 << 20;  // between high words of numbers of which one is twice the other
constexpr int high_of_power(int exponent) { return (1023 + exponent) * octave; }

/// 1 / d, or x / d, by a guess that is right to some 20 bits: within 2^-51 of themselves, 1 / d within 2^-52,
/// where the guess is good and nothing underflows.
struct quick_inverse {
  double guess, error, step;

  __device__ explicit quick_inverse(double d) {
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(d));
    error = fma(-d, guess, 1.0);
    step = fma(error, error, error);
  }
  static constexpr int good_error = high_of_power(-18);
  __device__ bool good() const { return high_of(error) < good_error; }
  __device__ double value() const { return fma(guess, step, guess); }
  __device__ double times(double x) const {
    const double first = x * guess;
    return fma(first, step, first);
  }
};

/// How the last two leading minors of a piece come from the two before it, scaled by any number: the last one
/// from each of them, then the last but one.
struct piece_minors {
  double at[4] = {1, 0, 0, 1};

  __device__ void scale() {
    int high = 0;
    for (const double number : at) high = ::max(high, high_of(number));
    const double power = __hiloint2double(high_of_power(1023) - (high & -octave), 0);
    for (double& number : at) number *= power;
  }
  /// The same of the piece and of what is before it.
  __device__ void extend(const piece_minors& other) {
    const piece_minors own = *this;
    for (int c = 0; c < 2; ++c) {
      at[c] = fma(own.at[0], other.at[c], own.at[1] * other.at[2 + c]);
      at[2 + c] = fma(own.at[2], other.at[c], own.at[3] * other.at[2 + c]);
    }
    scale();
  }
  /// The last minor but one over the last, of pieces that begin a system.
  __device__ double quotient() const { return quick_inverse(at[0]).times(at[2]); }
};

/// at[0] + at[1] times what comes to a piece goes on from it; at most that, both not negative.
struct piece_sum {
  double at[2] = {0, 1};

  __device__ void extend(const piece_sum& other) {
    at[0] = __fma_ru(at[1], other.at[0], at[0]);
    at[1] = __dmul_ru(at[1], other.at[1]);
  }
};

/// The pieces of a system, a lane each: a power of two of them within a warp, or Warps whole warps, which are a
/// block or one of its Teams. All lanes of them call the same.
template <int Warps, int Teams = 1>
class system_lanes {
 public:
  struct memory {
    double told[Warps][4];
  };

  __device__ system_lanes(memory& in, int pieces)
      : in_(in),
        here_(pieces < 32 ? pieces : 32),
        pieces_(pieces),
        piece_(static_cast<int>(threadIdx.x) % pieces) {}
  __device__ int piece() const { return piece_; }
  __device__ bool first() const { return piece_ == 0; }
  __device__ bool last() const { return piece_ + 1 == pieces_; }

  /// What all pieces before this one, or behind it, are together.
  template <class Element>
  __device__ Element all_before(Element own) const {
    return of_others<Element, false>(own);
  }
  template <class Element>
  __device__ Element all_behind(Element own) const {
    return of_others<Element, true>(own);
  }
  /// The number of the piece before; 0 for the first.
  __device__ double of_one_before(double own) const {
    const double in_warp = __shfl_up_sync(~0u, own, 1, here_);
    if constexpr (Warps > 1) {
      if (lane() == 31) in_.told[warp()][0] = own;
      sync();
      const double of_warp = warp() > 0 ? in_.told[warp() - 1][0] : 0;
      sync();
      return lane() > 0 ? in_warp : of_warp;
    }
    return first() ? 0 : in_warp;
  }
  __device__ int largest(int own) const {
    for (int step = here_ / 2; step > 0; step /= 2) own = ::max(own, __shfl_xor_sync(~0u, own, step, here_));
    if constexpr (Warps > 1) {
      if (lane() == 0) in_.told[warp()][0] = own;
      sync();
      for (int w = 0; w < Warps; ++w) own = ::max(own, static_cast<int>(in_.told[w][0]));
      sync();
    }
    return own;
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32 % Warps; }
  __device__ static void sync() {
    if constexpr (Teams == 1)
      __syncthreads();
    else  // barrier 0 is the block's
      asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / (32 * Warps)), "n"(32 * Warps) : "memory");
  }

  template <bool Behind, class Element>
  __device__ Element moved(const Element& own, int step) const {
    Element other;
    for (int k = 0; k < static_cast<int>(sizeof own.at / sizeof(double)); ++k)
      other.at[k] = Behind ? __shfl_down_sync(~0u, own.at[k], static_cast<unsigned>(step), here_)
                           : __shfl_up_sync(~0u, own.at[k], static_cast<unsigned>(step), here_);
    return other;
  }
  template <class Element, bool Behind>
  __device__ Element of_others(Element own) const {
    const int in_warp = piece_ % here_, rank = Behind ? here_ - 1 - in_warp : in_warp;
#pragma unroll 1
    for (int step = 1; step < here_; step *= 2) {
      const Element other = moved<Behind>(own, step);
      if (rank >= step) own.extend(other);
    }
    Element others = moved<Behind>(own, 1);
    if (rank == 0) others = {};
    if constexpr (Warps > 1) {
      constexpr int size = sizeof own.at / sizeof(double);
      if (rank == 31)
        for (int k = 0; k < size; ++k) in_.told[warp()][k] = own.at[k];
      sync();
      for (int w = Behind ? warp() + 1 : warp() - 1; w >= 0 && w < Warps; w += Behind ? 1 : -1) {
        Element of_warp;
        for (int k = 0; k < size; ++k) of_warp.at[k] = in_.told[w][k];
        others.extend(of_warp);
      }
      sync();
    }
    return others;
  }

  memory& in_;
  int here_, pieces_, piece_;  // here: of a warp
};

}  // namespace vouch::detail
