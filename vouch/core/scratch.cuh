// vouch/core/scratch.cuh -- memory for the time of a few kernels, in stream order: nobody waits.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <utility>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>
#include <vouch/core/memory.hpp>

namespace vouch {

namespace detail {

/// A pool of its own for each GPU, made on first use, which keeps up to a quarter of a gibibyte for next time.
cudaMemPool_t scratch_pool(int index);

}  // namespace detail

/// size() uninitialised elements on a GPU. Kernels launched on dev's stream before the end of its life may use
/// them to their own end.
///
/// Memory  256-byte aligned.
/// Throws  out_of_memory  with the bytes asked and free
template <class T>
class scratch {
 public:
  scratch() : device_(device::cpu(1)) {}
  scratch(const device& dev, std::int64_t size) : device_(dev), size_(size) {
    if (size == 0) return;
    if (size > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(T)))
      throw_out_of_memory(dev, std::numeric_limits<std::int64_t>::max());
    check(cudaSetDevice(dev.index()), "allocating GPU memory");
    const auto bytes = static_cast<std::size_t>(size) * sizeof(T);
    const cudaError_t code = cudaMallocFromPoolAsync(reinterpret_cast<void**>(&data_), bytes,
                                                     detail::scratch_pool(dev.index()), stream());
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw_out_of_memory(dev, static_cast<std::int64_t>(bytes));
    }
    check(code, "allocating GPU memory");
  }
  scratch(scratch&& other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  scratch& operator=(scratch&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~scratch() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream());
  }

  T* data() const { return data_; }
  std::int64_t size() const { return size_; }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(device_.stream()); }

  device device_;
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace vouch
