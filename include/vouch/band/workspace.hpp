// vouch/band/workspace.hpp -- memory that solves of tridiagonal systems on a GPU use again.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Grows to what a solve needs, about 2 % of the matrix, and keeps it. One solve at a time may use it.
class tridiagonal_workspace {
 public:
  /// At least so many bytes on dev, with what they held before or anything.
  void* bytes(const device& dev, std::int64_t count) {
    if (held_.size() < count || held_.where() != dev) held_ = array<unsigned char>(dev, count);
    return held_.data();
  }

 private:
  array<unsigned char> held_;
};

}  // namespace vouch
