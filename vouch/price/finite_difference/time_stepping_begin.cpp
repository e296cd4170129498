#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch {

contract once_begun(const contract& c) {
  contract begun = c;
  begun.plain.barrier = barrier_kind::none;
  begun.plain.spot = c.plain.barrier_level;
  return begun;
}

contract until_begun(contract c) {
  plain_option& o = c.plain;
  o.payoff = payoff_kind::cash_digital;
  o.cash = o.rebate;
  o.strike = o.barrier_level;
  o.type = is_up(o.barrier) ? option_type::put : option_type::call;
  c.exercise = exercise_style::european;
  return c;
}

std::vector<double> march_to_begin(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                                   const march_method& how) {
  const contract begun = once_begun(c);
  std::vector<fd_segment> segments = make_segments(begun, steps);
  fd_trace trace{c.plain.barrier_level, {}};
  march(begun, make_grid(begun, kind, grid.size()), {}, segments, how, nullptr, &trace);
  for (fd_segment& s : segments) s.exercise = false;  // smooth starts stay: the barrier's value jumps
  return march(until_begun(c), grid, {0, trace.values.front(), &trace.values}, segments, how);
}

}  // namespace vouch
