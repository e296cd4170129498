// cli/solve_request.hpp -- what vouch solve is asked to do.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common.hpp"
#include "verification.hpp"

namespace vouch::cli {

/// Whether the method is one of tridiagonal systems: band, thomas, cyclic-reduction, pcr or partition.
bool is_band_method(const std::string& method);

struct solve_request {
  common_options common;
  std::string matrix;
  std::string rhs = "ones";       // ones, row-sums or a file
  std::string initial = "zeros";  // zeros, ones or a file
  std::string method = "auto";
  std::string method_why;     // of the method that auto stands for; "" where one was named
  std::string precision_why;  // of double where mixed was asked for; "" where the precision is as asked
  bool batch = false;         // the file holds a batch of tridiagonal systems
  std::string precondition = "none";
  std::optional<double> rtol;
  double atol = 0;
  std::optional<std::int64_t> max_iterations;
  std::optional<std::int64_t> fixed_iterations;
  std::optional<double> stop_recurrence;
  std::optional<double> stop_mean_change;
  std::optional<double> omega;  // of jacobi, sor, ssor and async
  bool omega_auto = false;      // of sor and ssor: estimated
  std::string sweep;            // of gauss-seidel and sor: forward, backward or symmetric
  std::string ordering;         // of gauss-seidel, sor and ssor: natural or multicolor
  int anderson = 0;             // earlier iterates that acceleration keeps
  bool chebyshev = false;
  verification_request verification;
  std::string history;
  std::string plot;

  /// The relative tolerance that holds: as given, else the precision's own.
  double relative_tolerance() const;
  /// Whether the method factorises a dense matrix: lu or cholesky.
  bool is_dense_direct() const { return method == "lu" || method == "cholesky"; }
  /// Whether the method factorises: those and sparse-lu.
  bool is_direct() const { return is_dense_direct() || method == "sparse-lu"; }
  /// Whether the method is one of sweeps: jacobi, gauss-seidel, sor, ssor or async.
  bool is_stationary() const {
    return method != "auto" && method != "cg" && !is_direct() && !is_band_method(method);
  }
  /// Whether something is asked for that only iterations can do.
  bool needs_iterations() const { return precondition != "none" || fixed_iterations || stop_recurrence; }
  /// Whether something is asked for that says little of a factorisation: iterations come first where they can.
  bool wants_iterations() const {
    return needs_iterations() || max_iterations || !history.empty() || !plot.empty() || initial != "zeros";
  }
  /// Whether the true residual decides.
  bool by_residual() const { return !fixed_iterations && !stop_recurrence && !stop_mean_change; }
};

/// Reads and checks the command line, with everything in it that can be judged before the matrix is read.
///
/// Result  False when -h was asked for and has been printed.
/// Throws  usage_error; file_error  a file could not be written there
bool parse_solve_request(std::span<const char* const> arguments, solve_request& request);

}  // namespace vouch::cli
