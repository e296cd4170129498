// vouch/solve/loop/report.hpp -- what a solver says of its own work.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/solve_status.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// One line of the history.
struct iteration_record {
  std::int64_t iteration = 0;
  double residual = 0;      // ||r||_2 by the method's recurrence, absolute
  std::int64_t column = 0;  // which of several right-hand sides
};

/// Called with recorded iterations; returning false asks the solver to stop (status interrupted).
using monitor = std::function<bool(const iteration_record&)>;

/// Called with the solution as it is behind an iteration; false as above.
using iterate_monitor = std::function<bool(const iteration_record&, view<const double> x)>;

/// What was known of the convergence of sweeps before the first.
struct convergence_facts {
  bool proved = false;    // from any start, with the relaxation that was taken
  std::string dominance;  // what proves it: "rows", "columns", "scaled"; "none" where all three were tried
  double ratio = 0;       // q of that, of the rows where there is none: other entries over the diagonal one
  std::int64_t weakest_row = -1;  // the first with the largest ratio, from 0; -1 where there are no rows
  double omega_below = 0;         // the relaxation for which convergence is proved; 0: for none
  double omega = 1;               // the relaxation that was taken
  std::string reason;             // one line, says why
};

/// How many eigenvalues of a symmetric matrix are positive, negative and zero.
struct inertia {
  std::int64_t positive = 0;
  std::int64_t negative = 0;
  std::int64_t zero = 0;
};

/// The verdict and its evidence.
struct solve_report {
  solve_status status = solve_status::breakdown;
  std::string reason;     // one line, says why
  std::string method;     // "cg"
  std::string engine;     // which implementation ran, for the log: "cpu csr", "cluster of 16 blocks", ...
  std::string backend;    // of sparse factorisations, the library: "own", "cholmod"; else ""
  std::string precision;  // "double", "single", "mixed"
  std::string problem = "square";  // or "least-squares", "least-norm": of A that is not
  std::string preconditioner;      // "none", "jacobi", ...
  std::int64_t iterations = 0;
  std::int64_t restarts = 0;
  double rhs_norm = 0;             // ||b||_2
  double tolerance = 0;            // the absolute one: max(rtol ||b||, atol)
  double true_residual = 0;        // ||b - Ax||_2, higher precision, of the x returned: at most this
  double recurrence_residual = 0;  // ||r||_2 as the method believed it; NaN: it has no recurrence
  double backward_error = 0;       // ||b-Ax||_inf / (||A||_inf ||x||_inf + ||b||_inf)
  // ||A' r||_2 / (||A||_F ||r||_2) for r = b - A x, both in higher precision: 0 at a least-squares solution.
  std::optional<double> normal_equations{};
  double attainable_relative = 0;              // about u || |A||x| || / ||b||: below it rounding rules
  std::optional<double> error_bound{};         // proved: no element of x is farther from the exact solution
  std::string error_bound_source;              // what proves it, or why nothing does; "" where it was not tried
  std::optional<double> condition_estimate{};  // of A, for conjugate gradients of M A; nothing where not known
  // Of ||x - x*||_2 / ||x||_2, not proved: for conjugate gradients at most about that, for direct methods about.
  std::optional<double> error_estimate{};
  std::optional<convergence_facts> convergence{};  // of sweeps
  // Of A, where its factors tell it, by the signs of their pivots: that of a matrix near A, nothing proved.
  std::optional<inertia> signs{};
  std::optional<std::int64_t> rank{};  // likewise
  double setup_seconds = 0;
  double solve_seconds = 0;
  bool reproducible = true;  // the same bits on every run, on the CPU for any number of threads
  bool repeats = true;       // at least on as many threads
  std::vector<std::string> warnings;
  std::vector<iteration_record> history;

  double relative_true() const;
  double relative_recurrence() const;
};

/// Which iterations are recorded: all below 2^14, then every 2nd, then (from 2^15) every 4th, and so on, so
/// that a history never grows past 2^13 lines an octave. The rule depends on nothing but the number.
struct history_rule {
  static constexpr std::int64_t dense = std::int64_t{1} << 14;
  static bool records(std::int64_t iteration);
};

}  // namespace vouch
