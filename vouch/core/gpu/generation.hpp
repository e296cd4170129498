// vouch/core/gpu/generation.hpp -- generations of GPUs: code for compute capability 9.0 has clusters of blocks, tensor
// memory accelerators and kernels that begin behind others; private, host and device.
#pragma once

namespace vouch {

class device;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Whether this device code is compiled for compute capability 9.0 or later.
inline constexpr bool compiled_for_sm90 = true;
#else
inline constexpr bool compiled_for_sm90 = false;
#endif

/// Whether the code that runs on dev, a GPU, is: engines that need clusters or tensor maps are taken only then.
bool runs_sm90_code(const device& dev);

}  // namespace vouch
