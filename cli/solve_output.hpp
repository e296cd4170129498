// cli/solve_output.hpp -- what vouch solve says to people and programs, and the files that it leaves.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <vouch/solve/result.hpp>

#include "console.hpp"
#include "solve_request.hpp"
#include "solve_run.hpp"
#include "solve_system.hpp"

namespace vouch::cli {

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

/// {"positive", "negative", "zero"}, null where it is not known.
nlohmann::ordered_json inertia_json(const std::optional<inertia>& signs);

/// The object of --json, schema vouch.solve/1.
/// Every key always, null for what is unknown, NaN or infinite; batch alone only where it is not null.
nlohmann::ordered_json solve_json(const solve_request& request, const nlohmann::ordered_json& matrix,
                                  const nlohmann::ordered_json& batch, const solve_result& report,
                                  const std::vector<double>& repeats, const spent_seconds& seconds);

}  // namespace vouch::cli
