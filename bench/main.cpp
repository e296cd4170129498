// vouch-bench, which vouch bench starts: the suites that reproduce published tables.
#include <cli/program.hpp>

#include "command.hpp"

int main(int argc, char** argv) { return vouch::cli::run_program(argc, argv, vouch::bench::run_command); }
