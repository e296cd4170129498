// cli/program.hpp -- what every program of ours does around its work.
#pragma once
#include <functional>
#include <span>

namespace vouch::cli {

/// work(), whose exceptions become messages and exit codes.
int telling_failures(const std::function<int()>& work);

/// Runs work on the arguments behind the program's name, listening for signals, and turns exceptions into messages
/// and exit codes.
///
/// Result  The exit code for main() to return.
int run_program(int argc, char** argv, int (*work)(std::span<const char* const> arguments));

}  // namespace vouch::cli
