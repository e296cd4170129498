// vouch/solve/rounded_rows.hpp -- a square dense matrix on a GPU with entries of 8 or 16 bits; private.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/aligned_rows.hpp>

namespace vouch {

/// By rows, padded entries each, which fill whole 16 bytes. Beside the diagonal entry (i, j) is about
/// scale[i] * values[i*padded + j]; there values are zero, and diagonal[i] is the entry in single precision.
/// Rows from n on are the identity's.
template <class S>
struct rounded_rows {
  array<S> values;
  array<float> scale, diagonal;
  std::int64_t n = 0;
  std::int64_t padded = 0;
};

/// Rounds A, entry by entry to nearest. S is __nv_bfloat16, with scales of 1, or __nv_fp8_e4m3, with powers of
/// two that bring the largest entry of a row near 448.
///
/// Result  A relative error of at most 2^-8, or of 2^-4 for entries down to 2^-15 times the largest of their
///         row, and an absolute one of 2^-19 times that for smaller ones. What overflows single precision is
///         infinite.
/// Cost    One read of A, of which 8-bit floats may need another from L2.
template <class S>
rounded_rows<S> round_rows(const device& dev, const detail::aligned_rows<double>& A);

}  // namespace vouch
