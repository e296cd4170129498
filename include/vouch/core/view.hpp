// vouch/core/view.hpp -- a strided piece of somebody else's vector.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// size elements, stride apart, from data. Passed by value; owns nothing and knows no device.
template <class T>
class view {
 public:
  constexpr view() = default;
  VOUCH_HOST_DEVICE constexpr view(T* data, std::int64_t size, std::int64_t stride = 1)
      : data_(data), size_(size), stride_(stride) {}
  /// A view of mutable elements is one of constant elements.
  template <class Mutable>
  requires(std::is_const_v<T>&& std::same_as<Mutable, std::remove_const_t<T>>) VOUCH_HOST_DEVICE
      constexpr view(view<Mutable> other)
      : data_(other.data()), size_(other.size()), stride_(other.stride()) {}

  VOUCH_HOST_DEVICE constexpr T* data() const { return data_; }
  VOUCH_HOST_DEVICE constexpr std::int64_t size() const { return size_; }
  VOUCH_HOST_DEVICE constexpr std::int64_t stride() const { return stride_; }
  VOUCH_HOST_DEVICE constexpr T& operator[](std::int64_t i) const { return data_[i * stride_]; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  std::int64_t stride_ = 1;
};

}  // namespace vouch
