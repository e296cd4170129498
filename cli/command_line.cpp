#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

#include "console.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::size_t help_column = 28;
constexpr std::size_t help_width = 100;
constexpr std::string_view end_of_options = "--";
constexpr std::string_view no_value = "any";

using help_line = command_table::line;

std::string shown(std::string_view names, std::string_view what) {
  std::string text(names);
  if (const auto comma = text.find(','); comma != std::string::npos) text.insert(comma + 1, " ");
  if (!what.empty()) text += fmt::format(" {}", what);
  return text;
}

std::string_view long_name(std::string_view names) { return names.substr(names.rfind("--")); }

// As many words of the text as fit into a line; takes them and the space behind them away.
std::string_view take_line(std::string_view& text, std::size_t width) {
  std::size_t length = text.size();
  if (length > width) {
    length = text.rfind(' ', width);
    if (length == std::string_view::npos) length = std::min(text.find(' '), text.size());
  }
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

void print(std::string& out, const help_line& line) {
  std::string_view rest = line.right;
  const bool wide = line.left.size() + 4 > help_column;
  const std::size_t width = help_width - (wide ? line.left.size() + 4 : help_column);
  out += fmt::format("  {:<{}}{}\n", line.left, wide ? line.left.size() + 2 : help_column - 2,
                     take_line(rest, width));
  while (!rest.empty())
    out += fmt::format("{:<{}}{}\n", "", help_column, take_line(rest, help_width - help_column));
}

bool is_malformed(const parsed_number<double>& number, std::string_view text) {
  return number.error == number_error::malformed || number.end != text.data() + text.size();
}

parsed_number<double> real_in(std::string_view text) {
  return vouch::parse_real(text.data(), text.data() + text.size());
}

// Not 0, and closer to it than any double.
bool underflows(const parsed_number<double>& number, std::string_view text) {
  return number.error == number_error::none && number.value == 0 &&
         text.substr(0, text.find_first_of("eE")).find_first_of("123456789") != std::string_view::npos;
}

}  // namespace

struct command_line::state : command_table {
  CLI::App app;
  std::vector<std::string> option_names;
  std::vector<std::pair<std::string, std::function<bool()>>> required;
  std::vector<std::string> with_optional_value;
};

command_line::command_line(std::string_view command, std::string_view summary)
    : state_(std::make_unique<state>()) {
  state_->name = command;
  state_->summary = summary;
  state_->app.allow_extras();
  state_->app.set_help_flag("-h,--help");
  state_->option_names = {"-h", "--help"};
  state_->app.add_option_function<std::string>("--color", [](const std::string& when) { set_colour(when); })
      ->take_last();
  state_->option_names.push_back("--color");
}

command_line::~command_line() = default;

void command_line::example(std::string_view line, std::string_view what) {
  state_->examples.push_back({std::string(line), std::string(what), {}, {}});
}

void command_line::section(std::string_view title) { state_->sections.push_back({std::string(title), {}}); }

void command_line::note(std::string_view left, std::string_view right) {
  std::vector<help_line>& lines =
      state_->sections.empty() ? state_->positionals : state_->sections.back().lines;
  lines.push_back({std::string(left), std::string(right), {}, {}});
}

void command_line::argument(std::string_view name, std::string& target, std::string_view help) {
  const bool optional = !target.empty();
  state_->usage += optional ? fmt::format(" [{}]", name) : fmt::format(" {}", name);
  state_->positionals.push_back({std::string(name), std::string(help), {}, {}});
  state_->app.add_option(fmt::format("argument{}", state_->positionals.size()), target);
  if (!optional) state_->required.emplace_back(name, [&target] { return !target.empty(); });
}

void command_line::arguments(std::string_view name, std::vector<std::string>& target, std::string_view help,
                             bool needed) {
  state_->usage += needed ? fmt::format(" {}...", name) : fmt::format(" [{}...]", name);
  state_->positionals.push_back({fmt::format("{}...", name), std::string(help), {}, {}});
  state_->app.add_option(fmt::format("argument{}", state_->positionals.size()), target);
  if (needed) state_->required.emplace_back(name, [&target] { return !target.empty(); });
}

void command_line::explain(std::string_view names, std::string_view what, std::string_view help) {
  if (state_->sections.empty()) section("Options");
  std::vector<help_line>& lines = state_->sections.back().lines;
  if (help.empty())
    lines.back().left += ", " + shown(names, what);
  else
    lines.push_back({shown(names, what), std::string(help), {}, {}});
  help_line& line = lines.back();
  line.takes_value = !what.empty();
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    line.names.emplace_back(names.substr(at, comma - at));
    state_->option_names.push_back(line.names.back());
    at = comma + 1;
  }
}

void command_line::suggest(std::vector<std::string> words) {
  state_->sections.back().lines.back().values = std::move(words);
}

void command_line::value(std::string_view names, std::string_view what, std::string_view help,
                         std::function<void(std::string_view option, const std::string& given)> take) {
  explain(names, what, help);
  state_->app
      .add_option_function<std::string>(
          std::string(names), [option = std::string(long_name(names)),
                               take = std::move(take)](const std::string& given) { take(option, given); })
      ->take_last();
}

void command_line::flag(std::string_view names, bool& target, std::string_view help) {
  explain(names, "", help);
  state_->app.add_flag(std::string(names), target);
}

void command_line::text(std::string_view names, std::string_view what, std::string& target,
                        std::string_view help) {
  value(names, what, help, [&target](std::string_view option, const std::string& given) {
    if (given.empty()) throw usage_error(fmt::format("option {}: an empty value", option));
    target = given;
  });
}

void command_line::choice(std::string_view names, std::string_view what, std::string& target,
                          std::span<const std::string_view> values, std::string_view help) {
  value(names, what, help, [&target, values](std::string_view option, const std::string& given) {
    const auto meets = [&given](std::string_view word) { return same_word(word, given); };
    const auto found = std::find_if(values.begin(), values.end(), meets);
    if (found == values.end())
      throw usage_error(fmt::format("option {}: unknown value '{}'", option, given),
                        did_you_mean(given, values, "valid values: " + either(values)));
    target = *found;
  });
  suggest({values.begin(), values.end()});
}

template <class Number>
void command_line::real(std::string_view names, Number& target, double least, std::string_view help) {
  value(names, "X", help, [&target, least](std::string_view option, const std::string& given) {
    target = parse_real(option, given, least);
  });
}
template void command_line::real(std::string_view, double&, double, std::string_view);
template void command_line::real(std::string_view, std::optional<double>&, double, std::string_view);

void command_line::optional_real(std::string_view names, std::string_view what, bool& asked,
                                 std::optional<double>& target, double least, std::string_view help) {
  value(names, fmt::format("[{}]", what), help,
        [&asked, &target, least](std::string_view option, const std::string& given) {
          asked = true;
          target.reset();
          if (given != no_value) target = parse_real(option, given, least);
        });
  state_->with_optional_value.emplace_back(long_name(names));
}

template <class Number>
void command_line::count(std::string_view names, Number& target, std::int64_t least, std::string_view help,
                         std::int64_t most) {
  value(names, "N", help, [&target, least, most](std::string_view option, const std::string& given) {
    target = parse_count(option, given, least, most);
  });
}
template void command_line::count(std::string_view, std::int64_t&, std::int64_t, std::string_view,
                                  std::int64_t);
template void command_line::count(std::string_view, std::optional<std::int64_t>&, std::int64_t,
                                  std::string_view, std::int64_t);

std::string command_line::help() const {
  std::string out = fmt::format("vouch {} -- {}\n", state_->name, state_->summary);
  const auto list = [&out](std::string_view title, const std::vector<help_line>& lines) {
    out += fmt::format("\n{}\n", title);
    for (const help_line& line : lines) print(out, line);
  };
  std::size_t widest = 0;
  for (const help_line& line : state_->examples) widest = std::max(widest, line.left.size());
  if (!state_->examples.empty()) out += "\nExamples\n";
  for (const help_line& line : state_->examples)
    out += fmt::format("  {:<{}}  {}\n", line.left, widest, line.right);
  list(fmt::format("Usage: vouch {}{} [options]", state_->name, state_->usage), state_->positionals);
  for (const command_table::section& s : state_->sections) list(s.title, s.lines);
  return out;
}

// Gives every option whose value may be left out one: a number that follows, or the word for none.
std::vector<std::string> command_line::completed(std::span<const char* const> arguments) const {
  std::vector<std::string> all(arguments.begin(), arguments.end());
  for (std::size_t k = 0; k < all.size() && all[k] != end_of_options; ++k)
    for (const std::string& option : state_->with_optional_value) {
      if (all[k] != option) continue;
      const bool follows = k + 1 < all.size() && !is_malformed(real_in(all[k + 1]), all[k + 1]);
      all[k] += '=';
      all[k] += follows ? all[k + 1] : std::string(no_value);
      if (follows) all.erase(all.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    }
  return all;
}

bool command_line::parse(std::span<const char* const> arguments) {
  if (arguments.size() == 1 && arguments[0] == describe_yourself)
    throw static_cast<const command_table&>(*state_);
  std::vector<std::string> in_order = completed(arguments);
  std::reverse(in_order.begin(), in_order.end());  // the order that CLI11 takes
  try {
    state_->app.parse(std::move(in_order));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help());
    return false;
  } catch (const CLI::ArgumentMismatch& wrong) {
    const std::string_view text = wrong.what();  // "--option: ..."
    throw usage_error(fmt::format("option {}: its value is missing", text.substr(0, text.find(':'))),
                      fmt::format("vouch {} -h lists the options", state_->name));
  } catch (const CLI::ParseError& wrong) {
    throw usage_error(wrong.what(), fmt::format("vouch {} -h lists the options", state_->name));
  }
  const std::vector<std::string_view> names(state_->option_names.begin(), state_->option_names.end());
  std::vector<std::string> extras = state_->app.remaining();
  const auto end = std::find(extras.begin(), extras.end(), end_of_options);
  for (const std::string& extra : std::vector<std::string>(extras.begin(), end)) {
    if (extra.size() < 2 || extra[0] != '-') continue;
    const std::string option = extra.substr(0, extra.find('='));
    std::string meant = did_you_mean(option, names);
    if (meant.empty()) meant = fmt::format("vouch {} -h lists the options", state_->name);
    throw usage_error(fmt::format("unknown option {}", option), meant);
  }
  if (end != extras.end()) extras.erase(end);
  if (!extras.empty())
    throw usage_error(fmt::format("one argument too many: '{}'", extras.front()),
                      fmt::format("usage: vouch {}{} [options]", state_->name, state_->usage));
  for (const auto& [name, given] : state_->required)
    if (!given())
      throw usage_error(fmt::format("{} is missing", name),
                        fmt::format("usage: vouch {}{} [options]", state_->name, state_->usage));
  return true;
}

double parse_real(std::string_view option, std::string_view text, double least) {
  const parsed_number<double> number = real_in(text);
  if (is_malformed(number, text) || number.error == number_error::overflow)
    throw usage_error(fmt::format("option {}: {}", option, not_a_number(text)));
  if (underflows(number, text))
    throw usage_error(fmt::format("option {}: '{}' underflows double precision", option, text),
                      "give 0, or at least 5e-324 in size");
  if (!(number.value >= least))
    throw usage_error(fmt::format("option {}: {} is below {}", option, text, least));
  return number.value;
}

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  const char* const end = text.data() + text.size();
  const parsed_number<std::int64_t> digits = parse_integer(text.data(), end);
  std::int64_t number = digits.value;
  bool beyond = false;                                            // 64 bits
  if (digits.end != end || digits.error != number_error::none) {  // perhaps "1e6"
    const parsed_number<double> real = real_in(text);
    beyond = real.error == number_error::overflow || std::fabs(real.value) >= 0x1p63;
    const bool whole = beyond || (real.value == std::trunc(real.value) && !underflows(real, text));
    if (is_malformed(real, text) || !whole)
      throw usage_error(fmt::format("option {}: '{}' is not a whole number", option, text));
    number = beyond ? least : static_cast<std::int64_t>(real.value);
  }
  const bool negative = text.starts_with('-');
  if (number < least || (beyond && negative))
    throw usage_error(fmt::format("option {}: {} is below {}", option, text, least));
  if (number > most || beyond) throw usage_error(fmt::format("option {}: {} is above {}", option, text, most));
  return number;
}

set_shape parse_shape(std::string_view option, std::string_view text) {
  constexpr std::int64_t most = 1 << 15;
  const std::size_t cross = text.find_first_of("xX");
  if (cross == std::string_view::npos)
    throw usage_error(fmt::format("option {}: '{}' is no shape", option, text), "rows x columns, like 3x3");
  return {parse_count(option, text.substr(0, cross), 1, most),
          parse_count(option, text.substr(cross + 1), 1, most)};
}

}  // namespace vouch::cli
