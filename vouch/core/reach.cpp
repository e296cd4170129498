#include <vouch/core/config.hpp>
#include <vouch/core/reach.hpp>
#include <vouch/core/reach_cuda.hpp>

namespace vouch {

bool reachable(const device& dev, const void* p) {
  if constexpr (built_with_cuda) return cuda_reachable(dev, p);
  return true;
}

}  // namespace vouch
