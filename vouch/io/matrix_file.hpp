// vouch/io/matrix_file.hpp -- what stands in a file, told by its content: archives, SciPy's sparse matrices; private.
#pragma once
#include <string>
#include <string_view>

#include <vouch/io/read_as.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

enum class file_content { matrix_market, harwell_boeing, npy, npz, other };

/// A file at its start, narrowed to what is wanted of an archive: the matrix, or its right-hand side "_b".
input_file open_part(const std::string& path, const char* suffix = "");

/// Call it before any read.
file_content content_of(input_file& file);

/// Sparse matrices that are not Matrix Market's.
inline bool is_other_format(file_content content) {
  return content == file_content::harwell_boeing || content == file_content::npz;
}
coo read_other_format(file_content content, const device& cpu, input_file file, matrix_market_header& header);
csr<double> read_other_format_csr(file_content content, const device& dev, input_file file,
                                  matrix_market_header& header);
/// Right-hand sides, or the matrix with its zeros.
vectors read_other_format_vectors(file_content content, const device& cpu, input_file file);

/// As read_coo() of a path, of any file that is open.
coo read_coo(const device& cpu, input_file file, matrix_market_header& header);

/// With the elements that are not stored, by columns.
vectors densified(const device& cpu, const csr<double>& A);

/// Bytes of a member's header; a file is known by its first.
inline constexpr std::size_t tar_block = 512;

/// Whether a file that starts so is a tar archive.
bool is_tar(std::string_view start);

/// Narrows an archive at its start to the member NAME + suffix, with whatever ending, where NAME is its folder or
/// the archive's own name. (NAME/NAME.mtx is a matrix of SuiteSparse's, NAME/NAME_b.mtx its right-hand side.)
///
/// Throws  parse_error  there is none, the text names what there is; the archive is broken
/// Source  IEEE Std 1003.1-2017, pax: ustar and pax interchange formats; long names as GNU tar writes them.
void enter_tar(input_file& archive, std::string_view suffix);

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
