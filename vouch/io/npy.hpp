// vouch/io/npy.hpp -- NumPy's file format for one array; private to this room.
#pragma once
#include <string>
#include <string_view>

#include <vouch/io/vectors.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

/// Whether a file that starts so is an .npy file.
bool is_npy(std::string_view start);

/// See read_vectors. An array of one dimension is one vector.
/// Source  NumPy Enhancement Proposal 1; numpy.lib.format.
vectors read_npy(const device& cpu, input_file& file);

/// See write_vectors: f8, one dimension for one vector, else Fortran order.
void write_npy(atomic_file& file, view<const double> values, std::int64_t rows, std::int64_t cols);

}  // namespace vouch
