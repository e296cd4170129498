#include <vouch/reduce/batch_reduce.hpp>

#include <algorithm>
#include <limits>

#include <vouch/core/config.hpp>
#include <vouch/core/double_double.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/reduce/element_total.hpp>

namespace vouch {
namespace {

using detail::element_total;

constexpr std::int64_t most_lanes = 1024;      // but for larger matrices
constexpr std::int64_t large_matrix = 8192;    // from here on threads share the elements, not the matrices
constexpr std::int64_t elements_a_job = 4096;  // of such
constexpr std::int64_t bytes_a_job = 1 << 20;
constexpr std::int64_t most_parts = 1 << 17;  // that are kept for all jobs

bool wants(batch_parts parts, batch_parts part) {
  return (static_cast<unsigned>(parts) & static_cast<unsigned>(part)) != 0;
}

template <class T>
using lane_sum = std::conditional_t<std::integral<T>, std::int64_t, double>;

template <class T>
VOUCH_SIMD_INLINE void fold_min(T* __restrict to, const T* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = v[k] < to[k] ? v[k] : to[k];
}
template <class T>
VOUCH_SIMD_INLINE void fold_max(T* __restrict to, const T* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = v[k] > to[k] ? v[k] : to[k];
}
// Sums are high for int32 and float, high * 2^32 + low for int64, high + low for double.
template <class T>
VOUCH_SIMD_INLINE void fold_sum(lane_sum<T>* __restrict high, lane_sum<T>* __restrict low,
                                const T* __restrict v, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    if constexpr (std::same_as<T, std::int64_t>) {
      high[k] += v[k] >> 32;
      low[k] += v[k] & 0xffffffff;
    } else if constexpr (std::same_as<T, double>) {
      const double_double<double> s = two_sum(high[k], v[k]);
      high[k] = s.hi;
      low[k] += s.lo;
    } else {
      high[k] += v[k];
    }
  }
}

template <class T>
struct lane_pointers {
  T* min;
  T* max;
  lane_sum<T>* high;
  lane_sum<T>* low;
};

template <class T>
VOUCH_SIMD_INLINE void fold_all(const lane_pointers<T>& to, const T* v, std::int64_t n, batch_parts parts) {
  if (wants(parts, batch_parts::min)) fold_min(to.min, v, n);
  if (wants(parts, batch_parts::max)) fold_max(to.max, v, n);
  if (wants(parts, batch_parts::sum)) fold_sum(to.high, to.low, v, n);
}

// Clones cannot be templates.
VOUCH_SIMD_CLONES void fold(const lane_pointers<std::int32_t>& to, const std::int32_t* v, std::int64_t n,
                            batch_parts parts) {
  fold_all(to, v, n, parts);
}
VOUCH_SIMD_CLONES void fold(const lane_pointers<std::int64_t>& to, const std::int64_t* v, std::int64_t n,
                            batch_parts parts) {
  fold_all(to, v, n, parts);
}
VOUCH_SIMD_CLONES void fold(const lane_pointers<float>& to, const float* v, std::int64_t n, batch_parts parts) {
  fold_all(to, v, n, parts);
}
VOUCH_SIMD_CLONES void fold(const lane_pointers<double>& to, const double* v, std::int64_t n,
                            batch_parts parts) {
  fold_all(to, v, n, parts);
}

// Values folded side by side.
template <class T>
class lanes {
 public:
  explicit lanes(std::int64_t count)
      : min_(size(count), element_total<T>{}.min),
        max_(size(count), element_total<T>{}.max),
        high_(size(count)),
        low_(size(count)) {}

  void take(const T* values, std::int64_t count, batch_parts parts) {
    const auto width = static_cast<std::int64_t>(min_.size());
    for (std::int64_t k = 0; k < count; k += width)
      fold({min_.data(), max_.data(), high_.data(), low_.data()}, values + k, std::min(width, count - k),
           parts);
  }
  /// Joins lane k to totals[k % elements].
  void into(element_total<T>* totals, std::int64_t elements) const {
    for (std::size_t k = 0; k < min_.size(); ++k)
      totals[static_cast<std::int64_t>(k) % elements].join({min_[k], max_[k], sum(k)});
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  typename element_total<T>::sum_type sum(std::size_t k) const {
    if constexpr (std::integral<T>)
      return std::same_as<T, std::int32_t> ? int128{high_[k]}
                                           : int128{high_[k]} * (std::int64_t{1} << 32) + low_[k];
    else
      return two_sum(high_[k], low_[k]);
  }

  std::vector<T> min_, max_;
  std::vector<lane_sum<T>> high_, low_;
};

// Jobs are cut by the shape alone, and joined in order: no bit depends on the threads.
template <class T>
class cpu_batch {
 public:
  cpu_batch(const device& cpu, const matrix_batch<T>& batch, batch_parts parts)
      : cpu_(cpu), batch_(batch), parts_(parts) {}

  void run(view<element_summary<T>> results) const {
    if (batch_.layout == batch_layout::element_after_element)
      by_segments(results);
    else if (batch_.elements < large_matrix)
      by_matrices(results);
    else
      by_columns(results);
  }

 private:
  static std::int64_t jobs_for(std::int64_t values, std::int64_t most) {
    const std::int64_t wanted = ceil_div<std::int64_t>(values, bytes_a_job / sizeof(T));
    return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(most, 1));
  }

  void by_matrices(view<element_summary<T>> results) const {
    const std::int64_t n = batch_.elements;
    const std::int64_t share = ceil_div(batch_.count, jobs_for(batch_.count * n, most_parts / n));
    const std::int64_t jobs = ceil_div(batch_.count, share);
    std::vector<element_total<T>> totals(static_cast<std::size_t>(jobs * n));
#pragma omp parallel for firstprivate(ieee) num_threads(cpu_.threads()) schedule(dynamic, 1)
    for (std::int64_t j = 0; j < jobs; ++j) {
      lanes<T> mine(n * std::max<std::int64_t>(1, most_lanes / n));
      mine.take(batch_.data + j * share * n, std::min(share, batch_.count - j * share) * n, parts_);
      mine.into(totals.data() + j * n, n);
    }
    for (std::int64_t e = 0; e < n; ++e) results[e] = joined(totals.data() + e, jobs, n);
  }

  void by_columns(view<element_summary<T>> results) const {
    const std::int64_t n = batch_.elements;
#pragma omp parallel for firstprivate(ieee) num_threads(cpu_.threads()) schedule(dynamic, 1)
    for (std::int64_t first = 0; first < n; first += elements_a_job) {
      const std::int64_t width = std::min(elements_a_job, n - first);
      lanes<T> mine(width);
      for (std::int64_t m = 0; m < batch_.count; ++m) mine.take(batch_.data + m * n + first, width, parts_);
      std::vector<element_total<T>> totals(static_cast<std::size_t>(width));
      mine.into(totals.data(), width);
      for (std::int64_t e = 0; e < width; ++e)
        results[first + e] = totals[static_cast<std::size_t>(e)].summary();
    }
  }

  void by_segments(view<element_summary<T>> results) const {
    const std::int64_t share = ceil_div(batch_.count, jobs_for(batch_.count, most_parts / batch_.elements));
    const std::int64_t jobs = ceil_div(batch_.count, share);  // for each element
    std::vector<element_total<T>> totals(static_cast<std::size_t>(jobs * batch_.elements));
#pragma omp parallel for firstprivate(ieee) num_threads(cpu_.threads()) schedule(dynamic, 1)
    for (std::int64_t j = 0; j < jobs * batch_.elements; ++j) {
      const std::int64_t first = j % jobs * share, width = std::min(share, batch_.count - first);
      lanes<T> mine(std::min(most_lanes, width));
      mine.take(batch_.data + j / jobs * batch_.count + first, width, parts_);
      mine.into(totals.data() + j, 1);
    }
    for (std::int64_t e = 0; e < batch_.elements; ++e) results[e] = joined(totals.data() + e * jobs, jobs, 1);
  }

  static element_summary<T> joined(const element_total<T>* totals, std::int64_t count, std::int64_t stride) {
    element_total<T> all;
    for (std::int64_t k = 0; k < count; ++k) all.join(totals[k * stride]);
    return all.summary();
  }

  const device& cpu_;
  const matrix_batch<T>& batch_;
  batch_parts parts_;
};

array<std::byte> scratch_for(const device& dev) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda())
      return array<std::byte>::zeros(dev, static_cast<std::int64_t>(detail::batch_scratch_bytes(dev)));
  return {};
}

}  // namespace

template <batch_scalar T>
batch_reducer<T>::batch_reducer(const device& dev) : dev_(dev), scratch_(scratch_for(dev)) {}

template <batch_scalar T>
void batch_reducer<T>::operator()(const matrix_batch<T>& batch, batch_parts parts,
                                  view<element_summary<T>> results) {
  const ieee_environment here;
  detail::check_batch(batch, results.size());
  if constexpr (built_with_cuda)
    if (dev_.is_cuda()) return detail::reduce_batch_cuda(dev_, batch, parts, scratch_.data(), results);
  cpu_batch<T>(dev_, batch, parts).run(results);
}

template <batch_scalar T>
std::vector<element_summary<T>> reduce_batch(const device& dev, const matrix_batch<T>& batch,
                                             batch_parts parts) {
  const ieee_environment here;
  detail::check_batch(batch, batch.elements);
  array<element_summary<T>> results(dev, batch.elements);
  batch_reducer<T> reduce(dev);
  reduce(batch, parts, results);
  return results.to_vector();
}

template class batch_reducer<std::int32_t>;
template class batch_reducer<std::int64_t>;
template class batch_reducer<float>;
template class batch_reducer<double>;
template VOUCH_PUBLIC std::vector<element_summary<std::int32_t>> reduce_batch(const device&,
                                                                              const matrix_batch<std::int32_t>&,
                                                                              batch_parts);
template VOUCH_PUBLIC std::vector<element_summary<std::int64_t>> reduce_batch(const device&,
                                                                              const matrix_batch<std::int64_t>&,
                                                                              batch_parts);
template VOUCH_PUBLIC std::vector<element_summary<float>> reduce_batch(const device&,
                                                                       const matrix_batch<float>&, batch_parts);
template VOUCH_PUBLIC std::vector<element_summary<double>> reduce_batch(const device&,
                                                                        const matrix_batch<double>&,
                                                                        batch_parts);

}  // namespace vouch
