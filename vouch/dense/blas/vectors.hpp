// vouch/dense/blas/vectors.hpp -- strided vectors in contiguous pieces, and checks of arguments; private.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas/summation.hpp>
#include <vouch/dense/types.hpp>

namespace vouch::detail {

/// Elements first to first + count - 1 of a vector, side by side.
template <class T>
class gathered {
  using value = std::remove_const_t<T>;

 public:
  gathered(view<T> x, std::int64_t first, std::int64_t count) : from_(x), first_(first), count_(count) {
    if (x.stride() == 1) return;
    buffer_.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) buffer_[static_cast<std::size_t>(i)] = x[first + i];
  }
  T* data() { return from_.stride() == 1 ? from_.data() + first_ : buffer_.data(); }
  /// Back to where they came from; nothing to do for a contiguous vector.
  void scatter() {
    if (from_.stride() == 1) return;
    for (std::int64_t i = 0; i < count_; ++i) from_[first_ + i] = buffer_[static_cast<std::size_t>(i)];
  }

 private:
  view<T> from_;
  std::int64_t first_;
  std::int64_t count_;
  std::vector<value> buffer_;
};

template <class T>
gathered<T> whole(view<T> x) {
  return {x, 0, x.size()};
}

inline void require_size(const char* routine, const char* what, std::int64_t size, std::int64_t wanted) {
  if (size != wanted)
    throw shape_error(std::string(routine) + ": " + what + " has " + std::to_string(size) + " elements, not " +
                      std::to_string(wanted));
}

/// Runs body(piece) for all pieces of n elements with dev's threads.
template <class Body>
void for_pieces(const device& dev, std::int64_t n, const Body& body) {
  const std::int64_t pieces = piece_count(n);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (pieces > 1)
  for (std::int64_t piece = 0; piece < pieces; ++piece) body(piece);
}

}  // namespace vouch::detail
