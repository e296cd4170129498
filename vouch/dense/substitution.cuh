// vouch/dense/substitution.cuh -- the steps of a row of a triangular system, for numbers, intervals and
// rectangles; private.
#pragma once
#include <cstdint>

#include <vouch/core/arrival.cuh>
#include <vouch/core/relay.cuh>
#include <vouch/dense/entries.cuh>
#include <vouch/interval/complex_interval.hpp>

namespace vouch::detail {

/// Body(k, number) for the numbers that an element is made of, in the order of its memory.
template <real T, class Body>
__device__ void for_numbers(T& x, const Body& body) {
  body(0, x);
}
template <class E, class Body>
__device__ void for_numbers(E& x, const Body& body) {
  using number = typename E::bound_type;
  constexpr int count = sizeof(E) / sizeof(number);
#pragma unroll
  for (int k = 0; k < count; ++k) body(k, reinterpret_cast<number*>(&x)[k]);
}

/// The value that another lane of the warp has; for all lanes.
template <class E>
__device__ E of_lane(E x, int lane) {
  for_numbers(x, [lane](int, auto& number) { number = __shfl_sync(~0U, number, lane); });
  return x;
}

/// A copy of an entry to shared memory that does not wait.
template <int Bytes>
__device__ inline void copy_part(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(Bytes)
               : "memory");
}
template <scalar A>
__device__ void copy_entry(A* to, const A* from) {
  copy_part<sizeof(A)>(to, from);
}
template <real T>
__device__ void copy_entry(complex_interval<T>* to, const complex_interval<T>* from) {
  constexpr int part = sizeof(interval<T>);
  copy_part<part>(to, from);
  copy_part<part>(reinterpret_cast<char*>(to) + part, reinterpret_cast<const char*>(from) + part);
}

/// One of the arrivals that were announced, as soon as this thread's copies so far are there.
__device__ inline void arrive_when_copied(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Makes an unknown known to all blocks.
template <class R>
__device__ void publish(std::uint64_t* words, std::int64_t u, R value, std::uint32_t stamp) {
  for_numbers(value, [&](int k, auto& number) {
    constexpr int words_of_number = relay_words<std::remove_reference_t<decltype(number)>>;
    send(words + u * relay_words<R> + k * words_of_number, number, stamp);
  });
}

/// Whether the values of these lanes are finite; for all lanes.
template <class R>
__device__ bool are_finite(R value, int first, int count) {
  const unsigned asked = ((1U << count) - 1) << first;
  return (__ballot_sync(~0U, magnitude_bits(value) < infinite_bits<R>) & asked) == asked;
}

/// An unknown that a lane has looked for.
template <class R>
struct received {
  R value{};
  bool there = false;

  __device__ void look(const std::uint64_t* words, std::int64_t u, std::uint32_t stamp) {
    there = true;
    for_numbers(value, [&](int k, auto& number) {
      constexpr int words_of_number = relay_words<std::remove_reference_t<decltype(number)>>;
      there = vouch::look(words + u * relay_words<R> + k * words_of_number, number, stamp) && there;
    });
  }
  /// Until these lanes have theirs; whether all are finite. For all lanes.
  __device__ bool wait_for(const std::uint64_t* words, std::int64_t u, std::uint32_t stamp, int first,
                           int count) {
    const unsigned asked = ((1U << count) - 1) << first;
    while ((__ballot_sync(~0U, there) & asked) != asked)
      if (!there) look(words, u, stamp);
    return are_finite(value, first, count);
  }
};

/// What is left of a right-hand side while products with unknowns are taken from it.
template <class R, class A>
class row_sum {
 public:
  __device__ row_sum(R right_side, bool) : left_(right_side) {}
  __device__ R value() const { return left_; }
  __device__ void add(A a, R x) { left_ = multiply_add(a, x, left_); }
  __device__ void add_finite(A a, R x) { left_ = multiply_add_finite(a, x, left_); }

 private:
  R left_;
};

template <real T>
class row_sum<complex_interval<T>, complex_interval<T>> {
  using Z = complex_interval<T>;

 public:
  __device__ row_sum(Z right_side, bool conjugated)
      : direct_{right_side.real(), right_side.imag()}, crossed_{}, conjugated_(conjugated) {}
  __device__ Z value() const { return {direct_[0] - crossed_[1], direct_[1] + crossed_[0]}; }
  __device__ void add(Z a, Z x) {
    if (conjugated_) a = conj(a);
    direct_[0] = multiply_add(a.real(), x.real(), direct_[0]);
    direct_[1] = multiply_add(a.imag(), x.real(), direct_[1]);
    crossed_[0] = multiply_add(a.real(), x.imag(), crossed_[0]);
    crossed_[1] = multiply_add(a.imag(), x.imag(), crossed_[1]);
  }
  __device__ void add_finite(Z a, Z x) {
    if (conjugated_) a = conj(a);
    direct_[0] = multiply_add_finite(a.real(), x.real(), direct_[0]);
    direct_[1] = multiply_add_finite(a.imag(), x.real(), direct_[1]);
    crossed_[0] = multiply_add_finite(a.real(), x.imag(), crossed_[0]);
    crossed_[1] = multiply_add_finite(a.imag(), x.imag(), crossed_[1]);
  }

 private:
  interval<T> direct_[2], crossed_[2];
  bool conjugated_;
};

/// Takes the products with unknowns that lanes from `lane` on have from a row, whose entries from `from` to
/// `to` - 1 are stored. For all lanes.
template <int Count, class R, class A>
__device__ void take(row_sum<R, A>& sum, const A* entries, int ld, int from, int to, R unknown, int lane,
                     bool unknowns_finite) {
  R negative[Count];
#pragma unroll
  for (int c = 0; c < Count; ++c) negative[c] = -of_lane(unknown, lane + c);
  if (from <= 0 && to >= Count) {
    A entry[Count];
    unsigned largest = 0;
#pragma unroll
    for (int c = 0; c < Count; ++c) entry[c] = load_entry(entries + c * ld);
#pragma unroll
    for (int c = 0; c < Count; ++c) largest = ::max(largest, magnitude_bits(entry[c]));
    if (unknowns_finite && largest < infinite_bits<A>) {
#pragma unroll
      for (int c = 0; c < Count; ++c) sum.add_finite(entry[c], negative[c]);
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < Count; ++c)
    if (c >= from && c < to) sum.add(load_entry(entries + c * ld), negative[c]);
}

__device__ inline double reciprocal_of(double d) { return __drcp_rn(d); }
__device__ inline float reciprocal_of(float d) { return __frcp_rn(d); }

/// A number that is divided by over and over: quotients of four steps, with the bits of a division.
///
/// Let d be in [1, 2), q = r/d and u = 2^-p for p bits. high is 1/d rounded to nearest and low the rest of 1/d
/// to 2u^2, so q0 = high r + low r, rounded to nearest, errs by at most 1/2 + 4u units of its last place, and
/// is q where q is a number. Then e = r - q0 d is a number, and q0 + e high differs from q by |q - q0| |high d
/// - 1|
/// <= |q - q0| u d/2. But r - f d is a multiple of 2u units for every number f, so q is no nearer than 2u/d
/// units to any number that it is not, and no nearer than u/d to a middle of two. Hence both lie between the
/// same two numbers and, where d^2 (1/2 + 4u) < 2, on the same side of their middle. That d is not next to 2,
/// and that no step leaves the range of normal numbers, is looked at first.
///
/// Source  Markstein, IBM J. Res. Develop. 34 (1990), for the last step.
template <real T>
class prepared_divisor {
 public:
  __device__ explicit prepared_divisor(T d)
      : d_(d), high_(reciprocal_of(d)), low_(::fma(-d, high_, T{1}) * high_) {}

  __device__ T to_nearest(T r) const { return ::fma(remainder(r), high_, guess(r)); }
  __device__ T down(T r) const { return fma_down(remainder(r), high_, guess(r)); }
  __device__ T up(T r) const { return fma_up(remainder(r), high_, guess(r)); }

  /// Quotients by this number may be formed so, if dividends may.
  __device__ bool is_moderate() const {
    return is_between(d_, -limit, limit) && (magnitude_bits(d_) & next_to_two) != next_to_two;
  }
  __device__ static bool is_moderate(T r) { return r == 0 || is_between(r, -limit, limit); }

 private:
  static constexpr bool wide = sizeof(T) == 8;
  static constexpr int limit = wide ? 400 : 40;  // binary orders
  static constexpr unsigned next_to_two = wide ? 0xfffff : 0x7ff000;

  __device__ static bool is_between(T x, int least, int most) {
    constexpr int bias = wide ? 1023 : 127, place = wide ? 20 : 23;
    const unsigned first = static_cast<unsigned>(bias + least) << place,
                   last = static_cast<unsigned>(bias + most) << place;
    return magnitude_bits(x) - first < last - first;
  }
  __device__ T guess(T r) const { return ::fma(r, high_, r * low_); }
  __device__ T remainder(T r) const { return ::fma(-guess(r), d_, r); }

  T d_, high_, low_;
};

/// A diagonal element that holds no 0, ready to divide, with the bits of the operator.
template <class R, class A>
class divisor {
 public:
  __device__ divisor(A a, bool conjugated) : by_(a) {
    if (conjugated) by_ = conj(a);
  }
  __device__ R divide(R x) const { return x / by_; }

 private:
  A by_;
};

template <real T>
class divisor<T, T> {
 public:
  __device__ divisor(T a, bool) : by_(a), prepared_(a), moderate_(prepared_.is_moderate()) {}
  __device__ T divide(T x) const {
    return moderate_ && prepared_.is_moderate(x) ? prepared_.to_nearest(x) : x / by_;
  }

 private:
  T by_;
  prepared_divisor<T> prepared_;
  bool moderate_;
};

/// By an interval, or by a point: each bound of the quotient is one of x over the larger or the smaller size.
template <real T, class A>
class divisor<interval<T>, A> {
 public:
  __device__ divisor(A a, bool)
      : by_(a),
        negative_(upper(a) < 0),
        small_(negative_ ? -upper(a) : lower(a)),
        large_(negative_ ? -lower(a) : upper(a)),
        moderate_(small_.is_moderate() && large_.is_moderate()) {}

  __device__ interval<T> divide(interval<T> x) const {
    if (!moderate_ || !small_.is_moderate(x.lo()) || !small_.is_moderate(x.hi())) return x / by_;
    if (negative_) x = -x;
    const prepared_divisor<T> low = x.lo() >= 0 ? large_ : small_, high = x.hi() >= 0 ? small_ : large_;
    return interval<T>::unchecked(low.down(x.lo()), high.up(x.hi()));
  }

 private:
  A by_;
  bool negative_;
  prepared_divisor<T> small_, large_;
  bool moderate_;
};

}  // namespace vouch::detail
