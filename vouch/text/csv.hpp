// vouch/text/csv.hpp -- the cells of a line of comma-separated values, as spreadsheets write them.
#pragma once
#include <string_view>

namespace vouch {

struct csv_cell {
  std::string_view text;  // without blanks around it and quotes around those; quotes within stay doubled
  std::string_view raw;   // all that stands between the commas
  bool whole = true;      // false where quotes begin that do not end, or do so before the cell
};

/// The cell in front of the next comma that does not stand in quotes (RFC 4180); takes both away, the cell and
/// the comma. A cell whose quotes do not end stops at the next comma. No cell has a line break.
csv_cell take_cell(std::string_view& rest, bool& last);

/// A file's first line without the mark that says which way round its bytes are.
std::string_view without_byte_order_mark(std::string_view line);

}  // namespace vouch
