// The tool: finds the subcommand and runs it.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "command.hpp"
#include "console.hpp"
#include "program.hpp"
#include "ranks.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

std::string overview() {
  std::string text =
      "vouch -- linear systems solved fast, with an answer that is checked\n"
      "\n"
      "Examples\n"
      "  vouch solve A.mtx               solve A x = (1, ..., 1) and say how good x is\n"
      "  vouch solve A.mtx -h            all about one command\n"
      "\n"
      "Usage: vouch COMMAND [arguments] [options]\n";
  for (const command& c : commands) text += fmt::format("  {:<10}{}\n", c.name, c.summary);
  text +=
      "\n"
      "  -h, --help      this page; vouch COMMAND -h for a command\n"
      "  --version       what this build has and finds; --json for programs\n"
      "  --color WHEN    auto, always or never; of every command\n"
      "  --generate X    man, complete-bash, complete-zsh or complete-fish, to standard output\n"
      "  --              behind it are names, no options\n"
      "\n"
      "Exit codes: 0 goal reached, 1 goal missed, 2 usage or bad input, 3 no GPU, memory or file system,\n"
      "            129, 130 and 143 interrupted\n";
  return text;
}

const command& find_command(std::string_view typed) {
  for (const command& c : commands)
    if (c.name == typed) return c;
  const bool option = typed.starts_with('-');
  std::vector<std::string_view> names;
  if (option) names = {"--version", "--help", "--generate"};
  for (const command& c : commands) names.push_back(c.name);
  const std::string meant = did_you_mean(typed, names);
  throw usage_error(fmt::format("unknown {} '{}'", option ? "option" : "command", typed),
                    meant.empty() ? "vouch -h lists the commands" : meant);
}

int run(std::span<const char* const> arguments) {
  take_rank(arguments);
  if (arguments.empty()) {
    to_stderr(overview());
    return bad_input;
  }
  const std::string_view first = arguments.front();
  if (first == "--version" || first == "-V") {
    const std::span<const char* const> rest = arguments.subspan(1);
    const bool json = !rest.empty() && std::string_view(rest[0]) == "--json";
    if (rest.size() > (json ? 1u : 0u))
      throw usage_error(fmt::format("--version takes --json, no '{}'", rest.back()));
    fmt::print("{}", version_text(json));
    return goal_reached;
  }
  if (first == "--generate") {
    if (arguments.size() != 2)
      throw usage_error("--generate takes one value", "man, complete-bash, complete-zsh or complete-fish");
    fmt::print("{}", manual(arguments[1]));
    return goal_reached;
  }
  if (first == "help" && arguments.size() > 1) {
    constexpr std::array<const char*, 1> help{"-h"};
    return find_command(arguments[1]).run(help);
  }
  if (first == "-h" || first == "--help" || first == "help") {
    fmt::print("{}", overview());
    return goal_reached;
  }
  return find_command(first).run(arguments.subspan(1));
}

}  // namespace
}  // namespace vouch::cli

int main(int argc, char** argv) {
  const int code = vouch::cli::run_program(argc, argv, vouch::cli::run);
  vouch::cli::leave_rank(code);
  return code;
}
