#include <vouch/text/csv.hpp>

namespace vouch {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// Where the quotes end that begin in front of `from`; npos where they do not.
std::size_t find_closing_quote(std::string_view text, std::size_t from) {
  std::size_t at = text.find('"', from);
  while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == '"')
    at = text.find('"', at + 2);
  return at;
}

}  // namespace

csv_cell take_cell(std::string_view& rest, bool& last) {
  constexpr std::size_t none = std::string_view::npos;
  const bool plain = rest.empty() || (rest[0] != '"' && rest[0] != ' ' && rest[0] != '\t');
  const std::size_t quote = plain ? none : rest.find_first_not_of(" \t");
  const bool in_quotes = quote != none && rest[quote] == '"';
  const std::size_t closing = in_quotes ? find_closing_quote(rest, quote + 1) : none;
  const std::size_t comma = rest.find(',', closing == none ? 0 : closing);
  last = comma == none;
  csv_cell cell{{}, rest.substr(0, comma), true};
  if (last && cell.raw.ends_with('\r')) cell.raw.remove_suffix(1);
  rest.remove_prefix(last ? rest.size() : comma + 1);
  cell.text = trimmed(cell.raw);
  if (!in_quotes) return cell;
  cell.whole = cell.text.size() >= 2 && closing == quote + cell.text.size() - 1;
  if (cell.whole) cell.text = trimmed(cell.text.substr(1, cell.text.size() - 2));
  return cell;
}

std::string_view without_byte_order_mark(std::string_view line) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return line.substr(line.starts_with(mark) ? mark.size() : 0);
}

}  // namespace vouch
