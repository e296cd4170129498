#include <vouch/price/fd_march.hpp>

namespace vouch {
namespace {

// What is left of it until the barrier is hit: the rebate at expiry.
contract waiting(contract c) {
  plain_option& o = c.plain;
  o.payoff = payoff_kind::cash_digital;
  o.cash = o.rebate;
  o.strike = o.barrier_level;
  o.type = is_up(o.barrier) ? option_type::put : option_type::call;
  c.exercise = exercise_style::european;
  return c;
}

}  // namespace

std::vector<double> march_to_begin(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                                   const march_method& how) {
  contract begun = c;
  begun.plain.barrier = barrier_kind::none;
  begun.plain.spot = c.plain.barrier_level;  // so that its grid lies around it
  std::vector<fd_segment> segments = make_segments(begun, steps);
  fd_trace trace{c.plain.barrier_level, {}};
  march(begun, make_grid(begun, kind, grid.size()), {}, segments, how, nullptr, &trace);
  for (fd_segment& s : segments) s.exercise = false;  // smooth starts stay: the barrier's value jumps
  return march(waiting(c), grid, {0, trace.values.front(), &trace.values}, segments, how);
}

}  // namespace vouch
