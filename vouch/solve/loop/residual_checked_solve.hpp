// vouch/solve/loop/residual_checked_solve.hpp -- the loop around every iterative method: run, re-check, restart, judge;
// private.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/residual.hpp>

namespace VOUCH_PUBLIC vouch {

/// r := b - A (x + x_lo) in the highest precision there is for A; x_lo may be nullptr.
template <real T>
using residual_function = std::function<residual_facts(const T* x, const T* x_lo, T* r)>;

/// What the loop asks of vectors of which this process has a part.
template <real T>
class whole_vectors {
 public:
  virtual ~whole_vectors() = default;
  virtual std::int64_t rows() const = 0;
  virtual double norm2(const T* v) const = 0;
  virtual double dot(const T* v, const T* w) const = 0;
  virtual double sum(const T* v) const = 0;
  /// The largest of all parts' values.
  virtual double largest(double mine) const = 0;
};

template <real T>
struct checked_problem {
  device dev;
  std::int64_t rows = 0;
  residual_function<T> residual_of;
  bool constants_in_null_space = false;  // to rounding: b is checked, x made to sum to zero, the report warned
  bool converges = false;                // it is proved that the iteration converges from any start
  double allowed_growth = 1e4;  // a residual so many times the first one has diverged, unless `converges`
  const preconditioner<T>* M = nullptr;  // that the engine has; for estimates of the error
  double least_eigenvalue_at_most = std::numeric_limits<double>::infinity();  // of A; where M is absent
  const whole_vectors<T>* whole =
      nullptr;  // where `rows` are a part of the system: every function then says the same
                // in all processes
  std::function<double(const T* r)> error_behind{};  // an error that the engine may not have met
  const char* not_finite = "the matrix holds a NaN, or A x overflows";  // of a start and a b that are
  std::function<double()> least_condition{};  // what the condition number of A is at least, if it is definite
  const char* advice = "take a stronger preconditioner";  // where the iterations were not enough
};

/// Throws shape_error where b and x have not as many elements as the matrix has rows.
void check_lengths(std::int64_t rows, std::int64_t b, std::int64_t x);

/// Throws value_error where more than one rule is to end the iteration, or one of them is negative or NaN.
void check_stopping(const stopping_criterion& goal);

/// Improves x until the tolerance holds for the recomputed residual, or says why it does not.
///
/// Result  Fills everything of report but the names and the setup time.
/// Throws  value_error  NaN or infinity in A, b or the start
template <real T>
void residual_checked_solve(const checked_problem<T>& problem, inner_solver<T>& engine, view<T> x,
                            const stopping_criterion& goal, solve_report& report);

/// b - A x of some x, and what was found of it.
template <real T>
struct known_residual {
  residual_facts facts;
  array<T> r;
};

/// One of several systems with the same matrix.
template <real T>
struct checked_column {
  checked_problem<T> problem;
  view<T> x;
  solve_report report;
  std::optional<known_residual<T>> known{};  // of the start, where that was looked at; then of the x returned
};

/// The same for every column, as many of them in the engine at a time as it takes: whichever are done make room
/// for the next. Histories and monitors name columns by their place. Seconds are shares and add up.
template <real T>
void residual_checked_solve(std::span<checked_column<T>> columns, block_inner_solver<T>& engine,
                            const stopping_criterion& goal);

/// How far the residual of conjugate gradients may grow on its way: by the square root of the condition number,
/// and where that is beyond 1/u no digit of x means anything.
template <real T>
constexpr double growth_of_gradients = 2 / static_cast<double>(std::numeric_limits<T>::epsilon());

/// The default rtol of a working precision.
template <real T>
constexpr double default_rtol = sizeof(T) == 4 ? 1e-5 : 1e-8;

namespace detail {
/// ||v||_2 of n numbers on dev, for estimates.
template <real T>
double norm2(const device& dev, const T* v, std::int64_t n);

/// Whether the rounding errors of x and b are normal numbers. What is below is lost to underflow: a residual of
/// zero says nothing there, and no error can be estimated.
template <real T>
bool rounds_as_normal(double norm_of_x, double norm_of_b) {
  constexpr double least = std::numeric_limits<T>::min() / (std::numeric_limits<T>::epsilon() / 2);
  return norm_of_x >= least && norm_of_b >= least;
}
}  // namespace detail

}  // namespace vouch
