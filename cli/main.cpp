// The tool: finds the subcommand, runs it, and turns exceptions into messages and exit codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <utility>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

#include "command.hpp"
#include "console.hpp"
#include "interrupt.hpp"
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
  for (const command& c : commands()) text += fmt::format("  {:<10}{}\n", c.name, c.summary);
  text +=
      "\n"
      "  -h, --help      this page; vouch COMMAND -h for a command\n"
      "  --version       the version\n"
      "  --              behind it are names, no options\n"
      "\n"
      "Exit codes: 0 goal reached, 1 goal missed, 2 usage or bad input, 3 no GPU, memory or file system,\n"
      "            129, 130 and 143 interrupted\n";
  return text;
}

const command& find_command(std::string_view typed) {
  for (const command& c : commands())
    if (c.name == typed) return c;
  const bool option = typed.starts_with('-');
  std::vector<std::string_view> names;
  if (option) names = {"--version", "--help"};
  for (const command& c : commands()) names.push_back(c.name);
  const std::string meant = did_you_mean(typed, names);
  throw usage_error(fmt::format("unknown {} '{}'", option ? "option" : "command", typed),
                    meant.empty() ? "vouch -h lists the commands" : meant);
}

int run(std::span<const char* const> arguments) {
  if (arguments.empty()) {
    to_stderr(overview());
    return bad_input;
  }
  const std::string_view first = arguments.front();
  if (first == "--version" || first == "-V") {
    fmt::print("vouch {}{}\n", version, built_with_cuda ? "" : " (without CUDA)");
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

int fail(int code, const char* what, const std::string& hint) {
  to_stderr(fmt::format("vouch: error: {}\n", printable(what)));
  if (!hint.empty()) to_stderr(fmt::format("hint: {}\n", printable(hint)));
  return code;
}

// A closed standard stream would be taken by the first file that is opened: prices would stand in the log, or
// the log in a file of prices. Nothing can be read from or written to what takes the place of the first two.
void hold_standard_streams() {
  for (const auto& [stream, mode] : {std::pair(STDIN_FILENO, O_WRONLY), std::pair(STDOUT_FILENO, O_RDONLY),
                                     std::pair(STDERR_FILENO, O_WRONLY)})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", mode);
}

int guarded(std::span<const char* const> arguments) {
  try {
    const cancellation_scope listens(catch_interrupts());
    return run(arguments);
  } catch (const cancelled&) {
    to_stderr("vouch: interrupted\n");
    return 128 + interrupt_signal();
  } catch (const file_error& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const out_of_memory& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const device_error& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const no_cuda_error& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const error& e) {
    return fail(bad_input, e.what(), e.hint());
  } catch (const std::bad_alloc&) {
    return fail(no_means, "out of memory on the host", "");
  } catch (const std::exception& e) {
    return fail(no_means, e.what(), "");
  }
}

}  // namespace
}  // namespace vouch::cli

int main(int argc, char** argv) {
  const vouch::ieee_environment here;
  namespace cli = vouch::cli;
  cli::hold_standard_streams();
  const int code = cli::guarded({argv + std::min(argc, 1), static_cast<std::size_t>(std::max(argc - 1, 0))});
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    cli::to_stderr("vouch: error: standard output could not be written\n");
    return cli::no_means;
  }
  return cli::interrupt_signal() == 0 ? code : 128 + cli::interrupt_signal();
}
