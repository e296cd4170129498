// vouch/io/scipy_npz.hpp -- sparse matrices in .npz archives, as scipy.sparse.save_npz writes them; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/read_as.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

/// The entries of the matrix; header is made to say what a Matrix Market file of it would.
///
/// Types   Formats csr, csc, coo, bsr and dia; indices of any integers, values as read_vectors takes them.
/// Result  Entries in the order of the arrays. As SciPy has it, zeros within stored blocks are entries, those on
///         diagonals of dia are none.
/// Throws  parse_error  an array is missing, broken or of another length, an index out of range, a NaN or an
///                      infinity; the text names array and element, which counts from 0 as in Python
coo read_scipy_npz(const device& cpu, const input_file& file, read_as what, matrix_market_header& header);

/// to_csr() of that, without triplets on the way where rows or columns come in order.
csr<double> read_scipy_csr(const device& cpu, const input_file& file, matrix_market_header& header);

}  // namespace vouch
