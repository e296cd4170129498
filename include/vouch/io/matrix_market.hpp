// vouch/io/matrix_market.hpp -- Matrix Market files, read strictly and in parallel, and written.
#pragma once
#include <complex>
#include <cstdint>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/text/file.hpp>

namespace VOUCH_PUBLIC vouch {

enum class matrix_format { coordinate, array };
enum class matrix_field { real, integer, pattern, complex };

/// Words of a banner: "array", "complex", "skew-symmetric".
const char* name(matrix_format format);
const char* name(matrix_field field);
const char* name(symmetry stored_as);

/// What the first lines of a file say; of a file in another format, what they would say of the same matrix.
struct matrix_market_header {
  std::string file;
  std::string container = "Matrix Market";  // or the format that it is
  matrix_format format = matrix_format::coordinate;
  matrix_field field = matrix_field::real;
  symmetry stored_as = symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  // lines of data: explicit entries, or elements of an array
  std::int64_t rhs = 0;      // right-hand sides beside the matrix, which read_vectors() gives
};

/// The header alone.
///
/// Types   matrix, coordinate or array, real, integer, pattern or complex, general, symmetric, skew-symmetric or
///         hermitian. Rows and columns beyond 2^31 - 1 are refused on the size line.
/// Throws  file_error   missing, unreadable or a directory
///         parse_error  with line and column
/// Source  Boisvert, Pozo, Remington: The Matrix Market exchange formats, NISTIR 5935, 1996.
matrix_market_header read_matrix_market_header(const std::string& path);

/// The stored entries in the order of the file, indices from 0; values of pattern files are 1. Of an array
/// file the elements that are not zero. The file may be compressed by gzip or be a pipe.
///
/// Besides Matrix Market files, recognised by their content: Harwell-Boeing and Rutherford-Boeing files; .npz
/// archives as scipy.sparse.save_npz writes them (csr, csc, coo, bsr, dia; no pipe, not compressed again); and tar
/// archives as SuiteSparse has them, of which NAME/NAME.mtx is read, or NAME.rb.
///
/// Types   Integers must fit int64; as doubles they are rounded once, like reals.
/// Memory  The result lives on the CPU; besides it a bounded buffer a thread.
/// Result  The same for any number of threads. Each value is the double nearest to the decimal number.
/// Cost    One pass over the file.
/// Throws  file_error     missing, unreadable or a directory
///         parse_error    the first place, with line and column, where the file breaks the format; also NaN,
///                        infinity, overflow, an index out of range, an entry above the diagonal of a symmetric
///                        matrix or on that of a skew-symmetric one, too few or too many entries; a complex matrix
///                        (of archives the text names the member, and of .npz the element, from 0)
///         out_of_memory  the entries do not fit
coo read_coo(const device& cpu, const std::string& path, matrix_market_header* header = nullptr);

/// The matrix on dev: both triangles, columns sorted, duplicates summed in the order of the file, explicit
/// zeros of coordinate files kept. Otherwise as read_coo.
///
/// A GPU parses coordinate files that are neither compressed nor pipes, have an entry on each line behind the
/// size line, and blanks alone between its numbers. All CPU threads read the others, and those where something
/// is wrong, to say what: the matrix is then copied.
///
/// Memory  On a GPU, beside the result, the text and 40 bytes an entry, 80 where the file is symmetric; without
///         room for them the CPU reads. 34 MB of pinned memory are kept for the next file.
/// Result  The same bits on every device.
/// Cost    One pass over the file. Short values come to a matrix in an H200's memory at 27 GB/s of text,
///         read by 16 cores and copied at 2.4; a small file takes the GPU 0.2 ms (`vouch bench read`).
csr<double> read_csr(const device& dev, const std::string& path, matrix_market_header* header = nullptr);

/// The same of a Matrix Market file whose field is complex, and of whatever read_csr() takes, whose imaginary parts are
/// then zero; by all threads of cpu.
///
/// Throws  as read_coo(); parse_error also where an entry on the diagonal of a hermitian matrix is not real
csr<std::complex<double>> read_complex_csr(const device& cpu, const std::string& path,
                                           matrix_market_header* header = nullptr);

/// Writes A as a real coordinate file, row by row: shortest numbers that read back exactly. Stored as symmetric
/// or skew-symmetric only the lower triangle is written.
///
/// Memory  A lives on the CPU.
/// Throws  file_error   the file cannot be written; nothing is left behind
///         shape_error  stored_as is not general and A is not square
///         value_error  A holds a NaN or an infinity, or is not symmetric (skew-symmetric, hermitian) bit by bit
void write_matrix_market(const std::string& path, csr_view<const double> A,
                         symmetry stored_as = symmetry::general);
/// As a complex coordinate file.
void write_matrix_market(const std::string& path, csr_view<const std::complex<double>> A,
                         symmetry stored_as = symmetry::general);

/// The same into a file that is finished here and gets its name later.
void write_matrix_market(atomic_file& file, csr_view<const double> A, symmetry stored_as = symmetry::general);
void write_matrix_market(atomic_file& file, csr_view<const std::complex<double>> A,
                         symmetry stored_as = symmetry::general);

}  // namespace vouch
