// vouch/price/finite_difference/time_stepping.hpp -- one option on one grid, from its expiry back to now; a detail of public headers.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/grid.hpp>
#include <vouch/price/finite_difference/segments.hpp>

namespace vouch {

/// What a knocked-out contract pays: its own payoff less `less` everywhere, and `at_barrier` when hit.
struct fd_payment {
  double less = 0;
  double at_barrier = 0;
  const std::vector<double>* in_time = nullptr;  // in place of at_barrier: where a segment begins, then behind
                                                 // every step of it
};

/// Where march() notes the value at a spot, in the order of fd_payment::in_time.
struct fd_trace {
  double spot = 0;
  std::vector<double> values;
};

struct march_method {
  time_scheme scheme = time_scheme::rannacher;
  solve_precision precision = solve_precision::double_;
  tridiagonal_method solver = tridiagonal_method::automatic;  // another one: in double, no early exercise
  bool smooths_kinks = true;                                  // that exercise at dates makes
};

/// The value on the grid now. The barrier, if there is one, knocks out; boundary, if not null, gets the border
/// of exercise behind every segment, and trace, if not null, values on the way.
std::vector<double> march(const contract& c, const fd_grid& grid, const fd_payment& payment,
                          const std::vector<fd_segment>& segments, const march_method& how,
                          fd_surface* boundary = nullptr, fd_trace* trace = nullptr);

/// The value on the grid now of an option that may be exercised early once it has begun at its barrier; no
/// cash dividends. The option without barrier, on a grid of its own of as many nodes, has the values there.
std::vector<double> march_to_begin(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                                   const march_method& how);

/// What march_to_begin() steps: the option from the barrier on, its grid about it, and what is left of the
/// whole until the barrier is hit, the rebate at expiry.
contract once_begun(const contract& c);
contract until_begun(contract c);

/// The same for constant coefficients without any error in time, by a contour integral of resolvents.
std::vector<double> march_by_contour(const contract& c, const fd_grid& grid, const fd_payment& payment);

}  // namespace vouch
