// vouch/solve/precond/amg/stencil_product.cuh -- rows of products with stencils in single precision on a GPU; private.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <vouch/solve/precond/amg/stencil.hpp>
#include <vouch/solve/precond/amg/stencil_product.hpp>

namespace vouch::multigrid {

constexpr int most_upper = 13;

// Diagonals above the main one by ascending distance.
struct upper_diagonals {
  step_view<const float> values;
  int count = 0;
  std::array<int, most_upper> distance{};
};

// The products of rows with W = I + U + U^T; `count` diagonals, or any number if that is 0.
template <int count>
__device__ inline float row_product(const upper_diagonals& U, int n, const float* __restrict__ w, int i) {
  const int all = count > 0 ? count : U.count;
  float sum = w[i];
  // Entries out of the box are zeros: only the ends of the memory are to be kept off.
#pragma unroll
  for (int k = all - 1; k >= 0; --k) {
    const int j = i - U.distance[static_cast<std::size_t>(k)];
    if (j >= 0) sum += U.values.of(static_cast<std::size_t>(k))[j] * w[j];
  }
#pragma unroll
  for (int k = 0; k < all; ++k) {
    const int j = i + U.distance[static_cast<std::size_t>(k)];
    if (j < n) sum += U.values.of(static_cast<std::size_t>(k))[i] * w[j];
  }
  return sum;
}

/// What chosen(count) gives for the number of diagonals, 0 for those that have no kernel of their own.
template <class Choice>
auto with_count(const upper_diagonals& U, const Choice& chosen) {
  switch (U.count) {
    case 2:
      return chosen(std::integral_constant<int, 2>{});
    case 3:
      return chosen(std::integral_constant<int, 3>{});
    case 4:
      return chosen(std::integral_constant<int, 4>{});
    case 13:
      return chosen(std::integral_constant<int, 13>{});
    default:
      return chosen(std::integral_constant<int, 0>{});
  }
}

inline upper_diagonals diagonals_of(const upper_steps& upper) {
  upper_diagonals U;
  U.values = upper.values;
  U.count = static_cast<int>(upper.steps.size());
  for (std::size_t k = 0; k < upper.steps.size(); ++k)
    U.distance[k] = static_cast<int>(distance(upper.grid, upper.steps[k]));
  return U;
}

}  // namespace vouch::multigrid
