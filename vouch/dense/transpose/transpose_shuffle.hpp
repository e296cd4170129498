// vouch/dense/transpose/transpose_shuffle.hpp -- how the elements of a rectangle change places in its transpose; private.
#pragma once
#include <cstdint>
#include <numeric>

#include <vouch/core/types.hpp>

namespace vouch::detail {

/// A matrix of `lines` lines of `length` elements, one after the other, becomes its transpose, length lines of
/// `lines` elements, in three passes that stay within columns, lines and columns:
///
///   A[k][j] := A[(k + turn(j)) mod lines][j], not needed where turn is 0;
///   A[k][place(k, j)] := A[k][j];
///   A[k][j] := A[(j + source(k)) mod lines][j].
///
/// Source  Catanzaro, Keller, Garland: A decomposition for in-place matrix transposition, PPoPP 2014.
struct transpose_shuffle {
  std::int64_t lines, length;
  std::int64_t common, lines_over, length_over;  // the greatest common divisor, and what is left without it

  transpose_shuffle(std::int64_t line_count, std::int64_t line_length)
      : lines(line_count),
        length(line_length),
        common(std::gcd(lines, length)),
        lines_over(lines / common),
        length_over(length / common) {}

  VOUCH_HOST_DEVICE std::int64_t turn(std::int64_t j) const { return j / length_over; }
  VOUCH_HOST_DEVICE std::int64_t place(std::int64_t k, std::int64_t j) const {
    return ((k + turn(j)) % lines + j * lines) % length;
  }
  VOUCH_HOST_DEVICE std::int64_t source(std::int64_t k) const { return (k * length - k / lines_over) % lines; }
};

}  // namespace vouch::detail
