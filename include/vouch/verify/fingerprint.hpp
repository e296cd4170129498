// vouch/verify/fingerprint.hpp -- what tells one matrix from another.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// Sizes, and 64 bits each of what the offsets and columns and of what the values are. Matrices that differ in
/// one bit have the same with a probability of about 2^-60, unless somebody looked for them.
struct matrix_fingerprint {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;
  std::uint64_t pattern = 0;  // 0 for a dense matrix
  std::uint64_t values = 0;

  bool operator==(const matrix_fingerprint&) const = default;
};

/// That of A. A dense matrix and a sparse one with the same entries have different ones.
///
/// Memory  A lives on dev. Arrays are read as far as the sizes in A say; what they hold may be anything.
/// Result  The same on every device and for any number of threads.
/// Cost    One pass over A; waits for the device.
/// Throws  shape_error  a negative size
///         value_error  an array that is null, columns that overlap
matrix_fingerprint fingerprint_of(const device& dev, csr_view<const double> A);
matrix_fingerprint fingerprint_of(const device& dev, matrix_view<const double> A);

}  // namespace vouch
