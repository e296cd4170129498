#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {
namespace {

template <class Body>
void parallel_for(const device& dev, std::int64_t n, Body body) {
  const int threads = n < 65536 ? 1 : dev.threads();
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (threads > 1)
  for (std::int64_t i = 0; i < n; ++i) body(i);
}

}  // namespace

template <real T>
void accumulate_pair(const device& dev, T* hi, T* lo, const T* d, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return accumulate_pair_cuda(dev, hi, lo, d, n);
  parallel_for(dev, n, [=](std::int64_t i) { add_to_pair(hi[i], lo[i], d[i]); });
}

template <real T>
double sum_elements(const device& dev, const T* x, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return sum_elements_cuda(dev, x, n);
  constexpr std::int64_t piece = 65536;
  std::vector<double_double<double>> sums(static_cast<std::size_t>(ceil_div(n, piece)));
  parallel_for(dev, static_cast<std::int64_t>(sums.size()), [&](std::int64_t p) {
    double_double<double> sum;
    for (std::int64_t i = p * piece; i < std::min(n, (p + 1) * piece); ++i)
      sum = sum + static_cast<double>(x[i]);
    sums[static_cast<std::size_t>(p)] = sum;
  });
  double_double<double> all;
  for (const double_double<double>& sum : sums) all = all + sum;
  return all.hi;
}

template <real T>
void add_constant(const device& dev, T* x, double c, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return add_constant_cuda(dev, x, c, n);
  parallel_for(dev, n, [=](std::int64_t i) { x[i] = static_cast<T>(static_cast<double>(x[i]) + c); });
}

template <real T>
void fill(const device& dev, T* x, T c, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return fill_cuda(dev, x, c, n);
  parallel_for(dev, n, [=](std::int64_t i) { x[i] = c; });
}

template <real T>
void scale(const device& dev, T* x, T c, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return scale_cuda(dev, x, c, n);
  parallel_for(dev, n, [=](std::int64_t i) { x[i] *= c; });
}

template <real T>
void fill_hashed(const device& dev, std::uint64_t stream, view<T> x) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return fill_hashed_cuda(dev, stream, x);
  T* const to = x.data();
  parallel_for(dev, x.size(), [=](std::int64_t i) { to[i] = hashed_element<T>(stream, i); });
}

template <real T>
void axpby(const device& dev, T a, const T* x, T b, T* y, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return axpby_cuda(dev, a, x, b, y, n);
  parallel_for(dev, n, [=](std::int64_t i) { y[i] = a * x[i] + b * y[i]; });
}

template <real To, real From>
void convert(const device& dev, To* y, const From* x, std::int64_t n) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return convert_cuda(dev, y, x, n);
  parallel_for(dev, n, [=](std::int64_t i) { y[i] = static_cast<To>(x[i]); });
}

template <real T>
double largest_magnitude(const device& dev, view<const T> v) {
  const std::int64_t at = iamax<T>(dev, v);
  T value{};
  if (at >= 0) copy_bytes(&value, device::cpu(1), v.data() + at, dev, sizeof value);
  return std::fabs(static_cast<double>(value));
}

template <real T>
int exponent_of(const device& dev, view<const T> v) {
  const double largest = largest_magnitude<T>(dev, v);
  return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

template void convert(const device&, float*, const double*, std::int64_t);
template void convert(const device&, double*, const float*, std::int64_t);
template void accumulate_pair(const device&, float*, float*, const float*, std::int64_t);
template void accumulate_pair(const device&, double*, double*, const double*, std::int64_t);
template double largest_magnitude(const device&, view<const float>);
template double largest_magnitude(const device&, view<const double>);
template int exponent_of(const device&, view<const float>);
template int exponent_of(const device&, view<const double>);
template double sum_elements(const device&, const float*, std::int64_t);
template double sum_elements(const device&, const double*, std::int64_t);
template void add_constant(const device&, float*, double, std::int64_t);
template void add_constant(const device&, double*, double, std::int64_t);
template VOUCH_PUBLIC void scale(const device&, float*, float, std::int64_t);
template VOUCH_PUBLIC void scale(const device&, double*, double, std::int64_t);
template void axpby(const device&, float, const float*, float, float*, std::int64_t);
template void axpby(const device&, double, const double*, double, double*, std::int64_t);
template void fill_hashed(const device&, std::uint64_t, view<float>);
template void fill_hashed(const device&, std::uint64_t, view<double>);
template void fill(const device&, float*, float, std::int64_t);
template void fill(const device&, double*, double, std::int64_t);

}  // namespace vouch
