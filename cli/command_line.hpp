// cli/command_line.hpp -- the options of one subcommand: declared once, explained by -h, parsed and checked.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/reduce/matrix_set.hpp>

namespace vouch::cli {

/// What a command takes, as declared: -h, the manual page and completions of shells print it.
struct command_table {
  /// names and values are those of options: "-o", "--output"; the words that may follow, where they are known.
  struct line {
    std::string left, right;
    std::vector<std::string> names, values;
    bool takes_value = false;
  };
  struct section {
    std::string title;
    std::vector<line> lines;
  };
  std::string name, summary, usage;
  std::vector<line> examples, positionals;
  std::vector<section> sections;
};

/// The argument at which parse() throws the command_table: by its address, which nothing that a user types has.
inline constexpr char describe_yourself[] = "(describe yourself)";

/// Declares arguments and options that write to the caller's variables, then parses.
///
/// A later value of an option replaces an earlier one; behind -- there are arguments only. Everything wrong
/// throws usage_error and suggests the nearest valid name or value.
class command_line {
 public:
  command_line(std::string_view command, std::string_view summary);
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// A line that -h shows first.
  void example(std::string_view line, std::string_view what);
  /// Starts a group of options in -h.
  void section(std::string_view title);

  /// A line of the current group that only explains.
  void note(std::string_view left, std::string_view right);

  /// A positional argument; required unless a default stands in target.
  void argument(std::string_view name, std::string& target, std::string_view help);
  /// All remaining positional arguments; at least one where they are needed.
  void arguments(std::string_view name, std::vector<std::string>& target, std::string_view help,
                 bool needed = true);

  // names: "-o,--output". what names the value in -h: "FILE". An option without help shares the line of the one
  // before it.
  void flag(std::string_view names, bool& target, std::string_view help);
  void text(std::string_view names, std::string_view what, std::string& target, std::string_view help);
  /// One of the values, in letters of either size; target holds it as it stands among them.
  void choice(std::string_view names, std::string_view what, std::string& target,
              std::span<const std::string_view> values, std::string_view help);
  /// Number is double or std::optional<double>.
  template <class Number>
  void real(std::string_view names, Number& target, double least, std::string_view help);
  /// A number that may be left out, as in --name, --name=X or --name X; asked is set in any case.
  void optional_real(std::string_view names, std::string_view what, bool& asked, std::optional<double>& target,
                     double least, std::string_view help);
  /// Number is std::int64_t or std::optional of it.
  template <class Number>
  void count(std::string_view names, Number& target, std::int64_t least, std::string_view help,
             std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// Words for the value of the option declared last, which shells offer.
  void suggest(std::vector<std::string> words);

  /// False when -h was asked for and has been printed.
  bool parse(std::span<const char* const> arguments);

 private:
  struct state;
  void explain(std::string_view names, std::string_view what, std::string_view help);
  void value(std::string_view names, std::string_view what, std::string_view help,
             std::function<void(std::string_view option, const std::string& given)> take);
  std::vector<std::string> completed(std::span<const char* const> arguments) const;
  std::string help() const;

  std::unique_ptr<state> state_;
};

/// A decimal number ("1e-8") of at least `least` that double precision holds; otherwise usage_error.
double parse_real(std::string_view option, std::string_view text, double least);
/// A whole number from least to most, "1e6" included; otherwise usage_error.
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// Reads "3x3"; throws usage_error.
set_shape parse_shape(std::string_view option, std::string_view text);

}  // namespace vouch::cli
