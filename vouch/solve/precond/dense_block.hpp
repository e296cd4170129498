// vouch/solve/precond/dense_block.hpp -- one diagonal block of a sparse matrix and its inverse; private, for
// the CPU and the GPU alike.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

constexpr std::int64_t largest_block = 32;

/// A small square matrix whose elements stand `stride` apart, so that threads can keep theirs side by side.
struct dense_block {
  double* data;
  std::int64_t stride;
  int size;

  VOUCH_HOST_DEVICE double& operator()(int i, int j) const { return data[(i * size + j) * stride]; }
};

/// B := the lower triangle of rows and columns first to first + B.size - 1.
template <real T>
VOUCH_HOST_DEVICE inline void take_block(csr_view<const T> A, std::int64_t first, dense_block B) {
  for (int i = 0; i < B.size; ++i) {
    for (int j = 0; j <= i; ++j) B(i, j) = 0;
    const std::int64_t end = A.row_ptr[first + i + 1];
    for (std::int64_t k = A.row_ptr[first + i]; k < end && A.col[k] <= first + i; ++k)
      if (A.col[k] >= first) B(i, static_cast<int>(A.col[k] - first)) = static_cast<double>(A.val[k]);
  }
}

/// Replaces the lower triangle of B by that of its Cholesky factor's inverse; false where B is not positive
/// definite.
VOUCH_HOST_DEVICE inline bool invert_factor(dense_block B) {
  for (int j = 0; j < B.size; ++j) {
    for (int k = 0; k < j; ++k)
      for (int i = j; i < B.size; ++i) B(i, j) -= B(i, k) * B(j, k);
    const double pivot = B(j, j);
    if (!(pivot > 0 && pivot * 0 == 0)) return false;
    const double root = sqrt(pivot);
    for (int i = j; i < B.size; ++i) B(i, j) = i == j ? root : B(i, j) / root;
  }
  for (int j = 0; j < B.size; ++j) {
    B(j, j) = 1 / B(j, j);
    for (int i = j + 1; i < B.size; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum += B(i, k) * B(k, j);
      B(i, j) = -sum / B(i, i);
    }
  }
  return true;
}

/// Element (i, j) of the inverse, from what invert_factor left: X^T X, exactly symmetric.
VOUCH_HOST_DEVICE inline double inverse_element(dense_block X, int i, int j) {
  double sum = 0;
  for (int k = i > j ? i : j; k < X.size; ++k) sum += X(k, i) * X(k, j);
  return sum;
}

/// The inverse of block number `block`, blocks of b rows: inverse[j * n + i] receives the factor of r[first +
/// j] in z[i]. False where the block is not positive definite or its inverse not finite in T.
template <real T>
VOUCH_HOST_DEVICE inline bool invert_block(csr_view<const T> A, int b, std::int64_t block, double* work,
                                           std::int64_t stride, T* inverse) {
  const std::int64_t first = block * b;
  const dense_block B{work, stride, static_cast<int>(A.rows - first < b ? A.rows - first : b)};
  take_block(A, first, B);
  if (!invert_factor(B)) return false;
  bool good = true;
  for (int i = 0; i < B.size; ++i)
    for (int j = 0; j < B.size; ++j) {
      const T element = static_cast<T>(inverse_element(B, i, j));
      good = good && element * 0 == 0;
      inverse[j * A.rows + first + i] = element;
    }
  return good;
}

/// True where row i stores the same columns as row i - 1.
template <real T>
VOUCH_HOST_DEVICE inline bool same_pattern_as_before(csr_view<const T> A, std::int64_t i) {
  const std::int64_t mine = A.row_ptr[i], other = A.row_ptr[i - 1];
  const std::int64_t length = A.row_ptr[i + 1] - mine;
  if (mine - other != length) return false;
  for (std::int64_t k = 0; k < length; ++k)
    if (A.col[mine + k] != A.col[other + k]) return false;
  return true;
}

// The CUDA sides. bad receives the number of the first block that cannot be inverted, or stays as it is.
template <real T>
void invert_blocks_cuda(const device& dev, csr_view<const T> A, int b, T* inverse, std::uint64_t* bad);
template <real T>
void compare_patterns_cuda(const device& dev, csr_view<const T> A, std::uint8_t* same);
template <real T>
void apply_blocks_cuda(const device& dev, int b, std::int64_t n, const T* inverse, const T* r, T* z);

}  // namespace vouch
