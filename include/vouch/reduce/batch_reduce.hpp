// vouch/reduce/batch_reduce.hpp -- many small matrices in memory, reduced element by element.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/int128.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

template <class T>
concept batch_scalar = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || real<T>;

enum class batch_layout {
  matrix_after_matrix,   // data[m * elements + e]
  element_after_element  // data[e * count + m]
};

/// count matrices of `elements` numbers each; aligned as T is.
template <batch_scalar T>
struct matrix_batch {
  const T* data = nullptr;
  std::int64_t count = 0;
  std::int64_t elements = 0;
  batch_layout layout = batch_layout::matrix_after_matrix;
};

/// What is gathered: fewer parts, less work.
enum class batch_parts : unsigned { min = 1, max = 2, sum = 4, all = 7 };

/// What is known of one element over all matrices.
template <batch_scalar T>
struct element_summary {
  using sum_type = std::conditional_t<std::integral<T>, int128, double>;
  T min{};
  T max{};
  sum_type sum{};
  double rest = 0;  // of reals: what the sum lacks of itself in twice the precision
};

/// Reduces batches on one device, again and again without allocating.
///
/// Memory  On a GPU up to 18 MB, on the CPU up to 4 MB and 64 bytes an element and thread.
template <batch_scalar T>
class batch_reducer {
 public:
  explicit batch_reducer(const device& dev);

  /// results[e] := minimum, maximum and sum of element e; parts that were not asked for are unspecified. On a
  /// GPU in stream order: it returns before the results are there.
  ///
  /// Shapes  results has batch.elements elements; count and elements are positive.
  /// Memory  The batch and the results live on dev.
  /// Result  Minimum, maximum and integer sums are exact. Sums of float are formed in double, those of double
  ///         in twice the precision, in an order that shape, layout, alignment and device fix: the same bits on
  ///         every run, on the CPU for any number of threads. They err by at most (n + 16) 2^-53 sum |x| and
  ///         2^-53 |sum| + n^2 2^-104 sum |x|, n being the count. NaN passes minimum and maximum by: where
  ///         there is nothing else they are infinite; it makes the sum NaN.
  /// Cost    One pass: count * elements * sizeof(T) bytes read.
  /// Throws  shape_error   a size that is not positive or does not fit
  ///         device_error  the launch failed; the text names the kernel
  void operator()(const matrix_batch<T>& batch, batch_parts parts, view<element_summary<T>> results);

 private:
  device dev_;
  array<std::byte> scratch_;  // of a GPU; its first bytes are counters that every call leaves zero
};

/// The same once, into host memory.
///
/// Memory  The batch lives on dev.
template <batch_scalar T>
std::vector<element_summary<T>> reduce_batch(const device& dev, const matrix_batch<T>& batch,
                                             batch_parts parts = batch_parts::all);

/// A batch in host memory reduced by a group, whose devices take blocks of up to 4 MB.
///
/// Result  As batch_reducer, sums of blocks being added in twice the precision: the bits of one GPU, but for the last
///         one of sums of reals not those of a batch that lives there.
/// Cost    Bound by the links to the GPUs, as far as eight host threads a GPU can feed them.
/// Throws  shape_error, device_error; cancelled
template <batch_scalar T>
std::vector<element_summary<T>> reduce_batch(const device_group& devices, const matrix_batch<T>& batch,
                                             batch_parts parts = batch_parts::all);

namespace detail {

/// Of a build with CUDA: scratch for any batch, to be zero before the first call on it.
std::size_t batch_scratch_bytes(const device& gpu);

template <batch_scalar T>
void reduce_batch_cuda(const device& gpu, const matrix_batch<T>& batch, batch_parts parts, std::byte* scratch,
                       view<element_summary<T>> results);

}  // namespace detail

}  // namespace vouch
