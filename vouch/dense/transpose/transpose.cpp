#include <omp.h>

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
#include <vouch/dense/transpose/transpose_shuffle.hpp>

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

// body(piece, room) for all pieces. Each thread at work has room of its own, taken before any begins: a lack of
// memory must not end a thread.
template <class E, class Body>
void for_pieces_with_room(const device& dev, std::int64_t pieces, std::int64_t elements, const Body& body) {
  const std::int64_t threads = std::min<std::int64_t>(dev.threads(), pieces);
  array<E> rooms(dev, threads * elements);
#pragma omp parallel for firstprivate(ieee) num_threads(static_cast <int>(threads)) schedule(static)
  for (std::int64_t piece = 0; piece < pieces; ++piece)
    body(piece, rooms.data() + omp_get_thread_num() * elements);
}

// A[k][j] := A[source(k, j)][j] for all lines k, a strip of columns at a time.
template <class E, class Source>
void shuffle_columns(const device& dev, E* A, std::int64_t lines, std::int64_t length, const Source& source) {
  const std::int64_t width = std::min(length, tile);
  for_pieces_with_room<E>(dev, ceil_div(length, width), lines * width, [&](std::int64_t strip, E* room) {
    const std::int64_t first = strip * width, here = std::min(width, length - first);
    for (std::int64_t k = 0; k < lines; ++k)
      for (std::int64_t j = 0; j < here; ++j) room[k * here + j] = A[source(k, first + j) * length + first + j];
    for (std::int64_t k = 0; k < lines; ++k) std::copy_n(room + k * here, here, A + k * length + first);
  });
}

template <class E>
void shuffle_rectangle(const device& dev, E* A, const transpose_shuffle& shuffle) {
  const std::int64_t lines = shuffle.lines, length = shuffle.length;
  if (shuffle.common > 1)
    shuffle_columns(dev, A, lines, length,
                    [&](std::int64_t k, std::int64_t j) { return (k + shuffle.turn(j)) % lines; });
  for_pieces_with_room<E>(dev, lines, length, [&](std::int64_t k, E* room) {
    E* const line = A + k * length;
    for (std::int64_t j = 0; j < length; ++j) room[shuffle.place(k, j)] = line[j];
    std::copy_n(room, length, line);
  });
  shuffle_columns(dev, A, lines, length,
                  [&](std::int64_t k, std::int64_t j) { return (j + shuffle.source(k)) % lines; });
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
        return square ? transpose_blocks_cuda(dev, bytes, any, A.rows)
                      : transpose_rectangle_cuda(dev, bytes, any);
    square ? swap_transposed(dev, A) : shuffle_rectangle(dev, A.data, {A.cols, A.rows});
  });
}

}  // namespace vouch::detail
