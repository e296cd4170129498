// vouch/io/harwell_boeing.hpp -- Harwell-Boeing and Rutherford-Boeing files; private.
#pragma once
#include <string_view>

#include <vouch/io/matrix_market.hpp>
#include <vouch/io/read_as.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

struct harwell_boeing {
  matrix_market_header header;  // what a Matrix Market file of the matrix would say
  coo A;                        // column by column
  vectors rhs;                  // of no columns where the file has none
};

/// Whether a file that starts so, with three lines at least where it is one, is of this format: by the type
/// ("RUA") in front of the third line.
bool is_harwell_boeing(std::string_view start);

/// Types   Real, integer or pattern; symmetric, skew-symmetric, unsymmetric or rectangular; assembled. Numbers stand in
///         the columns that the file's Fortran formats give, else with blanks between them; reals have a decimal
///         point where the format has decimals (readers differ where it is missing), exponents E, D or a sign
///         alone. Right-hand sides are full ones.
/// Result  The same for any number of threads.
/// Cost    One pass over the file, by all threads.
/// Throws  parse_error  with line and column
/// Source  Duff, Grimes, Lewis: Users' guide for the Harwell-Boeing sparse matrix collection, 1992; The
///         Rutherford-Boeing sparse matrix collection, 1997.
harwell_boeing read_harwell_boeing(const device& cpu, input_file file, read_as what);

}  // namespace vouch
