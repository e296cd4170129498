// vouch/sparse/nested_dissection.hpp -- orders of elimination for large meshes, by METIS where it is installed.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// As minimum_degree(), of a matrix with a symmetric pattern: separators come last, those of the parts before them.
/// Keeps the factors of meshes in space sparser than minimum degrees do.
///
/// Shapes  A is square.
/// Memory  A and the result live on the CPU; about 8 bytes an entry besides, and as much in METIS.
/// Result  A permutation, a function of the pattern and of METIS; nothing where there is no METIS (libmetis.so.5
///         with indices of 32 bits), where A has more than 2^31 entries and where METIS fails.
/// Cost    One thread, about a microsecond an entry. Cannot be interrupted.
/// Throws  shape_error  A is not square
///         value_error  dev is a GPU
/// Source  Karypis, Kumar, SIAM J. Sci. Comput. 20 (1998).
template <real T>
std::optional<array<std::int32_t>> nested_dissection(const device& dev, csr_view<const T> A);

}  // namespace vouch
