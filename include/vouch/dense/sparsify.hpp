// vouch/dense/sparsify.hpp -- a dense matrix as a sparse one.
#pragma once
#include <complex>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// The entries of a dense matrix that are not zero.
///
/// Memory  A and the result live on the CPU.
/// Cost    Two passes over A, one thread, and what to_csr() takes of what is left.
/// Throws  value_error  more rows or columns than 32-bit indices count
csr<double> sparsify(const device& cpu, matrix_view<const double> A);
csr<std::complex<double>> sparsify(const device& cpu, matrix_view<const std::complex<double>> A);

}  // namespace vouch
