// vouch/sparse/check.hpp -- what is wrong with a matrix in CSR, its values included.
#pragma once
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// The first thing that is wrong with A: sizes, offsets and columns as valid_csr.hpp wants them, then values, which
/// have to be numbers.
///
/// Types   T is float or double.
/// Memory  A lives on dev. Arrays are read as far as rows and nonzeros say, and no farther.
/// Result  A line for people, rows and entries counted from 0; "" where nothing is wrong. The same on every device.
/// Cost    Reads A once. Waits for a GPU.
template <real T>
std::string check(const device& dev, csr_view<const T> A);

}  // namespace vouch
