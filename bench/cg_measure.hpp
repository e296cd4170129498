// bench/cg_measure.hpp -- one system on one device: solved, and timed iteration by iteration.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/sparse/csr.hpp>

#include <cli/report/statistics.hpp>
#include "peers.hpp"
#include "suite.hpp"

namespace vouch::bench {

template <real T>
constexpr const char* precision_name = sizeof(T) == 4 ? "single" : "double";

/// A x = A * ones on one device, in one precision.
template <real T>
struct system_on {
  bench_device where;
  csr<T> A;
  array<T> b;
  array<T> x;

  /// A lives on the CPU.
  system_on(const bench_device& on, csr_view<const double> A);
};

/// One solve, many times.
struct solve_cell {
  std::string case_name;
  std::string device;
  std::string precision;
  std::string rule;  // "published", "true", "fixed"
  std::string preconditioner;
  solve_report report;     // of the last run
  statistics seconds;      // of the whole call: layout, solve and re-check
  bool same_bits = true;   // every run gave the bits of the first; true also after one run
  std::uint64_t bits = 0;  // a hash of x
};

struct solve_request {
  cg_options rule;
  std::string preconditioner = "none";
  bool mixed = false;  // single precision inside; of systems in double, without preconditioner
};

/// Solves from zero options.repeat times, or, where that is 0, up to five times within half a second; at least
/// once. A run that lasts half a minute or is interrupted ends as interrupted.
template <real T>
solve_cell measure_solve(system_on<T>& system, const solve_request& request, const suite_options& options);

/// The cost of one iteration without preconditioner.
struct iteration_cell {
  std::string case_name;
  std::string device;
  std::string precision;
  std::string layout;  // as asked for: "automatic" or "csr"
  std::string engine;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t iterations = 0;  // of one run
  double seconds = 0;           // an iteration, of the best run
  double bytes = 0;             // an iteration: the matrix as stored and 9 n values
  std::optional<double> floor;  // bytes at the measured memory speed; none where all of it fits in a cache
  bool same_bits = true;        // all runs gave the same bits
  std::optional<double> peer_seconds;  // an iteration of the peer
  std::string peer;                    // "eigen", "cusparse+cublas", or why there is none
};

struct iteration_request {
  layout kept_as = layout::automatic;
  std::int64_t most_iterations = 2000;  // beyond these the residual would have vanished
  bool with_peer = true;
  double seconds = 0.03;  // about so long a run
};

/// Times fixed numbers of iterations; then the device's peer on the same number.
template <real T>
iteration_cell measure_iterations(system_on<T>& system, csr_view<const T> host_matrix,
                                  const iteration_request& request, const machine_facts& machine,
                                  const suite_options& options);

}  // namespace vouch::bench
