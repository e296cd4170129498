// vouch/core/array.hpp -- the one owning container: contiguous elements on a device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/core/memory.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// size() elements of T on where(). Move-only; copying is spelled out: a.to(dev). What was moved from is empty.
///
/// Memory  Uninitialised unless made by zeros(), from() or to(). begin(), end() and operator[] are for
///         arrays on the CPU. On a GPU memory is taken and given back in the order of the device's stream; work
///         on another stream that still uses it must have ended.
/// Throws  out_of_memory  with the bytes asked and free
template <class T>
class array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  array() : device_(device::cpu(1)) {}
  array(const device& dev, std::int64_t size)
      : device_(dev), bytes_(allocate(dev, byte_count(dev, size))), size_(size) {}
  array(array&& other) noexcept
      : device_(other.device_),
        bytes_(std::exchange(other.bytes_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  array& operator=(array&& other) noexcept {
    array taken(std::move(other));
    std::swap(device_, taken.device_);
    std::swap(bytes_, taken.bytes_);
    std::swap(size_, taken.size_);
    return *this;
  }
  ~array() {
    if (bytes_ != nullptr) deallocate(device_, bytes_, static_cast<std::size_t>(size_) * sizeof(T));
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;

  static array zeros(const device& dev, std::int64_t size) {
    array a(dev, size);
    zero_bytes(dev, a.data(), byte_count(dev, size));
    return a;
  }
  /// A copy of host elements on dev.
  static array from(const device& dev, std::span<const T> elements) {
    array a(dev, static_cast<std::int64_t>(elements.size()));
    copy_bytes(a.data(), dev, elements.data(), device::cpu(1), elements.size_bytes());
    return a;
  }
  /// A copy on dev, complete on return.
  array to(const device& dev) const {
    array a(dev, size_);
    copy_bytes(a.data(), dev, data(), device_, byte_count(device_, size_));
    return a;
  }
  /// A copy of the elements in host memory.
  std::vector<T> to_vector() const {
    std::vector<T> v(static_cast<std::size_t>(size_));
    copy_bytes(v.data(), device::cpu(1), data(), device_, byte_count(device_, size_));
    return v;
  }

  T* data() { return reinterpret_cast<T*>(bytes_); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_); }
  std::int64_t size() const { return size_; }
  const device& where() const { return device_; }

  view<T> all() { return {data(), size_}; }
  view<const T> all() const { return {data(), size_}; }
  operator view<T>() { return all(); }
  operator view<const T>() const { return all(); }

  T& operator[](std::int64_t i) { return data()[i]; }
  const T& operator[](std::int64_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

 private:
  static std::size_t byte_count(const device& dev, std::int64_t size) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (size < 0) throw_negative_size(size);
    if (size > most / static_cast<std::int64_t>(sizeof(T))) throw_out_of_memory(dev, most);
    return static_cast<std::size_t>(size) * sizeof(T);
  }

  device device_;
  std::byte* bytes_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace vouch
