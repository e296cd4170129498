// vouch/band/factored_task.cuh -- what kernels that solve with factors are given; private.
#pragma once
#include <vouch/band/factored.hpp>

namespace vouch::detail {

template <real T>
struct factored_task {
  factor_view<T> factors;
  batch_view<const T> b;
  batch_view<T> x;
  std::int64_t rhs_a_matrix;
};

}  // namespace vouch::detail
