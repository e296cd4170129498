#include <algorithm>
#include <array>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/transpose.hpp>
#include <vouch/dense/transpose/transpose_cuda.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t tile = 32;

template <int Bytes>
using element_of = std::array<std::byte, Bytes>;

template <class Element, class Byte>
auto elements(element_grid<Byte> A) {
  using entry = std::conditional_t<std::is_const_v<Byte>, const Element, Element>;
  return matrix_view<entry>{reinterpret_cast<entry*>(A.data), A.rows, A.cols, A.ld};
}

// body(type) with a type of so many bytes.
template <class Body>
void with_element(int bytes, const Body& body) {
  if (bytes == 4)
    body(element_of<4>{});
  else if (bytes == 8)
    body(element_of<8>{});
  else
    body(element_of<16>{});
}

// A thread takes a strip of rows of B, tile after tile, so that both sides stay in the cache.
template <class E>
void copy_transposed(const device& dev, matrix_view<const E> A, matrix_view<E> B) {
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t j0 = 0; j0 < A.cols; j0 += tile)
    for (std::int64_t i0 = 0; i0 < A.rows; i0 += tile)
      for (std::int64_t i = i0; i < std::min(A.rows, i0 + tile); ++i)
        for (std::int64_t j = j0; j < std::min(A.cols, j0 + tile); ++j) B(j, i) = A(i, j);
}

template <class E>
void swap_transposed(const device& dev, matrix_view<E> A) {
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic)
  for (std::int64_t j0 = 0; j0 < A.cols; j0 += tile)
    for (std::int64_t i0 = 0; i0 <= j0; i0 += tile)
      for (std::int64_t j = j0; j < std::min(A.cols, j0 + tile); ++j)
        for (std::int64_t i = i0; i < std::min(j, i0 + tile); ++i) {
          const E other = A(i, j);
          A(i, j) = A(j, i);
          A(j, i) = other;
        }
}

// Through a copy, made before an element is overwritten.
template <class E>
void transpose_rectangle(const device& dev, matrix_view<E> A) {
  array<E> copy(dev, A.rows * A.cols);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t j = 0; j < A.cols; ++j) std::copy_n(&A(0, j), A.rows, copy.data() + j * A.rows);
  copy_transposed<E>(dev, {copy.data(), A.rows, A.cols, A.rows}, {A.data, A.cols, A.rows, A.cols});
}

}  // namespace

void transpose_elements(const device& dev, int bytes, element_grid<const std::byte> from,
                        element_grid<std::byte> to) {
  with_element(bytes, [&](auto element) {
    using E = decltype(element);
    const auto A = elements<E>(from);
    const auto B = elements<E>(to);
    require_matrix("transpose_into", "A", A);
    require_shape("transpose_into", "B", B, A.cols, A.rows);
    require_apart("transpose_into", "B", B, "A", A);
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) return transpose_elements_cuda(dev, bytes, from, to);
    copy_transposed<E>(dev, A, B);
  });
}

void transpose_in_place(const device& dev, int bytes, element_grid<std::byte> any) {
  with_element(bytes, [&](auto element) {
    const auto A = elements<decltype(element)>(any);
    require_matrix("transpose_in_place", "A", A);
    if (A.rows == 0 || A.cols == 0) return;
    const bool square = A.rows == A.cols;
    if (!square && A.ld != A.rows && A.cols > 1)
      throw value_error("transpose_in_place: A is " + std::to_string(A.rows) + "-by-" + std::to_string(A.cols) +
                            " with a leading dimension of " + std::to_string(A.ld),
                        "a matrix that is not square must have no gaps between its columns");
    if (!square && std::min(A.rows, A.cols) <= 1) return;  // its elements stand in the right order
    if constexpr (built_with_cuda)
      if (dev.is_cuda())
        return square ? transpose_square_cuda(dev, bytes, any) : transpose_rectangle_cuda(dev, bytes, any);
    square ? swap_transposed(dev, A) : transpose_rectangle(dev, A);
  });
}

}  // namespace vouch::detail
