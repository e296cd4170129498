// vouch/dense/gemm/strided.hpp -- a block of a matrix as the product engine reads it; private.
#pragma once
#include <cstdint>

#include <vouch/dense/scalar.hpp>

namespace vouch::detail {

/// rows-by-depth entries, entry (i, k) at data[i*across + k*along].
template <scalar T>
struct strided {
  const T* data;
  std::int64_t across;
  std::int64_t along;
  std::int64_t rows;
  std::int64_t depth;
};

}  // namespace vouch::detail
