// Words of a line, cells of a line of CSV, and what a word was meant to be.
#include <vouch/text/tokens.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <vouch/text/csv.hpp>
#include <vouch/text/nearest_name.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

bool separates(char c) { return c == ' ' || c == '\t'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool tokens::next(token& word) {
  while (at_ < line_.size() && separates(line_[at_])) ++at_;
  const std::size_t start = at_;
  while (at_ < line_.size() && !separates(line_[at_])) ++at_;
  word = {line_.substr(start, at_ - start), static_cast<std::int64_t>(start) + 1};
  return at_ > start;
}

std::string quoted(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string text = "'";
  for (const char c : word.substr(0, longest)) {
    char code[8];
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      text += code;
    }
  }
  return text + (word.size() > longest ? "...'" : "'");
}

std::string escaped_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\t' || c == '\n')
      out += c;
  }
  return out;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string not_a_number(std::string_view word) {
  std::string_view bare = word;
  if (!bare.empty() && (bare[0] == '-' || bare[0] == '+')) bare.remove_prefix(1);
  if (same_word(bare.substr(0, 3), "nan")) return "NaN is not allowed";
  if (same_word(bare, "inf") || same_word(bare, "infinity")) return "infinity is not allowed";
  const char* const end = word.data() + word.size();
  const parsed_number<double> number = parse_real(word.data(), end);
  if (number.error == number_error::overflow && number.end == end)
    return quoted(word) + " overflows double precision";
  return "expected a number, found " + quoted(word);
}

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

namespace {

// Optimal string alignment: three rows of the usual table, since a swap of neighbours looks two rows back.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_back(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], two_back[j - 2] + 1);
    }
    two_back.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view typed, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string_view name : names) {
    const bool is_start = typed.size() >= 2 && name.substr(0, typed.size()) == typed;
    const std::size_t d = is_start ? 1 : distance(typed, name);
    if (d < best_distance) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace vouch
