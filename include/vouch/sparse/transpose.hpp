// vouch/sparse/transpose.hpp -- the transpose of a CSR matrix.
#pragma once
#include <complex>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// B := A^T, columns of each row of B ascending.
///
/// Shapes  A is m-by-n, B is n-by-m; m, n and nnz may be 0.
/// Types   T is float or double.
/// Memory  A lives on dev, B is made there. On a CPU 4 bytes besides for each column that each thread's rows
///         reach, at most 4 max(nnz, n): beyond it fewer threads work; on a GPU 20 bytes an entry, 32 where there are
///         2^31 entries or more.
/// Result  The same bits for any number of threads.
/// Cost    O(nnz + m + n); A is read twice. On a GPU a radix sort of the columns.
/// Throws  value_error  A has more rows than 32-bit columns can count
template <real T>
csr<T> transpose(const device& dev, csr_view<const T> A);
/// The same of complex numbers, on a CPU. They are not conjugated.
csr<std::complex<double>> transpose(const device& cpu, csr_view<const std::complex<double>> A);

}  // namespace vouch
