// cli/solve_output.hpp -- what vouch solve says to people and programs, and the files that it leaves.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/solve/linear_system.hpp>
#include <vouch/solve/result.hpp>
#include <vouch/solve/solver.hpp>

#include "console.hpp"
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

struct solve_outcome {
  solve_result result;          // of the last run; times are those of all
  array<double> x;              // column by column, on the CPU
  std::vector<double> repeats;  // seconds to solve all columns, each time
};

/// The numbers that the file has.
std::int64_t entries_of(const linear_system& system, const structure_facts& facts);

/// The key "matrix" of a system: of a complex one with its field, and "symmetric" says whether it is Hermitian.
nlohmann::ordered_json matrix_json(const linear_system& system, const structure_facts& facts);

/// Before: facts of the system, the method and the device with the reasons, the tolerance.
void log_task(const console& log, const solve_request& request, const linear_system& system, solver& A);
/// Warns when the tolerance lies below what the precision can hold for any x.
void warn_before(const console& log, const solve_request& request);
/// After: the solver's warnings, and one where the tolerance lay below what rounding was expected to leave.
void warn_after(const console& log, const solve_request& request, const solve_outcome& outcome);
/// After: the answer checked, with every number that speaks for or against it.
void log_verdict(const console& log, const solve_request& request, const solve_outcome& outcome);
/// Where the time and the memory went.
void log_costs(const console& log, const spent_seconds& seconds);
/// The summary for stdout, a few lines.
std::string summary(const solve_request& request, const linear_system& system, const solve_outcome& outcome,
                    double total_seconds);

/// iteration,residual,relative: a line each.
void write_history(atomic_file& file, const solve_report& report);

/// Writes what was asked for; x only where the status has one that is of use. All files appear together, whole, or none does.
///
/// Throws  file_error
void write_files(const solve_request& request, const linear_system& system, const solve_outcome& outcome,
                 const structure_facts& facts);

/// The object of --json, schema vouch.solve/1.
/// Every key always, null for what is unknown, NaN or infinite; batch alone only where it is not null.
nlohmann::ordered_json solve_json(const solve_request& request, const nlohmann::ordered_json& matrix,
                                  const nlohmann::ordered_json& batch, const solve_result& report,
                                  const std::vector<double>& repeats, const spent_seconds& seconds);

}  // namespace vouch::cli
