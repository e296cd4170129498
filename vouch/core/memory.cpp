#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/device_cuda.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/memory.hpp>

namespace vouch {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
// Linux promises memory it does not have; from this size on we ask it first what is there.
constexpr std::size_t worth_asking = std::size_t{32} << 20;

std::byte* cpu_allocate(const device& dev, std::size_t bytes) {
  if (bytes >= worth_asking && bytes > static_cast<std::size_t>(dev.memory_free()))
    throw_out_of_memory(dev, static_cast<std::int64_t>(bytes));
  const bool big = bytes >= 2 * huge_page;
  const std::size_t alignment = big ? huge_page : 64;
  const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, std::max(padded, alignment));
  if (memory == nullptr) throw_out_of_memory(dev, static_cast<std::int64_t>(bytes));
  if (big) madvise(memory, padded, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

std::byte* allocate(const device& dev, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return cuda_allocate(dev, bytes);
  return cpu_allocate(dev, bytes);
}

void deallocate(const device& dev, std::byte* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return cuda_deallocate(dev, memory, bytes);
  std::free(memory);
}

void throw_out_of_memory(const device& dev, std::int64_t bytes_asked) {
  const std::string where = dev.is_cuda() ? "GPU " + std::to_string(dev.index()) : "the host";
  throw out_of_memory(where, bytes_asked, dev.memory_free());
}

void throw_negative_size(std::int64_t size) {
  throw value_error("array: negative size " + std::to_string(size));
}

void copy_bytes(void* to, const device& to_device, const void* from, const device& from_device,
                std::size_t bytes) {
  if (bytes == 0) return;
  if constexpr (built_with_cuda)
    if (to_device.is_cuda() || from_device.is_cuda()) return cuda_copy(to, to_device, from, from_device, bytes);
  std::memcpy(to, from, bytes);
}

void zero_bytes(const device& dev, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return cuda_zero(dev, to, bytes);
  if (bytes < huge_page || dev.threads() == 1) {
    std::memset(to, 0, bytes);
    return;
  }
  const auto pieces = static_cast<std::int64_t>((bytes + huge_page - 1) / huge_page);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t k = 0; k < pieces; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * huge_page;
    std::memset(static_cast<std::byte*>(to) + first, 0, std::min(huge_page, bytes - first));
  }
}

bool is_accessible(const device& dev, const void* p) {
  if constexpr (built_with_cuda) return cuda_is_accessible(dev, p);
  return true;
}

}  // namespace vouch
