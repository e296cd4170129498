// bench/command.hpp -- the command line of vouch-bench.
#pragma once
#include <span>

namespace vouch::bench {

/// Reads the arguments, runs the suite or prints the table of earlier results; its exit code.
///
/// Throws  cli::usage_error; what suites throw
int run_command(std::span<const char* const> arguments);

}  // namespace vouch::bench
