#include <vouch/price/schedule_text.hpp>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
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

}  // namespace vouch
