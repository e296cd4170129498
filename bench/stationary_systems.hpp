// bench/stationary_systems.hpp -- dense systems on a device, and the solves that the suite times.
#pragma once
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>

#include "stationary_cuda.hpp"
#include "suite.hpp"

namespace vouch::bench {

/// A x = b with A by rows, and x known.
template <real T>
struct dense_system {
  device dev;
  std::int64_t n = 0;
  array<T> A, exact, b, x;

  dense_system(const device& where, dense_family family, double dominance, std::int64_t rows);
  std::int64_t bytes() const { return n * n * static_cast<std::int64_t>(sizeof(T)); }
  /// By columns, to be taken transposed.
  matrix_view<const T> matrix() const { return {A.data(), n, n, n}; }
  /// max |x - exact| / max |exact|
  double relative_error() const;
};

/// mixed_jacobi: by Anderson's method; copied_jacobi, in double: over copies of less precision.
enum class sweep_method { jacobi, mixed_jacobi, copied_jacobi, gauss_seidel };
const char* name(sweep_method method);

/// From x = 0.
template <real T>
solve_report solve_by(dense_system<T>& system, sweep_method method, const stopping_criterion& goal);

/// Seconds of one of so many sweeps with what ran them, and of a solve down to rtol, all of the call counted;
/// the best of several.
struct timed_sweep {
  double seconds = 0;
  std::string engine;
};
template <real T>
timed_sweep sweep_seconds(dense_system<T>& system, sweep_method method, std::int64_t sweeps,
                          const suite_options& options);
struct timed_solve {
  double seconds = 0;
  double relative_error = 0;
  solve_report report;
};
template <real T>
timed_solve solve_seconds(dense_system<T>& system, sweep_method method, double rtol,
                          const suite_options& options);

/// How far float sweeps on the system's device are from sweeps in double on the CPU, relative to the largest
/// element.
double sweep_deviation(dense_system<float>& system, std::int64_t sweeps);

/// Bytes a second that all threads of the CPU read, the best of several passes.
double cpu_read_speed(const device& cpu, std::int64_t bytes);

}  // namespace vouch::bench
