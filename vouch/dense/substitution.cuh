// vouch/dense/substitution.cuh -- the steps of a row of a triangular system, for numbers, intervals and
// rectangles; private.
#pragma once
#include <cstdint>

#include <vouch/core/gpu/async_copy.cuh>
#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/dense/entries.cuh>
#include <vouch/dense/prepared_divisor.hpp>
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

/// Makes an unknown known to all blocks.
template <class R>
__device__ void publish(std::uint64_t* words, std::int64_t u, R value, std::uint32_t epoch) {
  for_numbers(value, [&](int k, auto& number) {
    constexpr int words_of_number = flagged_words<std::remove_reference_t<decltype(number)>>;
    store_flagged(words + u * flagged_words<R> + k * words_of_number, number, epoch);
  });
}

/// Whether the values of these lanes are finite; for all lanes.
template <class R>
__device__ bool are_finite(R value, int first, int count) {
  const unsigned asked = ((1U << count) - 1) << first;
  return (__ballot_sync(~0U, magnitude_bits(value) < infinite_bits<R>) & asked) == asked;
}

/// An unknown that a lane has asked for: words that are looked at when they are needed.
template <class R>
class received {
 public:
  __device__ void ask(const std::uint64_t* words, std::int64_t u) {
    const std::uint64_t* const at = words + u * count;
    if constexpr (count == 1) {
      word_[0] = flagged::load(at);
    } else {
#pragma unroll
      for (int k = 0; k < count; k += 2) flagged::load_pair(at + k, word_[k], word_[k + 1]);
    }
  }
  __device__ void ask_again(const std::uint64_t* words, std::int64_t u, std::uint32_t epoch) {
    if (!is_there(epoch)) ask(words, u);
  }
  /// Whether all lanes have theirs; for all lanes.
  __device__ bool are_there(std::uint32_t epoch) const { return __all_sync(~0U, is_there(epoch)) != 0; }
  /// Until these lanes have theirs; for all lanes.
  __device__ void wait_for(const std::uint64_t* words, std::int64_t u, std::uint32_t epoch, int first,
                           int lanes) {
    const unsigned asked = ((1U << lanes) - 1) << first;
    while ((__ballot_sync(~0U, is_there(epoch)) & asked) != asked) ask_again(words, u, epoch);
  }
  __device__ R value() const {
    R value{};
    for_numbers(value, [this](int k, auto& number) { read(k, number); });
    return value;
  }

 private:
  static constexpr int count = flagged_words<R>;

  __device__ bool is_there(std::uint32_t epoch) const {
    bool all = true;
#pragma unroll
    for (int k = 0; k < count; ++k) all = flagged::has(word_[k], epoch) && all;
    return all;
  }
  __device__ void read(int k, float& number) const {
    number = __uint_as_float(static_cast<std::uint32_t>(word_[k]));
  }
  __device__ void read(int k, double& number) const {
    number = __hiloint2double(static_cast<int>(word_[2 * k + 1]), static_cast<int>(word_[2 * k]));
  }

  std::uint64_t word_[count] = {};
};

/// What is left of a right-hand side while products with unknowns are taken from it.
template <class R, class A>
class row_sum {
 public:
  __device__ row_sum(R right_side, bool) : left_(right_side) {}
  __device__ R value() const { return left_; }
  __device__ void add(A a, R x) { left_ = multiply_add(a, x, left_); }
  __device__ void add_finite(A a, R x) { left_ = multiply_add_finite(a, x, left_); }
  __device__ void negate() { left_ = -left_; }

 private:
  R left_;
};

template <real T>
class row_sum<complex_interval<T>, complex_interval<T>> {
  using Z = complex_interval<T>;

 public:
  __device__ row_sum(Z right_side, bool conjugated)
      : direct_{right_side.real(), right_side.imag()}, crossed_{}, conjugated_(conjugated) {}
  __device__ void negate() {}  // never asked for
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
__device__ void take(row_sum<R, A>& sum, const A* entries, int ld, int from, int to, R unknown, int lane) {
  R negative[Count];
  const bool unknowns_finite = are_finite(unknown, lane, Count);
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

/// A diagonal element that holds no 0, ready to divide, with the bits of the operator. Where it is negative,
/// row and right-hand side change their signs first. quickly(x) has no branches, and is right where
/// is_moderate(x).
template <class R, class A>
class divisor;

template <real T>
class divisor<T, T> {
 public:
  static constexpr bool is_quick = true;
  __device__ divisor(T a, bool) : by_(a), prepared_(a), moderate_(prepared_.is_moderate()) {}
  __device__ bool is_negative() const { return false; }
  __device__ bool is_moderate(T x) const { return moderate_ && prepared_.is_moderate(x); }
  __device__ T quickly(T x) const { return prepared_.to_nearest(x); }
  __device__ T divide(T x) const { return x / by_; }

 private:
  T by_;
  prepared_divisor<T> prepared_;
  bool moderate_;
};

// Each bound of a quotient by a positive set is one of x over the larger or the smaller divisor.
template <real T, class A>
class divisor<interval<T>, A> {
 public:
  static constexpr bool is_quick = true;
  __device__ divisor(A a, bool)
      : negative_(upper(a) < 0),
        by_(negative_ ? -a : a),
        small_(lower(by_)),
        large_(upper(by_)),
        moderate_(small_.is_moderate() && large_.is_moderate()) {}

  __device__ bool is_negative() const { return negative_; }
  __device__ bool is_moderate(interval<T> x) const {
    return moderate_ && small_.is_moderate(x.lo()) && small_.is_moderate(x.hi());
  }
  __device__ interval<T> quickly(interval<T> x) const {
    if constexpr (is_interval<A>) {
      const prepared_divisor<T> low = detail::is_negative(x.lo()) ? small_ : large_,
                                high = detail::is_negative(x.hi()) ? large_ : small_;
      return interval<T>::unchecked(low.down(x.lo()), high.up(x.hi()));
    } else {
      return interval<T>::unchecked(small_.down(x.lo()), small_.up(x.hi()));
    }
  }
  __device__ interval<T> divide(interval<T> x) const { return x / by_; }

 private:
  bool negative_;
  A by_;
  prepared_divisor<T> small_, large_;
  bool moderate_;
};

// z conj(w) / |w|^2, as the operator has it.
template <real T>
class divisor<complex_interval<T>, complex_interval<T>> {
  using Z = complex_interval<T>;
  using part = interval<T>;

 public:
  static constexpr bool is_quick = false;
  __device__ divisor(Z w, bool conjugated)
      : turned_(conjugated ? w : conj(w)), size_(sqr(w.real()) + sqr(w.imag()), false) {}
  __device__ bool is_negative() const { return false; }
  __device__ Z divide(Z z) const {
    const Z product = z * turned_;
    return {quotient(product.real()), quotient(product.imag())};
  }

 private:
  __device__ part quotient(part x) const { return size_.is_moderate(x) ? size_.quickly(x) : size_.divide(x); }

  Z turned_;
  divisor<part, part> size_;
};

}  // namespace vouch::detail
