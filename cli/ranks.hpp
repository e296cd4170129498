// cli/ranks.hpp -- processes that an MPI launcher started together.
#pragma once
#include <span>

namespace vouch::cli {

struct solve_request;

/// Whether --engine is among the arguments.
bool asks_for_engine(std::span<const char* const> arguments);

/// The first process of several speaks for all: the others' standard output and error lead to nowhere from here on.
///
/// Throws  usage_error  there are several, and what was typed does not share its work among them
void take_rank(std::span<const char* const> arguments);

/// Lets the first process finish what it says before this one leaves with an error.
void leave_rank(int code);

/// vouch solve --engine ranks or petsc.
int solve_on_ranks(std::span<const char* const> arguments);

}  // namespace vouch::cli
