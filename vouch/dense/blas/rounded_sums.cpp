#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/rounded_terms.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/rounded_sums.hpp>
#include <vouch/interval/exact_sums.hpp>

namespace vouch {
namespace {

using namespace detail;

constexpr int block_bits = 11;
constexpr int block_terms = 1 << block_bits;
constexpr int most_folds = 64;  // each takes 42 bits of the 2098 that terms span

typedef std::int64_t word_lanes __attribute__((vector_size(64)));

VOUCH_SIMD_INLINE lanes<double> widened(const double* from) {
  lanes<double> v;
  load<double>(v, from);
  return v;
}
VOUCH_SIMD_INLINE lanes<double> widened(const float* from) {
  lanes<double> v;
  for (int l = 0; l < 8; ++l) v[l] = double{from[l]};
  return v;
}
VOUCH_SIMD_INLINE lanes<double> magnitude(const lanes<double>& v) {
  return reinterpret_cast<lanes<double>>(reinterpret_cast<word_lanes>(v) &
                                         std::numeric_limits<std::int64_t>::max());
}

// Larger numbers have larger bits, infinities and NaNs the largest.
VOUCH_SIMD_INLINE void raise(word_lanes& most, const lanes<double>& v) {
  const word_lanes size = reinterpret_cast<word_lanes>(magnitude(v));
  most = size > most ? size : most;
}

VOUCH_SIMD_INLINE std::int64_t largest_of(const word_lanes& most) {
  std::int64_t largest = 0;
  for (int l = 0; l < 8; ++l) largest = std::max<std::int64_t>(largest, most[l]);
  return largest;
}

// A whole block of elements as terms, 8 at a time. False where split() is false for one of them.
template <real T, summand What>
VOUCH_SIMD_INLINE bool split_block(const T* x, const T* y, double* __restrict terms) {
  constexpr bool with_errors = terms_each<T, What> == 2;
  word_lanes most = {};
  lanes<double> least = lanes<double>{} + 1;
  for (int i = 0; i < block_terms / terms_each<T, What>; i += 8) {
    const lanes<double> a = widened(x + i);
    if constexpr (What == summand::number || What == summand::magnitude) {
      raise(most, a);
      store<double>(terms + i, What == summand::number ? a : magnitude(a));
    } else {
      const lanes<double> b = What == summand::square ? a : widened(y + i);
      const lanes<double> p = a * b;
      raise(most, p);
      store<double>(terms + i, p);
      if constexpr (with_errors) {
        lanes<double> size = magnitude(p);
        const lanes<double> left = magnitude(a), right = magnitude(b);
        const lanes<double> smaller = left < right ? left : right;
        size = smaller == 0.0 ? least : size;
        least = size < least ? size : least;
      }
    }
  }
  if constexpr (with_errors) {
    const double* __restrict left = x;
    const double* __restrict right = What == summand::square ? x : y;
    double* __restrict errors = terms + block_terms / 2;
    for (int i = 0; i < block_terms / 2; ++i) errors[i] = __builtin_fma(left[i], right[i], -terms[i]);
  }
  for (int l = 0; l < 8; ++l)
    if (least[l] < smallest_product) return false;
  return largest_of(most) < std::bit_cast<std::int64_t>(largest_term);
}

#define VOUCH_SPLIT(T)                                                                                 \
  VOUCH_SIMD_CLONES bool split_terms(summand what, const T* x, const T* y, double* __restrict terms) { \
    switch (what) {                                                                                    \
      case summand::number:                                                                            \
        return split_block<T, summand::number>(x, y, terms);                                           \
      case summand::magnitude:                                                                         \
        return split_block<T, summand::magnitude>(x, y, terms);                                        \
      case summand::square:                                                                            \
        return split_block<T, summand::square>(x, y, terms);                                           \
      default:                                                                                         \
        return split_block<T, summand::product>(x, y, terms);                                          \
    }                                                                                                  \
  }
VOUCH_SPLIT(float)
VOUCH_SPLIT(double)
#undef VOUCH_SPLIT

VOUCH_SIMD_INLINE std::int64_t largest_of(const word_lanes (&most)[4]) {
  return std::max({largest_of(most[0]), largest_of(most[1]), largest_of(most[2]), largest_of(most[3])});
}

// Takes from every term its bits above the last one of sigma and returns the sum of these parts. With 2^11
// terms and |term| <= 2^-11 sigma all of it is exact; what remains is at most 2^-53 sigma.
VOUCH_SIMD_INLINE double fold(double* terms, double sigma, std::int64_t& largest) {
  lanes<double> sums[4] = {};
  word_lanes most[4] = {};
  for (int i = 0; i < block_terms; i += 32)
    for (int u = 0; u < 4; ++u) {
      lanes<double> v;
      load<double>(v, terms + i + 8 * u);
      const lanes<double> high = (v + sigma) - sigma;
      sums[u] += high;
      v -= high;
      store<double>(terms + i + 8 * u, v);
      raise(most[u], v);
    }
  largest = largest_of(most);
  return total<double>((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// The exact sum of a block of terms below largest_term as that of a few doubles; their number.
VOUCH_SIMD_CLONES int fold_terms(double* terms, double* parts) {
  word_lanes most[4] = {};
  for (int i = 0; i < block_terms; i += 32)
    for (int u = 0; u < 4; ++u) {
      lanes<double> v;
      load<double>(v, terms + i + 8 * u);
      raise(most[u], v);
    }
  std::int64_t largest = largest_of(most);
  int count = 0;
  while (largest != 0) {
    const int exponent = std::ilogb(std::bit_cast<double>(largest));
    parts[count++] = fold(terms, std::ldexp(1.0, exponent + 1 + block_bits), largest);
  }
  return count;
}

template <real T, summand What>
class exact_total {
 public:
  // Elements first to first + count - 1, at most a block.
  void add(view<const T> x, view<const T> y, std::int64_t first, std::int64_t count) {
    const T* a = contiguous(x, first, count, x_);
    const T* b = What == summand::product ? contiguous(y, first, count, y_) : a;
    if (!split_terms(What, a, b, terms_.data())) return add_slowly(a, b, count);
    std::array<double, most_folds> parts;
    const int folds = fold_terms(terms_.data(), parts.data());
    for (int k = 0; k < folds; ++k) sum_.add(0, parts[static_cast<std::size_t>(k)]);
  }
  void add_digits(std::span<const std::int64_t> digits, unsigned marks) {
    sum_.add_digits(0, digits);
    marks_ |= marks;
  }
  void merge(const exact_total& other) {
    sum_.merge(other.sum_);
    marks_ |= other.marks_;
  }
  rounded<T> value() const {
    using limits = std::numeric_limits<T>;
    const auto all = [](T v) { return rounded<T>{v, v, v}; };
    if ((marks_ & met_nan) != 0 || marks_ == (met_positive | met_negative)) return all(limits::quiet_NaN());
    if (marks_ != 0) return all(marks_ == met_positive ? limits::infinity() : -limits::infinity());
    const rounding::exact_number exactly = sum_.value(0);
    return {rounding::nearest_bound<T>(exactly, rounding::direction::down), nearest<T>(exactly),
            rounding::nearest_bound<T>(exactly, rounding::direction::up)};
  }

  static constexpr int block = block_terms / terms_each<T, What>;

 private:
  using buffer = std::array<T, block>;

  static const T* contiguous(view<const T> x, std::int64_t first, std::int64_t count, buffer& copy) {
    if (x.stride() == 1 && count == block) return x.data() + first;
    for (std::int64_t i = 0; i < count; ++i) copy[static_cast<std::size_t>(i)] = x[first + i];
    std::fill(copy.begin() + count, copy.end(), T{});
    return copy.data();
  }

  void add_slowly(const T* x, const T* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      if (const unsigned mark = mark_of(disturbance<T, What>(x[i], y[i])); mark != 0)
        marks_ |= mark;
      else if constexpr (What == summand::number)
        sum_.add(0, double{x[i]});
      else if constexpr (What == summand::magnitude)
        sum_.add(0, std::fabs(double{x[i]}));
      else
        sum_.add_product(0, double{x[i]}, double{What == summand::square ? x[i] : y[i]});
  }

  exact_sums sum_{1, digit_origin};
  unsigned marks_ = 0;
  alignas(64) std::array<double, block_terms> terms_;
  alignas(64) buffer x_, y_;
};

template <real T, summand What>
rounded<T> on_cpu(const device& dev, view<const T> x, view<const T> y) {
  using partial = exact_total<T, What>;
  const std::int64_t blocks = ceil_div<std::int64_t>(x.size(), partial::block);
  auto all = std::make_unique<partial>();
#pragma omp parallel firstprivate(ieee) num_threads(dev.threads()) if (blocks > 8)
  {
    const auto mine = std::make_unique<partial>();
#pragma omp for schedule(static) nowait
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t first = b * partial::block;
      mine->add(x, y, first, std::min<std::int64_t>(partial::block, x.size() - first));
    }
#pragma omp critical(vouch_rounded_sums)
    all->merge(*mine);
  }
  return all->value();
}

// Digits of 63 bits hold 2^30 terms of 32 bits and their carries.
template <real T, summand What>
rounded<T> on_gpu(const device& dev, view<const T> x, view<const T> y) {
  constexpr std::int64_t at_once = std::int64_t{1} << 29;
  auto all = std::make_unique<exact_total<T, What>>();
  for (std::int64_t first = 0; first < x.size(); first += at_once) {
    const std::int64_t count = std::min(at_once, x.size() - first);
    const auto part = [&](view<const T> v) { return view<const T>{&v[first], count, v.stride()}; };
    std::array<std::int64_t, digit_count> digits;
    const unsigned marks = digits_cuda<T, What>(dev, part(x), part(y), digits.data());
    all->add_digits(digits, marks);
  }
  return all->value();
}

template <summand What, real T>
rounded<T> rounded_of(const device& dev, const char* routine, view<const T> x, view<const T> y) {
  require_reachable(dev, routine, x, y);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return on_gpu<T, What>(dev, x, y);
  return on_cpu<T, What>(dev, x, y);
}

}  // namespace

template <real T>
rounded<T> rounded_sum(const device& dev, view<const T> x) {
  const ieee_environment here;
  return rounded_of<summand::number>(dev, "rounded_sum", x, x);
}

template <real T>
rounded<T> rounded_sum_abs(const device& dev, view<const T> x) {
  const ieee_environment here;
  return rounded_of<summand::magnitude>(dev, "rounded_sum_abs", x, x);
}

template <real T>
rounded<T> rounded_sum_square(const device& dev, view<const T> x) {
  const ieee_environment here;
  return rounded_of<summand::square>(dev, "rounded_sum_square", x, x);
}

template <real T>
rounded<T> rounded_dot(const device& dev, view<const T> x, view<const T> y) {
  const ieee_environment here;
  require_size("rounded_dot", "y", y.size(), x.size());
  return rounded_of<summand::product>(dev, "rounded_dot", x, y);
}

#define VOUCH_ROUNDED_SUMS(T)                                                        \
  template VOUCH_PUBLIC rounded<T> rounded_sum(const device&, view<const T>);        \
  template VOUCH_PUBLIC rounded<T> rounded_sum_abs(const device&, view<const T>);    \
  template VOUCH_PUBLIC rounded<T> rounded_sum_square(const device&, view<const T>); \
  template VOUCH_PUBLIC rounded<T> rounded_dot(const device&, view<const T>, view<const T>);

VOUCH_ROUNDED_SUMS(float)
VOUCH_ROUNDED_SUMS(double)

}  // namespace vouch
