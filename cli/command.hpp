// cli/command.hpp -- what a subcommand is, the list of them, and what is said of the tool.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace vouch::cli {

/// Exit codes; an interrupted command ends with 128 + the signal's number.
enum exit_code : int {
  goal_reached = 0,  // the answer holds what was asked
  goal_missed = 1,   // it ran, and the goal was not reached
  bad_input = 2,     // usage, or input that cannot be worked on
  no_means = 3       // no GPU, no memory, the file system
};

/// One subcommand. run() gets the arguments that follow the command's name, prints the result to stdout and
/// returns the exit code; whatever it throws, main() turns into a message and an exit code.
struct command {
  std::string_view name;
  std::string_view summary;
  int (*run)(std::span<const char* const> arguments);
};

// One in each cmd_NAME.cpp.
int cmd_bench(std::span<const char* const> arguments);
int cmd_classify(std::span<const char* const> arguments);
int classify_train(std::span<const char* const> arguments);  // those behind `classify train`
int cmd_convert(std::span<const char* const> arguments);
int cmd_devices(std::span<const char* const> arguments);
int cmd_gen(std::span<const char* const> arguments);
int cmd_info(std::span<const char* const> arguments);
int cmd_price(std::span<const char* const> arguments);
int cmd_reduce(std::span<const char* const> arguments);
int cmd_solve(std::span<const char* const> arguments);
int cmd_verify(std::span<const char* const> arguments);

/// All subcommands, in the order in which help lists them.
inline constexpr command commands[] = {
    {"solve", "solve A x = b and say how good x is", cmd_solve},
    {"verify", "prove how good a solution is that came from anywhere", cmd_verify},
    {"price", "options by formula, exercise boundary or finite differences", cmd_price},
    {"info", "facts of a matrix and a picture of its pattern", cmd_info},
    {"gen", "write a model problem", cmd_gen},
    {"convert", "rewrite a matrix or vectors in another format or order", cmd_convert},
    {"reduce", "reduce sets of small matrices element by element", cmd_reduce},
    {"classify", "the pattern of fingerprints: arch, loop, whorl", cmd_classify},
    {"bench", "measure, and compare with published figures, peers and the hardware", cmd_bench},
    {"devices", "list the CPU and the GPUs that vouch can use", cmd_devices},
};

/// What --version prints of this build and what it finds on the machine: a line for each fact, or one JSON object. No GPU
/// is touched: its name comes from the driver's files.
std::string version_text(bool json);

/// The manual page or the completions of a shell, made of what the commands declare: man, complete-bash, complete-zsh or
/// complete-fish; throws usage_error.
std::string manual(std::string_view kind);

}  // namespace vouch::cli
