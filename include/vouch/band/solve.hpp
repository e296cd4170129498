// vouch/band/solve.hpp -- solving tridiagonal systems, one or a batch, with a verdict.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/band/workspace.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/solve_status.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

class device_group;

enum class tridiagonal_method {
  automatic,         // see solve()
  thomas,            // elimination without interchanges, one system after another or side by side
  cyclic_reduction,  // odd-even reduction, without interchanges
  pcr,               // parallel cyclic reduction, without interchanges
  partition          // segments reduced to boundary unknowns, scaled rows interchanged: any regular matrix
};

/// The name that the command line knows: "auto", "thomas", "cyclic-reduction", "pcr", "partition".
const char* name(tridiagonal_method method);

struct tridiagonal_options {
  tridiagonal_method method = tridiagonal_method::automatic;
  bool mixed = false;  // eliminate in single precision, for a double answer; automatic takes partition
  double rtol = 0;     // 0: 1e-8 for double, 1e-5 for float
  double atol = 0;
  int max_refinements = 10;  // corrections by the residual, where it misses the tolerance
  bool check = true;         // false: neither looks at the matrix nor recomputes the residual
  tridiagonal_workspace* workspace =
      nullptr;  // GPU memory to use again; without it every solve allocates its own
};

/// The verdict over a batch and its evidence, of the worst system where there are several.
struct tridiagonal_report {
  solve_status status = solve_status::breakdown;
  std::string reason;     // one line
  std::string method;     // name() of the one that ran
  std::string engine;     // which implementation ran
  std::string precision;  // "double", "single", "mixed"
  int refinements = 0;
  double true_residual = 0;   // ||b - A x||_2 of the x returned, in higher precision
  double rhs_norm = 0;        // ||b||_2 of the same system
  double backward_error = 0;  // largest ||b - A x||_inf / (||A||_inf ||x||_inf + ||b||_inf)
  double growth = 0;  // largest coefficient while eliminating over that of the matrix; 0 if not measured
  std::int64_t worst_system = 0;
  std::int64_t systems_missed = 0;         // how many systems are not converged
  std::vector<std::int64_t> first_missed;  // at most 100 of them
  tridiagonal_facts matrix;
  std::vector<std::string> warnings;

  double relative_true() const;
};

/// Solves A x = b for every system of a batch.
///
/// automatic takes thomas for batches whose rows all dominate, partition where they do not, where a system is
/// long or periodic. On a GPU partition measures by itself where interchanges and far couplings may be left
/// out: interchanges only where every row of a segment dominates; far unknowns only there, and where a bound on
/// what they contribute has fallen below 2^-57 (2^-28 for float). Of long systems whose rows need interchanges,
/// entries of reduced rows that couple unknowns more than 500 rows apart are left out where they are below that
/// part of the largest entry of their row, which perturbs the matrix less than rounding does.
///
/// Shapes  b and x have the systems and rows of A, each with strides of its own; A of one system serves all
///         of b's.
/// Types   T is float or double; mixed needs double.
/// Memory  A, b and x live on dev. x overlaps nothing, or is b itself (check false, method partition). On a GPU
///         long systems side by side take 168 MB more, for copies.
/// Result  Same bits on every run and, on the CPU, for any number of threads. Singular systems: breakdown,
///         their x is not to be used. Without check the status is `stopped`.
/// Cost    Reads A and b once or twice, writes x once; checking reads all of it once more.
/// Throws  shape_error  shapes that do not fit
///         value_error  a negative size or stride; elements of x that lie upon each other or, where they may
///                      not, upon b; NaN or infinity in what is used of A or b (if checked); a method that
///                      cannot do it
template <real T>
tridiagonal_report solve(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                         const batch_view<T>& x, const tridiagonal_options& options = {});

/// Solves A x = b for every system of a batch: devices take blocks of whole systems, of some 262,144 rows each.
///
/// Shapes  As on one device.
/// Types   As there.
/// Memory  A, b and x live on the host; x overlaps nothing, or is b itself. options.workspace is not used. On each GPU
///         as many blocks at once as host threads feed it, with what a solve of them needs.
/// Result  As solve() of each block, and one verdict over all. The bits of one GPU; where a block is solved otherwise
///         than the batch as a whole would be, not those of solve() on it.
/// Cost    Bound by the links to the GPUs, as far as host threads can feed them: four numbers a row there,
///         one back. Many copies where rows of few systems lie side by side.
/// Throws  As solve(), texts name systems by their numbers in the batch; cancelled
template <real T>
tridiagonal_report solve(const device_group& devices, const tridiagonal_view<const T>& A,
                         const batch_view<const T>& b, const batch_view<T>& x,
                         const tridiagonal_options& options = {});

}  // namespace vouch
