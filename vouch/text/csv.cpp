#include <vouch/text/csv.hpp>

namespace vouch {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view take_cell(std::string_view& rest, bool& last) {
  const std::size_t comma = rest.find(',');
  last = comma == std::string_view::npos;
  const std::string_view inside = trimmed(rest.substr(0, comma));
  rest.remove_prefix(last ? rest.size() : comma + 1);
  const bool in_quotes = inside.size() >= 2 && inside.front() == '"' && inside.back() == '"';
  return in_quotes ? trimmed(inside.substr(1, inside.size() - 2)) : inside;
}

std::string_view without_byte_order_mark(std::string_view line) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return line.substr(line.starts_with(mark) ? mark.size() : 0);
}

}  // namespace vouch
