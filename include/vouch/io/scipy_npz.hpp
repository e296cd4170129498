// vouch/io/scipy_npz.hpp -- sparse matrices as SciPy keeps them: .npz archives.
#pragma once
#include <complex>

#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/text/file.hpp>

namespace VOUCH_PUBLIC vouch {

/// Writes A as scipy.sparse.save_npz(compressed=False) writes a csr_matrix: scipy.sparse.load_npz and, of real numbers,
/// read_csr() give the same bits back. Indices and offsets have 32 bits where those count the entries.
///
/// Memory  A lives on the CPU; besides it its offsets once more.
/// Throws  file_error   the file cannot be written; nothing is left behind
///         value_error  A holds a NaN or an infinity
/// Source  scipy.sparse.save_npz; numpy.lib.format; APPNOTE.TXT, the zip format.
void write_scipy_npz(atomic_file& file, csr_view<const double> A);
void write_scipy_npz(atomic_file& file, csr_view<const std::complex<double>> A);

}  // namespace vouch
