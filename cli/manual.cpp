#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <vouch/core/config.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::array<std::string_view, 4> kinds{"man", "complete-bash", "complete-zsh", "complete-fish"};

// Commands behind the first word of another.
constexpr std::array<std::pair<int (*)(std::span<const char* const>), const char*>, 3> inner{
    {{cmd_gen, "matrix-set"}, {cmd_gen, "fingerprint"}, {cmd_classify, "train"}}};

command_table table_of(const command& c, std::vector<const char*> arguments) {
  if (c.run == cmd_bench) return {std::string(c.name), std::string(c.summary), " SUITE [options]", {}, {}, {}};
  arguments.push_back(describe_yourself);
  try {
    c.run(arguments);
  } catch (const command_table& table) {
    return table;
  }
  return {};
}

std::vector<command_table> tables() {
  std::vector<command_table> all;
  for (const command& c : commands) {
    all.push_back(table_of(c, {}));
    for (const auto& [outer, word] : inner)
      if (c.run == outer) all.push_back(table_of(c, {word}));
  }
  return all;
}

std::string with_replaced(std::string text, std::string_view letter, std::string_view by) {
  for (std::size_t at = text.find(letter); at != text.npos; at = text.find(letter, at + by.size()))
    text.replace(at, letter.size(), by);
  return text;
}

template <class Use>
void for_each_option(const command_table& table, const Use& use) {
  for (const command_table::section& s : table.sections)
    for (const command_table::line& line : s.lines)
      if (!line.names.empty()) use(line);
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// A command of a command: "gen matrix-set".
bool is_inner(const command_table& table) { return table.name.find(' ') != table.name.npos; }

// ---- the manual page ----

std::string roff(const std::string& text) {
  const std::string plain = with_replaced(with_replaced(text, "\\", "\\e"), "-", "\\-");
  return plain.starts_with('.') || plain.starts_with('\'') ? fmt::format("\\&{}", plain) : plain;
}

std::string roff_lines(const std::vector<command_table::line>& lines) {
  std::string text;
  for (const command_table::line& line : lines)
    text += fmt::format(".TP\n.B {}\n{}\n", line.left.empty() ? "\\&" : roff(line.left), roff(line.right));
  return text;
}

std::string manual_section(const command_table& table) {
  std::string text =
      fmt::format(".SH VOUCH {}\n{}.\n.PP\n.B vouch {}\n{}[options]\n", table.name, roff(table.summary),
                  roff(table.name), table.usage.empty() ? "" : roff(table.usage.substr(1)) + " ");
  text += roff_lines(table.positionals);
  for (const command_table::section& s : table.sections)
    text += fmt::format(".SS {}\n{}", roff(s.title), roff_lines(s.lines));
  if (!table.examples.empty()) text += ".SS Examples\n" + roff_lines(table.examples);
  return text;
}

std::string manual_page(const std::vector<command_table>& all) {
  std::string text = fmt::format(
      ".TH VOUCH 1 \"\" \"vouch {}\" \"User Commands\"\n"
      ".SH NAME\nvouch \\- linear systems solved fast, with an answer that is checked\n"
      ".SH SYNOPSIS\n.B vouch\n.I COMMAND\n[arguments] [options]\n"
      ".SH DESCRIPTION\nStandard output carries the result alone, or one JSON object with\n.BR \\-\\-json ;\n"
      "the log goes to standard error. Behind\n.B \\-\\-\nthere are no options.\n",
      version);
  for (const command_table& table : all) text += manual_section(table);
  return text +
         ".SH OPTIONS OF EVERY COMMAND\n"
         ".TP\n.B \\-h, \\-\\-help\nall about the command\n"
         ".TP\n.B \\-\\-color WHEN\nauto, always or never; auto: on terminals, unless NO_COLOR is set\n"
         ".SH EXIT STATUS\n"
         ".TP\n.B 0\nthe goal is reached\n.TP\n.B 1\nit ran and the goal is missed\n"
         ".TP\n.B 2\nwrong usage or bad input\n.TP\n.B 3\nno GPU, no memory, or the file system\n"
         ".TP\n.B 129, 130, 143\ninterrupted\n"
         ".SH ENVIRONMENT\n"
         ".TP\n.B OMP_NUM_THREADS\nthreads where \\-\\-threads is not given\n"
         ".TP\n.B NO_COLOR\nno colours, where it is set and not empty\n"
         ".TP\n.B CUDA_VISIBLE_DEVICES\nthe GPUs that are there\n"
         ".TP\n.B VOUCH_BACKENDS\na folder of modules that factorise sparse matrices\n"
         ".TP\n.B VOUCH_CUDSS\ncuDSS, which does so on a GPU: its file libcudss.so.1, or the folder of that\n";
}

// ---- completions ----

// Words that may follow each option with known values, and the options of each command.
std::string bash_completion(const std::vector<command_table>& all) {
  std::string values, options, inner_names;
  std::vector<std::string> names;
  for (const command_table& table : all) {
    std::vector<std::string> own{"--help", "--color"};
    for_each_option(table, [&](const command_table::line& line) {
      own.insert(own.end(), line.names.begin(), line.names.end());
      if (line.values.empty()) return;
      values += "    ";
      for (const std::string& name : line.names)
        values += fmt::format("{}'{} {}'", name == line.names.front() ? "" : "|", table.name, name);
      values += fmt::format(") words='{}' ;;\n", joined(line.values));
    });
    options += fmt::format("    '{}') words='{}' ;;\n", table.name, joined(own));
    if (is_inner(table))
      inner_names += fmt::format("{}'{}'", inner_names.empty() ? "" : "|", table.name);
    else
      names.push_back(table.name);
  }
  return fmt::format(
      "# bash completion of vouch; bash 4\n"
      "_vouch() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} "
      "words=\n"
      "  [[ $cur == '=' ]] && cur=\n"
      "  [[ $prev == '=' ]] && prev=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  COMPREPLY=()\n"
      "  if [[ COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version --generate' -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command ${{COMP_WORDS[2]}}\" in\n"
      "    {}) [[ COMP_CWORD -gt 2 ]] && command+=\" ${{COMP_WORDS[2]}}\" ;;\n"
      "  esac\n"
      "  case \"$command $prev\" in\n"
      "{}"
      "    *' --color') words='auto always never' ;;\n"
      "    '--generate --generate') words='{}' ;;\n"
      "    *) [[ $cur == -* ]] && case \"$command\" in\n{}    esac ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "}}\n"
      "complete -o default -F _vouch vouch\n",
      joined(names), inner_names, values, fmt::join(kinds, " "), options);
}

std::string quoted_once(const std::string& text) { return with_replaced(text, "'", "'\\''"); }

// One specification of _arguments for each name, with what it explains and what may follow.
std::string zsh_options(const command_table& table) {
  std::string text;
  for_each_option(table, [&](const command_table::line& line) {
    std::string help = quoted_once(line.right);
    for (const char* special : {"[", "]", ":"})
      help = with_replaced(help, special, fmt::format("\\{}", special));
    const std::string follows = !line.takes_value     ? ""
                                : line.values.empty() ? ":value:_files"
                                                      : fmt::format(":value:({})", joined(line.values));
    for (const std::string& name : line.names)
      text += fmt::format("      '{}{}[{}]{}' \\\n", name,
                          line.takes_value && name.starts_with("--") ? "=" : "", help, follows);
  });
  return text + "      '--color=[auto, always or never]:value:(auto always never)' '*:file:_files'";
}

std::string zsh_completion(const std::vector<command_table>& all) {
  std::string names, cases;
  for (const command_table& table : all) {
    if (is_inner(table)) continue;
    names += fmt::format("    '{}:{}'\n", table.name, quoted_once(table.summary));
    cases += fmt::format("    {})\n      _arguments \\\n{} ;;\n", table.name, zsh_options(table));
  }
  return fmt::format(
      "#compdef vouch\n"
      "_vouch() {{\n"
      "  local -a names=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command names\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "_vouch \"$@\"\n",
      names, cases);
}

std::string fish_completion(const std::vector<command_table>& all) {
  std::string text = "# fish completion of vouch\n";
  for (const command_table& table : all) {
    if (is_inner(table)) continue;
    const auto quoted = [](const std::string& plain) {
      return fmt::format("'{}'", with_replaced(with_replaced(plain, "\\", "\\\\"), "'", "\\'"));
    };
    text += fmt::format("complete -c vouch -n __fish_use_subcommand -f -a {} -d {}\n", table.name,
                        quoted(table.summary));
    const std::string where = fmt::format("complete -c vouch -n '__fish_seen_subcommand_from {}'", table.name);
    for_each_option(table, [&](const command_table::line& line) {
      text += where;
      for (const std::string& name : line.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (line.takes_value)
        text += line.values.empty() ? " -r" : fmt::format(" -x -a '{}'", joined(line.values));
      text += fmt::format(" -d {}\n", quoted(line.right));
    });
    text += where + " -l color -x -a 'auto always never' -d 'colours'\n";
  }
  return text;
}

}  // namespace

std::string manual(std::string_view kind) {
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    throw usage_error(fmt::format("option --generate: unknown value '{}'", kind),
                      "valid values: " + either(kinds));
  const std::vector<command_table> all = tables();
  if (kind == "man") return manual_page(all);
  if (kind == "complete-bash") return bash_completion(all);
  return kind == "complete-zsh" ? zsh_completion(all) : fish_completion(all);
}

}  // namespace vouch::cli
