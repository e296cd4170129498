// vouch/price/finite_difference/time_stepping.hpp -- one option on one grid, from its expiry back to now; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/grid.hpp>

namespace vouch {

/// Steps of equal length between two events.
struct fd_segment {
  double from = 0, to = 0;  // time before expiry
  std::int64_t steps = 0;
  bool smooths = false;   // begins at a kink, or so soon behind one that a step would not see it
  double dividend = 0;    // what the underlying falls by at its end
  bool exercise = false;  // may be exercised at its end
};

/// The segments of about `steps` steps in all, more where many events need some each. Those of an American
/// option grow with the distance from expiry, as its boundary slows down.
///
/// Result  Twice as many steps are twice as many in every segment, however short, for `steps` that are 24 or
///         128 times a power of 2: what two such grids differ by shows the error in time of every segment.
std::vector<fd_segment> make_segments(const contract& c, std::int64_t steps);

/// The least distance, in logarithms, of what a grid has to tell apart before it shows its error: the deviation of the
/// underlying between a kink of the value, at expiry or by an event, and the dividend or date of exercise that comes
/// next before it, and what lies between strike and barrier. Infinite for none.
double sharpest_kink(const contract& c);

/// The same steps in shorter segments, as the exercise boundary is noted behind each.
std::vector<fd_segment> in_pieces(const std::vector<fd_segment>& segments);

/// Calls step(from, length, implicit) for what a scheme makes of step k of a segment: one step, or two half steps.
template <class Step>
void take_step(time_scheme scheme, const fd_segment& s, std::int64_t k, Step step) {
  const double length = (s.to - s.from) / static_cast<double>(s.steps);
  const double from = s.from + length * static_cast<double>(k);
  if (scheme == time_scheme::implicit_euler) {
    step(from, length, length);
  } else if (scheme == time_scheme::rannacher && s.smooths && k < 2) {
    step(from, 0.5 * length, 0.5 * length);
    step(from + 0.5 * length, 0.5 * length, 0.5 * length);
  } else {
    step(from, length, 0.5 * length);
  }
}

/// What a knocked-out contract pays: its own payoff less `less` everywhere, and `at_barrier` when hit.
struct fd_payment {
  double less = 0;
  double at_barrier = 0;
  const std::vector<double>* in_time = nullptr;  // in place of at_barrier: where a segment begins, then behind
                                                 // every step of it
};

/// Where step_in_time() notes the value at a spot, in the order of fd_payment::in_time.
struct fd_trace {
  double spot = 0;
  std::vector<double> values;
};

struct stepping_method {
  time_scheme scheme = time_scheme::rannacher;
  solve_precision precision = solve_precision::double_;
  tridiagonal_method solver = tridiagonal_method::automatic;  // another one: in double, no early exercise
  bool smooths_kinks = true;                                  // that exercise at dates makes
};

/// The value on the grid now. The barrier, if there is one, knocks out; boundary, if not null, gets the
/// exercise boundary behind every segment, and trace, if not null, values on the way.
std::vector<double> step_in_time(const contract& c, const fd_grid& grid, const fd_payment& payment,
                                 const std::vector<fd_segment>& segments, const stepping_method& how,
                                 fd_surface* boundary = nullptr, fd_trace* trace = nullptr);

/// The value on the grid now of an option that may be exercised early once it has begun at its barrier; no
/// cash dividends. The option without barrier, on a grid of its own of as many nodes, has the values there.
std::vector<double> step_to_knock_in(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                                     const stepping_method& how);

/// What step_to_knock_in() steps: the option from the barrier on, its grid about it, and what is left of the
/// whole until the barrier is hit, the rebate at expiry.
contract knocked_in(const contract& c);
contract not_knocked_in(contract c);

/// Whether the spots at which an American option is exercised may not be those beyond one boundary: rates below
/// 0, a rebate worth waiting for, or a payoff that is not vanilla.
bool needs_policy(const contract& c);

}  // namespace vouch
