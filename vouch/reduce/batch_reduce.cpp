#include <limits>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/reduce/batch_reduce.hpp>
#include <vouch/reduce/batch_reduce_cpu.hpp>
#include <vouch/reduce/batch_reduce_cuda.hpp>

namespace vouch {
namespace {

template <batch_scalar T>
void check(const matrix_batch<T>& batch, std::int64_t results) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / sizeof(T);
  if (batch.count <= 0 || batch.elements <= 0 || batch.count > most / batch.elements)
    throw shape_error("reduce_batch: no batch has " + std::to_string(batch.count) + " matrices of " +
                      std::to_string(batch.elements) + " elements");
  if (results != batch.elements)
    throw shape_error("reduce_batch: " + std::to_string(results) + " results for matrices of " +
                      std::to_string(batch.elements) + " elements");
}

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
  check(batch, results.size());
  if constexpr (built_with_cuda)
    if (dev_.is_cuda()) return detail::reduce_batch_cuda(dev_, batch, parts, scratch_.data(), results);
  detail::reduce_batch_cpu(dev_, batch, parts, results);
}

template <batch_scalar T>
std::vector<element_summary<T>> reduce_batch(const device& dev, const matrix_batch<T>& batch,
                                             batch_parts parts) {
  const ieee_environment here;
  check(batch, batch.elements);
  array<element_summary<T>> results(dev, batch.elements);
  batch_reducer<T> reduce(dev);
  reduce(batch, parts, results);
  return results.to_vector();
}

template class batch_reducer<std::int32_t>;
template class batch_reducer<std::int64_t>;
template class batch_reducer<float>;
template class batch_reducer<double>;
template std::vector<element_summary<std::int32_t>> reduce_batch(const device&,
                                                                 const matrix_batch<std::int32_t>&,
                                                                 batch_parts);
template std::vector<element_summary<std::int64_t>> reduce_batch(const device&,
                                                                 const matrix_batch<std::int64_t>&,
                                                                 batch_parts);
template std::vector<element_summary<float>> reduce_batch(const device&, const matrix_batch<float>&,
                                                          batch_parts);
template std::vector<element_summary<double>> reduce_batch(const device&, const matrix_batch<double>&,
                                                           batch_parts);

}  // namespace vouch
