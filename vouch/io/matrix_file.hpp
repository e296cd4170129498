// vouch/io/matrix_file.hpp -- what stands in a file, told by its content; private.
#pragma once
#include <string>

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
inline bool is_foreign(file_content content) {
  return content == file_content::harwell_boeing || content == file_content::npz;
}
coo read_foreign(file_content content, const device& cpu, input_file file, matrix_market_header& header);
csr<double> read_foreign_csr(file_content content, const device& dev, input_file file,
                             matrix_market_header& header);
/// Right-hand sides, or the matrix with its zeros.
vectors read_foreign_vectors(file_content content, const device& cpu, input_file file);

/// As read_coo() of a path, of any file that is open.
coo read_coo(const device& cpu, input_file file, matrix_market_header& header);

/// With the elements that are not stored, by columns.
vectors densified(const device& cpu, const csr<double>& A);

}  // namespace vouch
