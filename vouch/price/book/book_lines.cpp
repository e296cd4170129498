#include <vouch/price/book/book_lines.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/words.hpp>
#include <vouch/text/csv.hpp>
#include <vouch/text/nearest_name.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

constexpr std::array<std::string_view, 20> names{
    "type",      "exercise",  "spot",           "strike",  "rate",          "dividend",    "volatility",
    "expiry",    "payoff",    "cash",           "barrier", "barrier_level", "rebate",      "price",
    "tolerance", "dividends", "dividend_model", "dates",   "rates",         "volatilities"};
constexpr book_column needed[] = {book_column::type, book_column::spot, book_column::strike,
                                  book_column::expiry};
static_assert(names.size() == static_cast<std::size_t>(book_column::passed));

std::string name_of(book_column column) { return std::string(names[static_cast<std::size_t>(column)]); }

bool is_needed(book_column column) {
  return std::find(std::begin(needed), std::end(needed), column) != std::end(needed);
}

std::string list() {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

double& number_of(book_line& line, book_column column) {
  plain_option& o = line.option.option;
  switch (column) {
    case book_column::price:
      return line.price;
    case book_column::tolerance:
      return line.tolerance;
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

template <class Words>
std::string unknown_word(book_column column, std::string_view cell, const Words& words) {
  std::string all = "unknown " + name_of(column) + " " + quoted(cell);
  for (const std::string_view word : words)
    all += (word == words.front() ? ": " : word == words.back() ? " or " : ", ") + std::string(word);
  return all;
}

// Takes what the text of a schedule says; false where it says nothing.
bool take_schedule(book_column column, std::string_view cell, contract& changes, std::string& wrong) {
  try {
    if (column == book_column::dates) changes.exercise_dates = parse_times(cell);
    if (column == book_column::dividends) changes.dividends = parse_dividends(cell);
    if (column == book_column::rates) changes.rates = parse_curve(cell);
    if (column == book_column::volatilities) changes.volatilities = parse_curve(cell);
    return true;
  } catch (const value_error& e) {
    wrong = name_of(column) + ": " + e.what();
    return false;
  }
}

// Puts a cell's word, number or schedule where it belongs; false where it means nothing.
bool take(book_column column, std::string_view cell, book_line& line, std::string& wrong) {
  const auto word = [&](auto found, auto& target, const auto& words) {
    if (found)
      target = *found;
    else
      wrong = unknown_word(column, cell, words);
    return found.has_value();
  };
  batch_option& b = line.option;
  switch (column) {
    case book_column::type:
      return word(type_of(cell), b.option.type, type_words);
    case book_column::exercise:
      return word(exercise_of(cell), b.exercise, exercise_words);
    case book_column::payoff:
      return word(payoff_of(cell), b.option.payoff, payoff_words);
    case book_column::barrier:
      return word(barrier_of(cell), b.option.barrier, barrier_words);
    case book_column::dividend_model:
      return word(dividend_model_of(cell), line.changes.model, dividend_model_words);
    case book_column::dates:
    case book_column::dividends:
    case book_column::rates:
    case book_column::volatilities:
      line.is_plain = false;
      return take_schedule(column, cell, line.changes, wrong);
    default:
      break;
  }
  const auto parsed = parse_real(cell.data(), cell.data() + cell.size());
  if (parsed.error == number_error::none && parsed.end == cell.data() + cell.size()) {
    number_of(line, column) = parsed.value;
    return true;
  }
  wrong = name_of(column) + ": " + not_a_number(cell);
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

// Which columns of a line have something in them.
class filled_cells {
 public:
  void add(book_column column) { bits_ |= bit(column); }
  bool has(book_column column) const { return (bits_ & bit(column)) != 0; }

 private:
  static std::uint32_t bit(book_column column) { return std::uint32_t{1} << static_cast<unsigned>(column); }
  std::uint32_t bits_ = 0;
};

// What cells say beside each other; "" where nothing is wrong with that.
std::string disagreement(const book_line& line, const filled_cells& cells) {
  using enum book_column;
  for (const auto& [one, other] : {std::pair{rate, rates}, std::pair{volatility, volatilities},
                                   std::pair{price, volatility}, std::pair{price, volatilities}})
    if (cells.has(one) && cells.has(other))
      return name_of(one) + " and " + name_of(other) + " exclude each other";
  if (!cells.has(volatility) && !cells.has(volatilities) && !cells.has(price)) return "volatility is missing";
  const bool bermudan = line.option.exercise == exercise_style::bermudan;
  if (bermudan != cells.has(dates))
    return bermudan ? "dates are missing, on which a bermudan option may be exercised"
                    : "dates without exercise bermudan";
  if (cells.has(tolerance) && !(line.tolerance > 0 && std::isfinite(line.tolerance)))
    return "tolerance " + number_text(line.tolerance) + " is not positive";
  return idle_cell(line.option.option);
}

bool check_line(const book_line& line, const filled_cells& cells, book_failure& failure) {
  failure.message = disagreement(line, cells);
  if (!failure.message.empty()) return false;
  if (line.is_plain && is_fine(line.option.option)) return true;
  try {
    contract c = line.whole();
    check(c);
    return true;
  } catch (const error& e) {
    failure.message = e.what();
    return false;
  }
}

// The column of a name, in letters of either size; passed where it is none of ours.
book_column column_of(std::string_view name) {
  const auto same = [&](std::string_view one) { return same_word(one, name); };
  return static_cast<book_column>(std::find_if(names.begin(), names.end(), same) - names.begin());
}

std::string in_lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// The names of an output's columns, but for those that are passed.
std::vector<std::string_view> output_names(bool has_prices, const book_options& options) {
  std::vector<std::string_view> all{"line"};
  if (has_prices) all.push_back("implied_volatility");
  all.insert(all.end(), {"price", "delta", "gamma", "theta"});
  if (options.greeks || options.more_greeks) all.insert(all.end(), {"vega", "rho"});
  if (options.more_greeks) all.insert(all.end(), {"dividend_rho", "vanna", "volga", "charm"});
  all.push_back("error");
  return all;
}

// What a name that stands for no number of an option is refused with; "" where it is passed: unless it is
// likely to have been meant for another one, or is a name of the output.
error refusal(std::string_view name, const book_options& options) {
  const std::string unknown = "unknown column " + quoted(name), lower = in_lower_case(name);
  if (options.strict) return error(unknown, "columns: " + list());
  const std::string_view meant = nearest_name(lower, names);
  if (!meant.empty()) return error(unknown, "did you mean " + std::string(meant) + "?");
  for (const std::string_view taken : output_names(true, options))
    if (taken == lower)
      return error("column " + quoted(name) + " has the name of one of the output", "give it another name");
  return error("");
}

// Calls put with each cell that is passed, as it stands in the line.
template <class Put>
void for_each_passed(const book_header& header, std::string_view input, Put put) {
  bool last = false;
  for (const book_column column : header.columns) {
    const csv_cell cell = last ? csv_cell{} : take_cell(input, last);
    if (column == book_column::passed) put(cell.whole ? cell.raw : std::string_view());
  }
}

void begin_line(std::string& text, const book_header& header, std::int64_t number, std::string_view input) {
  char buffer[number_width];
  text.append(buffer, print_number(buffer, number));
  if (!header.passed.empty())
    for_each_passed(header, input, [&](std::string_view cell) { text.append(",").append(cell); });
}

}  // namespace

contract book_line::whole() const {
  contract c = changes;
  c.plain = option.option;
  c.exercise = option.exercise;
  return c;
}

bool is_empty_book_line(std::string_view line) {
  return line.find_first_not_of(", \t\r") == std::string_view::npos;
}

book_header parse_book_header(const std::string& file, std::string_view line, std::int64_t number,
                              const book_options& options) {
  book_header header;
  std::string_view rest = without_byte_order_mark(line);
  for (bool last = false; !last && !is_empty_book_line(rest);) {
    const auto at = static_cast<std::int64_t>(line.size() - rest.size()) + 1;
    const csv_cell cell = take_cell(rest, last);
    if (!cell.whole) throw parse_error(file, number, at, "quotes that do not end with the name of the column");
    const book_column column = column_of(cell.text);
    if (column == book_column::passed) {
      const error wrong = refusal(cell.text, options);
      if (*wrong.what() != 0) throw parse_error(file, number, at, wrong.what(), wrong.hint());
      header.passed.emplace_back(cell.raw);
    } else if (std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end()) {
      throw parse_error(file, number, at, "column " + quoted(cell.text) + " is there twice");
    }
    header.columns.push_back(column);
  }
  const auto has = [&](book_column column) {
    return std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end();
  };
  const auto need = [&](bool there, book_column column) {
    if (!there)
      throw parse_error(
          file, number, 0, "column " + name_of(column) + " is missing",
          "the first line names the columns, as in type,exercise,spot,strike,rate,volatility,expiry");
  };
  for (const book_column column : needed) need(has(column), column);
  header.has_prices = has(book_column::price);
  need(has(book_column::volatility) || has(book_column::volatilities) || header.has_prices,
       book_column::volatility);
  return header;
}

bool parse_book_line(const book_header& header, std::string_view text, book_line& line, book_failure& failure) {
  line.option = {};
  line.price = std::numeric_limits<double>::quiet_NaN();
  line.tolerance = 0;
  line.changes.model = dividend_model::piecewise;
  if (!line.is_plain) line.changes = {};
  line.is_plain = true;
  filled_cells cells;
  std::string_view rest = text;
  const auto fail = [&](std::string message) {
    failure.message = std::move(message);
    return false;
  };
  bool last = false;
  for (const book_column column : header.columns) {
    failure.column = static_cast<std::int64_t>(text.size() - rest.size()) + 1;
    if (last) return fail("there are " + std::to_string(header.columns.size()) + " columns and fewer cells");
    const csv_cell cell = take_cell(rest, last);
    if (!cell.whole) return fail("quotes that do not end with their cell: a cell has no line breaks");
    if (column == book_column::passed) continue;
    if (cell.text.empty()) {
      if (is_needed(column)) return fail(name_of(column) + " is missing");
      continue;
    }
    cells.add(column);
    if (!take(column, cell.text, line, failure.message)) return false;
  }
  failure.column = static_cast<std::int64_t>(text.size() - rest.size()) + 1;
  if (!is_empty_book_line(rest))
    return fail("there are " + std::to_string(header.columns.size()) + " columns and more cells");
  failure.column = 0;
  return check_line(line, cells, failure);
}

std::string book_output_header(const book_header& header, const book_options& options) {
  std::string text;
  for (const std::string_view name : output_names(header.has_prices, options)) {
    if (!text.empty()) text += ',';
    text += name;
    if (name != "line") continue;
    for (const std::string& passed : header.passed) text.append(",").append(passed);
  }
  return text + '\n';
}

void print_book_line(std::string& text, const book_header& header, const book_options& options,
                     std::int64_t number, std::string_view input, const book_values& values,
                     std::string_view remark) {
  begin_line(text, header, number, input);
  char buffer[12 * (number_width + 1)];
  char* p = buffer;
  const auto cell = [&](double value) {
    *p++ = ',';
    if (std::isfinite(value)) p = print_number(p, value + 0.0);  // no -0
  };
  const valuation& v = values.value;
  if (header.has_prices) cell(values.implied_volatility);
  cell(v.price);
  cell(v.delta);
  cell(v.gamma);
  cell(v.theta);
  if (options.greeks || options.more_greeks) {
    cell(v.vega);
    cell(v.rho);
  }
  if (options.more_greeks) {
    const more_greeks& more = values.more;
    for (const double greek : {more.dividend_rho, more.vanna, more.volga, more.charm}) cell(greek);
  }
  *p++ = ',';
  text.append(buffer, p);
  if (!remark.empty()) text.append("\"").append(remark).append("\"");
  text += '\n';
}

void print_book_failure(std::string& text, const book_header& header, const book_options& options,
                        std::string_view input, const book_failure& failure) {
  begin_line(text, header, failure.line, input);
  text.append(output_names(header.has_prices, options).size() - 1, ',');
  text += '"';
  for (const char c : failure.message) {
    if (c == '"') text += '"';
    text += c;
  }
  text += "\"\n";
}

}  // namespace vouch
