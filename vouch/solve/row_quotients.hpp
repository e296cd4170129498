// vouch/solve/row_quotients.hpp -- what the rows of a matrix on a GPU say of dominance; private, defined only
// in CUDA builds.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch {

/// Of n rows by their diagonal entries and the sums of the magnitudes beside them; scale and least as in
/// sums * scale + least, which is above the exact sum.
///
/// Memory  All but the result lives on dev.
template <real T>
row_dominance dominance_of_rows(const device& dev, std::int64_t n, const T* diagonal, const double* sums,
                                double scale, double least);

/// max a[i] / |diagonal[i]|, rounded upwards; infinite where one of them is not finite.
template <real T>
double largest_quotient(const device& dev, std::int64_t n, const double* a, const T* diagonal);

}  // namespace vouch
