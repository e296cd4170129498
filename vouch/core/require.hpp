// vouch/core/require.hpp -- what operations require of their vectors; private.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/view.hpp>

namespace vouch::detail {

/// That many elements, side by side.
template <class T>
void require_contiguous(const char* routine, const char* what, view<T> x, std::int64_t wanted) {
  if (x.size() != wanted)
    throw shape_error(std::string(routine) + ": " + what + " has " + std::to_string(x.size()) +
                      " elements, not " + std::to_string(wanted));
  if (x.size() > 1 && x.stride() != 1)
    throw shape_error(std::string(routine) + ": " + what + " is not contiguous");
}

}  // namespace vouch::detail
