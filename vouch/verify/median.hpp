// vouch/verify/median.hpp -- the median of bounds; private.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace vouch::detail {

/// The element of rank size / 2, from 0; 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace vouch::detail
