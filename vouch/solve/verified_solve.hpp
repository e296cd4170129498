// vouch/solve/verified_solve.hpp -- the loop around every iterative method: run, re-check, restart, judge;
// private.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/goal.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

/// r := b - A (x + x_lo) in the highest precision there is for A; x_lo may be nullptr.
template <real T>
using residual_function = std::function<residual_facts(const T* x, const T* x_lo, T* r)>;

template <real T>
struct verified_problem {
  device dev;
  std::int64_t rows = 0;
  residual_function<T> residual_of;
  bool constants_in_null_space = false;  // A * ones = 0: b is checked, x is made to sum to zero
  /// It is proved that the iteration converges from any start. Else a residual has diverged beyond 1e4 times
  /// the first one. That of CG can grow on the way, by up to the square root of the condition; beyond this it
  /// has gone wrong.
  bool converges = false;
  const char* advice = "take a stronger preconditioner";  // where the iterations were not enough
};

/// Throws shape_error where b and x have not as many elements as the matrix has rows.
void check_lengths(std::int64_t rows, std::int64_t b, std::int64_t x);

/// Improves x until the tolerance holds for the recomputed residual, or says why it does not.
///
/// Result  Fills everything of report but the names and the setup time.
/// Throws  value_error  NaN or infinity in A, b or the start
template <real T>
void verified_solve(const verified_problem<T>& problem, cg_engine<T>& engine, view<T> x, const solve_goal& goal,
                    solve_report& report);

/// One of several systems with the same matrix.
template <real T>
struct verified_column {
  verified_problem<T> problem;
  view<T> x;
  solve_report report;
};

/// The same for every column, as many of them in the engine at a time as it takes: whichever are done make room
/// for the next. Histories and monitors name columns by their place. Seconds are shares and add up.
template <real T>
void verified_solve(std::span<verified_column<T>> columns, cg_block_engine<T>& engine, const solve_goal& goal);

/// The default rtol of a working precision.
template <real T>
constexpr double default_rtol = sizeof(T) == 4 ? 1e-5 : 1e-8;

}  // namespace vouch
