// vouch/distributed/files.hpp -- matrices and vectors between files and several ranks.
#pragma once
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/io/matrix_market.hpp>

namespace VOUCH_PUBLIC vouch {

/// The matrix of a file. Of a Matrix Market coordinate file that is neither compressed nor a pipe every rank reads a part
/// of the blocks of lines, and entries go to the ranks that have their rows; all other files rank 0 reads.
///
/// Memory  Three times a rank's entries; of the other files rank 0 holds all of them once.
/// Result  Bit by bit that of read_csr().
/// Throws  on every rank, as read_csr(), with the line in the whole file; shape_error  the matrix is not square;
///         value_error  ranks see files of other headers, sizes, or bytes at 64 places
row_matrix read_rows(communicator& ranks, const device& cpu, const std::string& path,
                     matrix_market_header* header = nullptr);

/// This rank's elements of the one vector in a file, which rank 0 reads.
///
/// Throws  on every rank, as read_vectors(); shape_error  another length, several columns
array<double> read_vector_of_rows(const row_matrix& A, const device& cpu, const std::string& path);

/// Writes x as write_vectors() does: every rank its part into a temporary file of rank 0, which renames it when all is there.
///
/// Throws  on every rank  value_error  a NaN or an infinity, a path that is no regular file; file_error;
///         shape_error  x has not this rank's rows
void write_vector_of_rows(const row_matrix& A, const std::string& path, view<const double> x);

}  // namespace vouch
