#include <vouch/price/book_lines.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/words.hpp>
#include <vouch/text/csv.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

constexpr std::array<std::string_view, 13> names{"type",     "exercise",      "spot",   "strike", "rate",
                                                 "dividend", "volatility",    "expiry", "payoff", "cash",
                                                 "barrier",  "barrier_level", "rebate"};
constexpr book_column needed[] = {book_column::type, book_column::spot, book_column::strike,
                                  book_column::volatility, book_column::expiry};

std::string list() {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

double& number_of(plain_option& o, book_column column) {
  switch (column) {
    case book_column::spot:
      return o.spot;
    case book_column::strike:
      return o.strike;
    case book_column::rate:
      return o.rate;
    case book_column::dividend:
      return o.dividend;
    case book_column::volatility:
      return o.volatility;
    case book_column::expiry:
      return o.expiry;
    case book_column::cash:
      return o.cash;
    case book_column::barrier_level:
      return o.barrier_level;
    default:
      return o.rebate;
  }
}

std::string unknown_word(book_column column, std::string_view cell) {
  const auto text = [&](const auto& words) {
    std::string all = "unknown " + std::string(names[static_cast<std::size_t>(column)]) + " " + quoted(cell);
    for (const std::string_view word : words)
      all += (word == words.front() ? ": " : word == words.back() ? " or " : ", ") + std::string(word);
    return all;
  };
  switch (column) {
    case book_column::type:
      return text(type_words);
    case book_column::exercise:
      return text(exercise_words);
    case book_column::payoff:
      return text(payoff_words);
    default:
      return text(barrier_words);
  }
}

// Puts a cell's word or number where it belongs; false where it means nothing.
bool take(book_column column, std::string_view cell, batch_option& b, std::string& wrong) {
  const auto word = [&](auto found, auto& target) {
    if (found)
      target = *found;
    else
      wrong = unknown_word(column, cell);
    return found.has_value();
  };
  switch (column) {
    case book_column::type:
      return word(type_of(cell), b.option.type);
    case book_column::exercise:
      return word(exercise_of(cell), b.exercise);
    case book_column::payoff:
      return word(payoff_of(cell), b.option.payoff);
    case book_column::barrier:
      return word(barrier_of(cell), b.option.barrier);
    default:
      break;
  }
  const auto parsed = parse_real(cell.data(), cell.data() + cell.size());
  if (parsed.error == number_error::none && parsed.end == cell.data() + cell.size()) {
    number_of(b.option, column) = parsed.value;
    return true;
  }
  wrong = std::string(names[static_cast<std::size_t>(column)]) + ": " + not_a_number(cell);
  return false;
}

bool is_fine(const plain_option& o) {
  const bool finite =
      std::isfinite(o.spot + o.strike + o.volatility + o.expiry + o.rate + o.dividend + o.cash + o.rebate);
  const double least = std::min({o.spot, o.strike, o.volatility, o.expiry, o.cash, o.rebate});
  return finite && least >= 0 && o.barrier == barrier_kind::none;
}

// What would have no effect, as it is refused of a single option too; "" where there is no such thing.
std::string idle_cell(const plain_option& o) {
  if (o.barrier != barrier_kind::none) return o.barrier_level == 0 ? "barrier_level is missing" : "";
  if (o.barrier_level != 0) return "barrier_level " + number_text(o.barrier_level) + " without a barrier";
  return o.rebate != 0 ? "rebate " + number_text(o.rebate) + " without a barrier" : "";
}

bool check_option(const batch_option& b, book_failure& failure) {
  failure.message = idle_cell(b.option);
  if (!failure.message.empty()) return false;
  if (b.exercise == exercise_style::bermudan) {
    failure.message = "a bermudan option has dates, for which a book has no column";
    return false;
  }
  if (is_fine(b.option)) return true;
  try {
    contract c;
    c.plain = b.option;
    c.exercise = b.exercise;
    check(c);
    return true;
  } catch (const error& e) {
    failure.message = e.what();
    return false;
  }
}

}  // namespace

bool is_empty_book_line(std::string_view line) {
  return line.find_first_not_of(", \t\r") == std::string_view::npos;
}

std::vector<book_column> parse_book_header(const std::string& file, std::string_view line,
                                           std::int64_t number) {
  std::vector<book_column> columns;
  std::string_view rest = without_byte_order_mark(line);
  for (bool last = false; !last && !is_empty_book_line(rest);) {
    const auto at = static_cast<std::int64_t>(line.size() - rest.size()) + 1;
    const std::string_view cell = take_cell(rest, last);
    const auto found = std::find(names.begin(), names.end(), cell);
    if (found == names.end())
      throw parse_error(file, number, at, "unknown column " + quoted(cell), "columns: " + list());
    const auto column = static_cast<book_column>(found - names.begin());
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      throw parse_error(file, number, at, "column " + quoted(cell) + " is there twice");
    columns.push_back(column);
  }
  for (const book_column column : needed)
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      throw parse_error(
          file, number, 0, "column " + std::string(names[static_cast<std::size_t>(column)]) + " is missing",
          "the first line names the columns, as in type,exercise,spot,strike,rate,volatility,expiry");
  return columns;
}

bool parse_book_line(const std::vector<book_column>& columns, std::string_view line, batch_option& option,
                     book_failure& failure) {
  option = {};
  std::string_view rest = line;
  bool last = false;
  for (const book_column column : columns) {
    failure.column = static_cast<std::int64_t>(line.size() - rest.size()) + 1;
    if (last) {
      failure.message = "there are " + std::to_string(columns.size()) + " columns and fewer cells";
      return false;
    }
    const std::string_view cell = take_cell(rest, last);
    if (cell.empty()) {
      if (std::find(std::begin(needed), std::end(needed), column) == std::end(needed)) continue;
      failure.message = std::string(names[static_cast<std::size_t>(column)]) + " is missing";
      return false;
    }
    if (!take(column, cell, option, failure.message)) return false;
  }
  failure.column = static_cast<std::int64_t>(line.size() - rest.size()) + 1;
  if (!is_empty_book_line(rest)) {
    failure.message = "there are " + std::to_string(columns.size()) + " columns and more cells";
    return false;
  }
  failure.column = 0;
  return check_option(option, failure);
}

std::string book_output_header(bool greeks) {
  return greeks ? "line,price,delta,gamma,theta,vega,rho,error\n" : "line,price,delta,gamma,theta,error\n";
}

void print_book_line(std::string& text, std::int64_t line, const valuation& v, bool greeks,
                     std::string_view remark) {
  char buffer[8 * (number_width + 1)];
  char* p = print_number(buffer, line);
  const auto cell = [&](double value) {
    *p++ = ',';
    if (std::isfinite(value)) p = print_number(p, value + 0.0);  // no -0
  };
  cell(v.price);
  cell(v.delta);
  cell(v.gamma);
  cell(v.theta);
  if (greeks) {
    cell(v.vega);
    cell(v.rho);
  }
  *p++ = ',';
  text.append(buffer, p);
  if (!remark.empty()) text.append("\"").append(remark).append("\"");
  text += '\n';
}

void print_book_failure(std::string& text, const book_failure& failure, bool greeks) {
  text += number_text(failure.line);
  text += greeks ? ",,,,,,,\"" : ",,,,,\"";
  for (const char c : failure.message) {
    if (c == '"') text += '"';
    text += c;
  }
  text += "\"\n";
}

}  // namespace vouch
