#include <vouch/core/launch.cuh>
#include <vouch/dense/elementwise_bodies.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

// A thread takes every (grid)-th element. Bound by memory.
template <class Body>
__global__ void __launch_bounds__(block) each_element(std::int64_t n, Body body) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    body(i);
}

}  // namespace

template <class Body>
void each_element_cuda(const device& dev, const char* name, std::int64_t n, const Body& body) {
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div<std::int64_t>(n, block), 16 * dev.processors());
  launch(dev, name, {blocks, block}, each_element<Body>, n, body);
}

#define VOUCH_EACH_ELEMENT(T)                                                                         \
  template void each_element_cuda(const device&, const char*, std::int64_t, const hulls<T>&);         \
  template void each_element_cuda(const device&, const char*, std::int64_t, const intersections<T>&); \
  template void each_element_cuda(const device&, const char*, std::int64_t, const midpoints<T>&);     \
  template void each_element_cuda(const device&, const char*, std::int64_t, const radii<T>&);

VOUCH_EACH_ELEMENT(float)
VOUCH_EACH_ELEMENT(double)

}  // namespace vouch::detail
