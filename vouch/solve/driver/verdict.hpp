// vouch/solve/driver/verdict.hpp -- the verdict on a system as it was given, whatever was solved; private.
#pragma once
#include <cstdint>

#include <vouch/core/view.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/solve/result.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

/// Puts a residual into the report of a run in any precision.
void take_residual(const residual_facts& facts, const stopping_criterion& goal, solve_report& report);

/// Judges one column by A, b and x, all on the CPU: the residual, the bound of the error, the status.
///
/// rounds says whether what `how` solved was the system rounded to single precision.
void judge_column(const operand& A, view<const double> b, view<const double> x, const stopping_criterion& goal,
                  const method& how, bool rounds, solve_report& report);

/// Joins column j to those before: the worst report, with the iterations, warnings and bounds of all.
void add_column(solve_result& result, solve_report report, std::int64_t j);

/// The verdict on solutions that a proof has improved: residuals and, where these decide, the status. Columns
/// lie one after another, on the CPU.
void judge_improved(const operand& A, std::int64_t columns, view<const double> b, view<const double> x,
                    const stopping_criterion& goal, solve_result& result);

}  // namespace vouch
