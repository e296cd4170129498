// vouch/text/csv.hpp -- the cells of a line of comma-separated values, as spreadsheets write them.
#pragma once
#include <string_view>

namespace vouch {

/// The cell in front of the next comma, without blanks around it and quotes around those; takes both away, the
/// cell and the comma. No cell has a comma or quotes within.
std::string_view take_cell(std::string_view& rest, bool& last);

/// A file's first line without the mark that says which way round its bytes are.
std::string_view without_byte_order_mark(std::string_view line);

}  // namespace vouch
