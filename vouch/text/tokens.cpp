#include <algorithm>
#include <cstdio>

#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

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

}  // namespace vouch
