// vouch/core/require.hpp -- what operations require of their vectors; private.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/view.hpp>

namespace vouch::detail {

/// Elements that are somewhere.
template <class T>
void require_data(const char* routine, const char* what, const T* data, std::int64_t elements) {
  if (elements > 0 && data == nullptr)
    throw value_error(std::string(routine) + ": " + what + " is null, and should have " +
                      std::to_string(elements) + " elements");
}

/// That many elements, side by side.
template <class T>
void require_contiguous(const char* routine, const char* what, view<T> x, std::int64_t wanted) {
  if (x.size() != wanted)
    throw shape_error(std::string(routine) + ": " + what + " has " + std::to_string(x.size()) +
                      " elements, not " + std::to_string(wanted));
  if (x.size() > 1 && x.stride() != 1)
    throw shape_error(std::string(routine) + ": " + what + " is not contiguous");
  require_data(routine, what, x.data(), x.size());
}

}  // namespace vouch::detail
