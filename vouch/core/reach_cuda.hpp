// vouch/core/reach_cuda.hpp -- the CUDA side of reach.hpp; private, defined only in CUDA builds.
#pragma once
#include <vouch/core/device.hpp>

namespace vouch {

bool cuda_reachable(const device& dev, const void* p);

}  // namespace vouch
