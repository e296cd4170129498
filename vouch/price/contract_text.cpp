#include <vouch/price/words.hpp>

#include <string>
#include <string_view>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/csv.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

double number_in(std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto parsed = parse_real(text.data(), end);
  if (parsed.error != number_error::none || parsed.end != end) throw value_error(not_a_number(text));
  return parsed.value;
}

// Calls take for each item.
template <class Take>
void split(std::string_view text, Take take) {
  if (without_blanks(text).empty()) return;
  for (bool last = false; !last;) {
    const std::size_t end = text.find_first_of(",;");
    last = end == std::string_view::npos;
    take(without_blanks(text.substr(0, end)));
    if (!last) text.remove_prefix(end + 1);
  }
}

template <class Pair>
std::vector<Pair> pairs(std::string_view text) {
  std::vector<Pair> all;
  split(text, [&](std::string_view item) {
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos)
      throw value_error(quoted(item) + " is not TIME:VALUE", "as in 0.25:1.5,0.5:1.5");
    all.push_back(
        {number_in(without_blanks(item.substr(0, colon))), number_in(without_blanks(item.substr(colon + 1)))});
  });
  return all;
}

}  // namespace

std::vector<double> parse_times(std::string_view text) {
  const ieee_environment here;
  std::vector<double> all;
  split(text, [&](std::string_view item) { all.push_back(number_in(item)); });
  return all;
}

std::vector<cash_dividend> parse_dividends(std::string_view text) {
  const ieee_environment here;
  return pairs<cash_dividend>(text);
}
std::vector<curve_step> parse_curve(std::string_view text) {
  const ieee_environment here;
  return pairs<curve_step>(text);
}

namespace {

double number_in(std::string_view cell, const std::string& path, std::int64_t line, std::int64_t column) {
  const auto parsed = parse_real(cell.data(), cell.data() + cell.size());
  if (parsed.error != number_error::none || parsed.end != cell.data() + cell.size())
    throw parse_error(path, line, column, not_a_number(cell));
  return parsed.value;
}

}  // namespace

volatility_table read_volatility_table(const std::string& path) {
  const ieee_environment here;
  volatility_table table;
  line_reader reader{input_file(path)};
  std::string text;
  std::int64_t line = 0;
  while (reader.next_line(text)) {
    const std::string_view whole = ++line == 1 ? without_byte_order_mark(text) : std::string_view(text);
    if (is_blank(whole)) continue;
    const bool names_spots = table.spots.empty();
    std::vector<double> numbers;
    std::string_view rest = whole;
    for (bool first = true, last = false; !last; first = false) {
      const auto column = static_cast<std::int64_t>(text.size() - rest.size()) + 1;
      const std::string_view cell = take_cell(rest, last).text;
      if (!(first && names_spots)) numbers.push_back(number_in(cell, path, line, column));
    }
    if (names_spots) {
      table.spots = numbers;
      continue;
    }
    if (numbers.size() != table.spots.size() + 1)
      throw parse_error(path, line, 0,
                        std::to_string(numbers.size()) + " numbers where a time and " +
                            std::to_string(table.spots.size()) + " volatilities are needed");
    table.times.push_back(numbers.front());
    table.values.insert(table.values.end(), numbers.begin() + 1, numbers.end());
  }
  if (table.empty()) throw parse_error(path, line, 0, "there is no volatility in it");
  return table;
}

}  // namespace vouch
