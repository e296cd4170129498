// vouch/solve/krylov/cg_many_step.hpp -- one column's scalars where several columns go through the loop together;
// private.
#pragma once
#include <vouch/solve/krylov/cg_recurrence.hpp>

namespace vouch {

/// What the vectors of one column do in an iteration: the solution as cg_solution_update says, then
/// r -= alpha q, p = M r + beta p.
struct many_step {
  double alpha = 0;
  double beta = 0;
  cg_solution_update solution{};
  solver_event event = solver_event::running;
};

/// For a column that has ended in an earlier iteration.
VOUCH_HOST_DEVICE inline void freeze(many_step& s) { s = {0, 0, {0, 0, 0, false}, s.event}; }

/// For a column that still runs, after its inner products. Where the column ends its solution gets what it is
/// deferred in this same iteration, while the columns beside it go on.
///
/// Steps are put off in even iterations alone, so that the solutions of all columns move at the same time.
VOUCH_HOST_DEVICE inline void take_step(many_step& s, const cg_dots& sums, const stopping_rule& rule,
                                        std::int64_t iteration, bool stop) {
  const cg_step step = cg_advance(sums, rule, iteration);
  s.alpha = step.alpha;
  s.beta = step.beta;
  s.event = stop && step.event == solver_event::running ? solver_event::interrupted : step.event;
  if (s.event != solver_event::running) {
    s.alpha = s.beta = 0;
    s.solution = cg_flush_update(s.solution);
  } else if (iteration % 2 == 0 || s.solution.deferred_alpha > 0) {
    s.solution = cg_defer_update(s.solution, step);
  } else {
    s.solution = {step.alpha, 0, 0, true};
  }
}

}  // namespace vouch
