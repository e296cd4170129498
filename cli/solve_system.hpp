// cli/solve_system.hpp -- the system of a command: what its request says of it, and the seconds it takes.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <vouch/core/device.hpp>
#include <vouch/solve/linear_system.hpp>
#include <vouch/solve/solver.hpp>

#include "solve_request.hpp"

namespace vouch::cli {

/// Seconds of the parts of a run.
struct spent_seconds {
  double cuda_start = 0, read = 0, setup = 0, transfer = 0, solve = 0, write = 0, total = 0;

  void add(const solve_times& times) {
    cuda_start += times.cuda_start;
    setup += times.setup;
    transfer += times.transfer;
    solve += times.solve;
  }
};

/// Reads what --coordinates or --near-nullspace names into the options; nothing where neither was given.
///
/// Throws  what the readers throw
void take_near_nullspace(const device& cpu, const linear_system& system, solve_request& request);

/// Reads the vectors of the request and checks that all fits together. Setup is of vectors that no file holds.
///
/// Throws  what the readers throw
void take_vectors(const device& cpu, const solve_request& request, linear_system& system,
                  spent_seconds& seconds);

/// The numbers that the file has.
std::int64_t entries_of(const linear_system& system, const structure_facts& facts);

/// The key "matrix" of a system: of a complex one with its field, and "symmetric" says whether it is Hermitian.
nlohmann::ordered_json matrix_json(const linear_system& system, const structure_facts& facts);

}  // namespace vouch::cli
