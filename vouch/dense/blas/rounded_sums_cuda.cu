#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/dense/blas/rounded_terms.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;
constexpr int terms_a_thread = 16;
constexpr int chunk_bits = 12;  // 2^12 terms a block and pass

static_assert(block * terms_a_thread == 1 << chunk_bits);

// What a block has summed: digits of 32 bits that wait for their carries, and the marks.
struct block_sums {
  unsigned long long digit[digit_count];
  unsigned long long marks;
};

// Integers only, so that no order of the additions changes the result.
__device__ void add_digit(unsigned long long* digit, std::uint32_t part, bool negative) {
  const unsigned long long value = part;
  if (part != 0) atomicAdd(digit, negative ? 0ULL - value : value);
}

// high 2^64 + low < 2^107 in units of 2^(bit - digit_origin).
__device__ void add_bits(block_sums& to, std::uint64_t high, std::uint64_t low, int bit, bool negative) {
  unsigned long long* digit = to.digit + bit / 32;
  const int shift = bit % 32;
  const std::uint32_t words[4] = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                                  static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  add_digit(digit, words[0] << shift, negative);
  for (int k = 1; k < 4; ++k) add_digit(digit + k, __funnelshift_l(words[k - 1], words[k], shift), negative);
  add_digit(digit + 4, __funnelshift_l(words[3], 0, shift), negative);
}

// x = mantissa 2^(bit - digit_origin / 2)
struct parts {
  std::uint64_t mantissa;
  int bit;
  bool negative;
};
__device__ parts parts_of(double x) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(x));
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  const bool normal = biased != 0;
  return {fraction | std::uint64_t{normal} << 52, biased - normal + 14, (bits >> 63) != 0};
}

__device__ void add_number(block_sums& to, double x) {
  const parts p = parts_of(x);
  add_bits(to, 0, p.mantissa, p.bit + digit_origin / 2, p.negative);
}

template <class T, summand What>
__device__ void add_slowly(block_sums& to, T x, T y) {
  if (const unsigned mark = mark_of(disturbance<T, What>(x, y)); mark != 0) {
    atomicOr(&to.marks, static_cast<unsigned long long>(mark));
  } else if constexpr (What == summand::number || What == summand::magnitude) {
    add_number(to, What == summand::number ? double{x} : fabs(double{x}));
  } else {
    const parts p = parts_of(double{x}), q = parts_of(double{What == summand::square ? x : y});
    add_bits(to, __umul64hi(p.mantissa, q.mantissa), p.mantissa * q.mantissa, p.bit + q.bit,
             p.negative != q.negative);
  }
}

// Orders numbers as far as an exponent needs it: one more than the upper half of the bits, 1 for numbers below
// 2^-1042, which have a lower half alone, and 0 for 0.
__device__ unsigned rank_of(double x) {
  const auto high = static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffU;
  return high != 0 ? high + 1 : __double2loint(x) != 0;
}

// A power of two at least 2^12 times all numbers of this rank and, but for the factor, close to the largest.
__device__ double sigma_of(unsigned rank) {
  if (rank == 1) return 0x1p-1030;
  const int exponent = ::max(1, static_cast<int>((rank - 1) >> 20)) + 1 + chunk_bits;
  return __hiloint2double(exponent << 20, 0);
}

// The block's largest rank, in all its threads.
__device__ unsigned largest_rank(unsigned mine, unsigned* shared) {
  mine = __reduce_max_sync(~0U, mine);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = shared[threadIdx.x % (block / 32)];
  return __reduce_max_sync(~0U, mine);
}

// The exact sum of a chunk: as on the CPU every fold takes the bits above the last one of a power of two from
// all terms, and sums of these parts are exact in any order.
__device__ void fold_chunk(double (&terms)[terms_a_thread], block_sums& sums, unsigned* ranks,
                           double* partial) {
  for (;;) {
    unsigned rank = 0;
    for (const double t : terms) rank = ::max(rank, rank_of(t));
    rank = largest_rank(rank, ranks);
    if (rank == 0) return;
    const double sigma = sigma_of(rank);
    double sum = 0;
    for (double& t : terms) {
      const double high = (t + sigma) - sigma;
      sum += high;
      t -= high;
    }
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0U, sum, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      double all = 0;
      for (unsigned w = 0; w < block / 32; ++w) all += partial[w];
      add_number(sums, all);
    }
  }
}

// A block takes every (grid)-th chunk of 4096 terms, 16 a thread in registers, and folds them into digits in
// shared memory, which it adds to the common ones at its end. Bound by memory: two or three folds of four
// additions a term. Bits never change.
template <class T, summand What>
__global__ void __launch_bounds__(block) sum_exactly(view<const T> x, view<const T> y, block_sums* result) {
  __shared__ block_sums sums;
  __shared__ unsigned ranks[block / 32];
  __shared__ double partial[block / 32];
  constexpr int each = terms_each<T, What>, mine = terms_a_thread / each;
  for (unsigned k = threadIdx.x; k < digit_count; k += block) sums.digit[k] = 0;
  if (threadIdx.x == 0) sums.marks = 0;
  __syncthreads();
  constexpr std::int64_t chunk = std::int64_t{block} * mine;
  for (std::int64_t first = blockIdx.x * chunk; first < x.size(); first += gridDim.x * chunk) {
    double terms[terms_a_thread];
    bool good = true;
#pragma unroll
    for (int k = 0; k < mine; ++k) {
      const std::int64_t i = first + std::int64_t{k} * block + threadIdx.x;
      const bool inside = i < x.size();
      const T a = inside ? x[i] : T{};
      const T b = inside && What == summand::product ? y[i] : a;
      good &= split<T, What>(a, b, terms + k * each);
    }
    if (__syncthreads_and(good)) {
      fold_chunk(terms, sums, ranks, partial);
    } else {
      for (int k = 0; k < mine; ++k) {
        const std::int64_t i = first + std::int64_t{k} * block + threadIdx.x;
        if (i < x.size()) add_slowly<T, What>(sums, x[i], What == summand::product ? y[i] : x[i]);
      }
    }
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < digit_count; k += block)
    if (sums.digit[k] != 0) atomicAdd(&result->digit[k], sums.digit[k]);
  if (threadIdx.x == 0 && sums.marks != 0) atomicOr(&result->marks, sums.marks);
}

}  // namespace

template <real T, summand What>
unsigned digits_cuda(const device& dev, view<const T> x, view<const T> y, std::int64_t* digits) {
  constexpr std::int64_t chunk = std::int64_t{block} * (terms_a_thread / terms_each<T, What>);
  auto result = array<block_sums>::zeros(dev, 1);
  const std::int64_t blocks = std::min(ceil_div(x.size(), chunk), std::int64_t{4} * dev.processors());
  launch(dev, "sum_exactly", {blocks, block}, sum_exactly<T, What>, x, y, result.data());
  const block_sums sums = result.to_vector().front();
  for (int k = 0; k < digit_count; ++k) digits[k] = static_cast<std::int64_t>(sums.digit[k]);
  return static_cast<unsigned>(sums.marks);
}

#define VOUCH_DIGITS(T, What) \
  template unsigned digits_cuda<T, summand::What>(const device&, view<const T>, view<const T>, std::int64_t*);
VOUCH_DIGITS(float, number)
VOUCH_DIGITS(float, magnitude)
VOUCH_DIGITS(float, square)
VOUCH_DIGITS(float, product)
VOUCH_DIGITS(double, number)
VOUCH_DIGITS(double, magnitude)
VOUCH_DIGITS(double, square)
VOUCH_DIGITS(double, product)

}  // namespace vouch::detail
