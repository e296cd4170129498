// vouch/core/memory.hpp -- raw memory of a device: the only place that allocates, for array<T> alone.
#pragma once
#include <cstddef>
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Bytes on a device, nullptr for none; deallocate() takes the same device and number back.
///
/// Memory  64-byte aligned on the CPU, 256-byte on a GPU; uninitialised.
/// Throws  out_of_memory  with the bytes asked and free
std::byte* allocate(const device& dev, std::size_t bytes);
void deallocate(const device& dev, std::byte* memory, std::size_t bytes) noexcept;

/// Throws  out_of_memory  naming dev, what it has free and the bytes asked; what allocate() does when it must
[[noreturn]] void throw_out_of_memory(const device& dev, std::int64_t bytes_asked);

/// Throws  value_error  of an array of fewer than no elements
[[noreturn]] void throw_negative_size(std::int64_t size);

/// Copies bytes between devices and waits until they are there.
void copy_bytes(void* to, const device& to_device, const void* from, const device& from_device,
                std::size_t bytes);

/// Sets bytes to zero; in stream order on a GPU, with all threads on the CPU.
void zero_bytes(const device& dev, void* to, std::size_t bytes);

/// Whether a device can access what a pointer points to: on the CPU anything but a GPU's memory, on a GPU its own,
/// pinned and managed memory. Asks CUDA only where it is in use.
bool is_accessible(const device& dev, const void* p);

}  // namespace vouch
