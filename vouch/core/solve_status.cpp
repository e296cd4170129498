#include <vouch/core/solve_status.hpp>

namespace vouch {

const char* name(solve_status status) {
  switch (status) {
    case solve_status::converged:
      return "converged";
    case solve_status::fixed:
      return "fixed";
    case solve_status::stopped:
      return "stopped";
    case solve_status::max_iterations:
      return "max_iterations";
    case solve_status::stagnated:
      return "stagnated";
    case solve_status::diverged:
      return "diverged";
    case solve_status::breakdown:
      return "breakdown";
    case solve_status::not_spd:
      return "not_spd";
    case solve_status::interrupted:
      return "interrupted";
  }
  return "unknown";
}

bool has_solution(solve_status status) {
  return status != solve_status::diverged && status != solve_status::breakdown &&
         status != solve_status::not_spd;
}

bool goal_reached(solve_status status) {
  return status == solve_status::converged || status == solve_status::fixed || status == solve_status::stopped;
}

}  // namespace vouch
