// vouch/io/fortran_format.hpp -- edit descriptors of Fortran and the numbers written by them; private.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <vouch/io/read_as.hpp>
#include <vouch/text/number.hpp>

namespace vouch {

/// "(16I5)", "(1P,4D20.13)": the numbers of a line and the columns of each.
struct fortran_format {
  std::int64_t per_line = 1;
  std::int64_t width = 0;
  std::int64_t decimals = 0;
  std::int64_t scale = 0;  // of P
  bool integers = false;

  /// Lines that `count` numbers take.
  std::int64_t lines(std::int64_t count) const { return (count + per_line - 1) / per_line; }
};

/// Of one descriptor I, F, E, D or G with a count; nothing where text is another format.
std::optional<fortran_format> parse_fortran_format(std::string_view text);

/// A real number without blanks around it. malformed too where it depends on the reader: no decimal point although the
/// format has decimals, no exponent although it has a scale.
parsed_number<double> parse_fortran_real(std::string_view text, const fortran_format& format, read_as what);

}  // namespace vouch
