// vouch/price/fd_march.hpp -- one option on one grid, from its expiry back to now; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/price/contract.hpp>
#include <vouch/price/fd_grid.hpp>
#include <vouch/price/finite_difference.hpp>

namespace vouch {

/// Steps of equal length between two events.
struct fd_segment {
  double from = 0, to = 0;  // time before expiry
  std::int64_t steps = 0;
  bool smooths = false;   // begins behind a kink
  double dividend = 0;    // what the share falls by at its end
  bool exercise = false;  // may be exercised at its end
};

/// The segments of about `steps` steps in all. Those of an American option grow with the distance from expiry,
/// as its boundary slows down.
std::vector<fd_segment> make_segments(const contract& c, std::int64_t steps);

/// What a knocked-out contract pays: its own payoff less `less` everywhere, and `at_barrier` when hit.
struct fd_payment {
  double less = 0;
  double at_barrier = 0;
};

struct march_method {
  time_scheme scheme = time_scheme::rannacher;
  solve_precision precision = solve_precision::double_;
  tridiagonal_method solver = tridiagonal_method::automatic;  // another one: in double, no early exercise
};

/// The value on the grid now. The barrier, if there is one, knocks out; boundary, if not null, gets the border
/// of exercise behind every segment.
std::vector<double> march(const contract& c, const fd_grid& grid, const fd_payment& payment,
                          const std::vector<fd_segment>& segments, const march_method& how,
                          fd_surface* boundary = nullptr);

/// The same for constant coefficients without any error in time, by a contour integral of resolvents.
std::vector<double> march_by_contour(const contract& c, const fd_grid& grid, const fd_payment& payment);

}  // namespace vouch
