// vouch/solve/krylov/cg_recurrence.hpp -- the scalar half of conjugate gradients, shared by host and device; a detail of public headers.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/solve/loop/stopping_rule.hpp>

namespace vouch {

/// The inner products that one iteration takes, all of the same r, p and q = A p; M is the preconditioner
/// where it is diagonal or absent.
struct cg_dots {
  double pq = 0;   // p'q
  double qmq = 0;  // q'Mq
  double rmq = 0;  // r'Mq
  double rmr = 0;  // r'Mr
  double rr = 0;   // r'r

  static constexpr int count = 5;
};

/// 1/x within 2 ulp, for |x| and 1/|x| normal numbers; else some infinity, zero or NaN.
///
/// A division is a subroutine of hundreds of cycles on a GPU, and two of them stand in every iteration's
/// shortest path; as reciprocals they overlap.
VOUCH_HOST_DEVICE inline double reciprocal(double x) {
#if defined(__CUDA_ARCH__)
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));  // 20 good bits
  y = fma(fma(-x, y, 1.0), y, y);
  return fma(fma(-x, y, 1.0), y, y);
#else
  return 1 / x;
#endif
}

struct cg_step {
  double alpha = 0;
  double beta = 0;
  solver_event event = solver_event::running;
};

/// What iteration number `iteration` (from 0) does next: x += alpha p, r -= alpha q, p = M r + beta p, or end.
///
/// One reduction serves both scalars: beta needs the new r'Mr, which the update of r has not yet made; it is
/// predicted as r'Mr - 2 alpha r'Mq + alpha^2 q'Mq from products of the vectors at hand. alpha always uses
/// products of the true current vectors, so a prediction's rounding error never accumulates. Where the
/// prediction cancels to nothing (the residual falls by 10^6 in one step) beta = 0 restarts along M r.
/// Source  Meurant 1987; D'Azevedo, Eijkhout, Romine 1993.
VOUCH_HOST_DEVICE inline cg_step cg_advance(const cg_dots& s, const stopping_rule& rule,
                                            std::int64_t iteration) {
  constexpr double cancelled = 1e-12;
  if (!(s.rr <= rule.diverged_squared)) return {0, 0, solver_event::diverged};
  if (s.rr <= rule.target_squared) return {0, 0, solver_event::reached};
  if (iteration >= rule.limit) return {0, 0, solver_event::iteration_limit};
  if (s.rr < exhausted_squared)
    return {0, 0, solver_event::running};  // yet a number of iterations was asked for
  if (s.pq < 0 || s.rmr < 0) return {0, 0, solver_event::negative_curvature};
  const double alpha = s.rmr * reciprocal(s.pq);
  const double one_over = reciprocal(s.rmr);
  if (!(alpha > 0) || !(alpha <= 1.7e308)) return {0, 0, solver_event::zero_curvature};
  const double next = s.rmr - alpha * (2 * s.rmq - alpha * s.qmq);
  return {alpha, next > cancelled * s.rmr ? next * one_over : 0.0, solver_event::running};
}

/// How loops bound by memory update the solution: every other time, two steps at once.
///
/// The step that d has not seen yet, alpha_k p_k, is known one iteration later from vectors that are read
/// anyway: p_k = (p_{k+1} - M r_{k+1}) / beta_k. That saves n values an iteration. Since |r_{k+1}|^2 = beta_k
/// |r_k|^2 and |p_k| >= |r_k|, the rounding of the difference is at most u (1 + 2 / sqrt(beta_k)) |p_k|: steps
/// with a beta below 1/16 are taken at once.
struct cg_solution_update {
  double along_p = 0;  // d += along_p p + along_mr M r, with p and r as they are before their own update
  double along_mr = 0;
  double deferred_alpha = 0;  // alpha/beta of a step that d has not seen
  bool now = true;            // else d is left alone
};

/// After a step was taken: what becomes of d in this iteration.
VOUCH_HOST_DEVICE inline cg_solution_update cg_defer_update(const cg_solution_update& before,
                                                            const cg_step& step) {
  if (before.deferred_alpha > 0) return {step.alpha + before.deferred_alpha, -before.deferred_alpha, 0, true};
  if (step.beta >= 0.0625) return {0, 0, step.alpha / step.beta, false};
  return {step.alpha, 0, 0, true};
}

/// After the loop: the step still deferred, with the last p and r.
VOUCH_HOST_DEVICE inline cg_solution_update cg_flush_update(const cg_solution_update& before) {
  return {before.deferred_alpha, -before.deferred_alpha, 0, before.deferred_alpha > 0};
}

/// The scalars of the loop with any M, which needs two reductions: p'Ap, then r'r and r'z of the new r.
struct cg_scalars {
  double alpha = 0;
  double beta = 0;
  double rz = 0;
  double rr = 0;
  std::int64_t iteration = 0;
  solver_event event = solver_event::running;
};

/// After p'q: the step length.
VOUCH_HOST_DEVICE inline void cg_take_step(cg_scalars& s, double pq) {
  if (s.event != solver_event::running) return;
  const bool exhausted = s.rr < exhausted_squared;
  s.alpha = exhausted ? 0.0 : s.rz / pq;
  if (exhausted) return;
  if (pq < 0 || s.rz < 0)
    s.event = solver_event::negative_curvature;
  else if (!(s.alpha > 0) || !(s.alpha <= 1.7e308))
    s.event = solver_event::zero_curvature;
}

/// After r'r and r'z of the new r, which is number `iteration` (0 for the start): the next direction, or the
/// end.
VOUCH_HOST_DEVICE inline void cg_take_direction(cg_scalars& s, double rr, double rz, const stopping_rule& rule,
                                                std::int64_t iteration) {
  if (s.event != solver_event::running) return;
  s.iteration = iteration;
  s.beta = iteration > 0 && s.rz > 0 ? rz / s.rz : 0.0;
  s.rr = rr;
  s.rz = rz;
  if (!(rr <= rule.diverged_squared))
    s.event = solver_event::diverged;
  else if (rr <= rule.target_squared)
    s.event = solver_event::reached;
  else if (iteration >= rule.limit)
    s.event = solver_event::iteration_limit;
}

}  // namespace vouch
