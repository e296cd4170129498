// vouch/core/device_cuda.hpp -- the CUDA side of device and memory; private, defined only in CUDA builds.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device.hpp>

namespace vouch {

/// A new stream on GPU index. Throws no_cuda_error where there is no such GPU.
std::shared_ptr<void> cuda_open(int index);
/// Throws no_cuda_error where there is no such GPU, value_error where the stream is one of another.
void cuda_adopt(int index, void* stream);
void cuda_synchronize(const device& dev);
cuda_device_facts cuda_facts(int index);
int cuda_processors(int index);
std::vector<cuda_device_facts> cuda_list();
std::int64_t cuda_peak_bytes();

std::byte* cuda_allocate(const device& dev, std::size_t bytes);
void cuda_deallocate(const device& dev, std::byte* memory, std::size_t bytes) noexcept;
void cuda_copy(void* to, const device& to_device, const void* from, const device& from_device,
               std::size_t bytes);
void cuda_zero(const device& dev, void* to, std::size_t bytes);
/// Whether cuda_share_memory(owner, user) does.
bool cuda_can_share(int owner, int user);
/// Lets kernels on GPU `user` read and write all arrays on GPU `owner`.
/// Throws  no_cuda_error  where the hardware does not
void cuda_share_memory(int owner, int user);
bool cuda_is_accessible(const device& dev, const void* p);
/// Host memory that all GPUs copy to and from at the speed of their links; nobody frees it.
/// Throws  device_error  there is none
std::byte* cuda_pinned_memory(std::size_t bytes);

}  // namespace vouch
