// vouch/io/matrix_market_header.hpp -- the banner and the size line; private to the readers of this room.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/text/lines.hpp>

namespace vouch {

/// Takes the header off a file that is read from its start, and checks that the declared entries can stand in
/// what is left of it.
matrix_market_header take_matrix_market_header(line_reader& reader);

/// read_csr of a file whose header is taken.
csr<double> read_csr(const device& cpu, line_reader& reader, const matrix_market_header& header);

/// The elements of an array file in the order of the file: column by column, the lower triangle alone for
/// symmetric, without its diagonal for skew-symmetric.
array<double> read_array_elements(const device& cpu, line_reader& reader, const matrix_market_header& header);

/// Words of a banner.
const char* name(matrix_format format);
const char* name(matrix_field field);
const char* name(symmetry stored_as);

}  // namespace vouch
