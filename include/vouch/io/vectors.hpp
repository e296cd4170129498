// vouch/io/vectors.hpp -- dense vectors from and to .mtx, .npy and plain text.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

namespace VOUCH_PUBLIC vouch {

/// cols vectors of rows elements, one after the other (column-major), on the CPU.
struct vectors {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  array<double> values;
};

/// The same of complex numbers.
struct complex_vectors {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  array<std::complex<double>> values;
};

/// Reads vectors from a file, recognised by its content: Matrix Market (array or coordinate), NumPy .npy
/// (versions 1 to 3; floats of 2, 4 or 8 bytes, integers with and without sign, booleans; either byte order, C or
/// Fortran order, one or two dimensions), or plain text (one row a line, numbers separated by blanks or tabs;
/// nothing at all is a vector of no elements). Any of them may be compressed by gzip or be a pipe. Of a
/// Harwell-Boeing file the right-hand sides; of a tar archive NAME/NAME_b.mtx, SuiteSparse's right-hand side; a sparse
/// matrix in an .npz archive as if it were dense.
///
/// Result  Exact; integers beyond 2^53 and decimals are rounded once.
/// Throws  file_error   missing, unreadable or a directory
///         parse_error  the file breaks its format, holds a NaN, an infinity or complex numbers
vectors read_vectors(const device& cpu, const std::string& path);

/// What such a file holds, complex numbers, too: Matrix Market of the field complex, .npy of elements of 8 or 16 bytes.
/// Text has a real and an imaginary part a number where that is said: two columns are one vector.
std::variant<vectors, complex_vectors> read_any_vectors(const device& cpu, const std::string& path,
                                                        bool pairs_in_text = false);

/// Reads a matrix as its file holds it: dense from Matrix Market array files and .npy, both triangles filled;
/// sparse from all others that read_csr() takes. header becomes that of a Matrix Market file, or what such a file of the
/// matrix would have; nothing for .npy.
///
/// Memory  A sparse matrix lives on dev, a dense one on the CPU.
/// Throws  as read_vectors() and read_csr()
std::variant<csr<double>, vectors> read_matrix(const device& dev, const std::string& path,
                                               std::optional<matrix_market_header>* header = nullptr);

/// The same of real or complex numbers; complex ones live on the CPU.
using any_matrix = std::variant<csr<double>, vectors, csr<std::complex<double>>, complex_vectors>;
any_matrix read_any_matrix(const device& dev, const std::string& path,
                           std::optional<matrix_market_header>* header = nullptr);

/// The same of any file of numbers: plain text, too, but for names that end with .mtx or .mtx.gz.
any_matrix read_any_numbers(const device& dev, const std::string& path,
                            std::optional<matrix_market_header>* header = nullptr);

/// Writes vectors, by the end of the path: .mtx (array real general), .npy (f8; Fortran order for more than one
/// column), otherwise plain text, one row a line. Text has the shortest numbers that read back exactly; with
/// `sides`, those of a column are on its side, and the columns have them in turns.
///
/// Shapes  values has rows*cols elements, column-major.
/// Memory  values live on the CPU.
/// Throws  shape_error  values.size() != rows*cols
///         value_error  a NaN or an infinity
///         file_error   the file cannot be written; nothing is left behind
void write_vectors(const std::string& path, view<const double> values, std::int64_t rows, std::int64_t cols = 1,
                   std::span<const text_side> sides = {});

/// The same into a file that is finished here and gets its name later.
void write_vectors(atomic_file& file, view<const double> values, std::int64_t rows, std::int64_t cols = 1,
                   std::span<const text_side> sides = {});

/// Complex ones: array complex general, c16, or the real and the imaginary part of each number, one after the other.
void write_vectors(const std::string& path, view<const std::complex<double>> values, std::int64_t rows,
                   std::int64_t cols = 1);
void write_vectors(atomic_file& file, view<const std::complex<double>> values, std::int64_t rows,
                   std::int64_t cols = 1);

}  // namespace vouch
