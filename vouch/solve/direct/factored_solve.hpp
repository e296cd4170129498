// vouch/solve/direct/factored_solve.hpp -- what all direct methods do with their factors; private.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <vouch/core/stopwatch.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>

namespace vouch {

/// A factorised matrix.
template <real T>
class factorisation {
 public:
  virtual ~factorisation() = default;
  /// 0, or the pivot (from 1) at which the factorisation ended.
  virtual std::int64_t failed() const = 0;
  /// Whether rows are eliminated in another order than they are given in, of which a pivot's number says nothing.
  virtual bool orders_rows() const { return false; }
  /// Whether it ends only where the matrix is not positive definite.
  virtual bool needs_definite() const { return false; }
  /// x := A^-1 x, about.
  virtual void solve(T* x) = 0;
  /// The same for columns of so many rows, one after another.
  virtual void solve_columns(T* x, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t j = 0; j < columns; ++j) solve(x + j * rows);
  }
  /// About ||A^-1||_inf; NaN where that would take long beside the factorisation.
  virtual double inverse_norm() = 0;
  /// For the report: "2 threads, OpenBLAS".
  virtual std::string name() const = 0;
  /// Which library made it, where there is a choice: "own", "cholmod".
  virtual std::string backend() const { return ""; }
  /// Whether bits are the same for any number of threads.
  virtual bool reproducible() const { return true; }
  /// Whether at least for the same number.
  virtual bool repeats() const { return true; }
  /// By the signs of the pivots, where they tell it.
  virtual std::optional<inertia> signs() const { return {}; }
  virtual std::optional<std::int64_t> rank() const { return {}; }
};

/// Throws shape_error where b and x have not as many elements as the matrix has rows, value_error for a goal
/// other than the residual.
void check_direct_request(std::int64_t rows, std::int64_t b, std::int64_t x, const stopping_criterion& goal);

/// Solves every column with the factors of their matrix, then refines it; `method` names them in the reports. If they
/// fail that is not_spd where they need a definite matrix, else a breakdown, unless b = 0. factorise is called once
/// it is known that everything is finite: what is not it might call singular. Up to then, setup has measured the
/// setup, which the first report has.
///
/// Result  The error is estimated by one more solve, for the residual that x has in the end.
/// Throws  value_error  NaN or infinity in A, b or x
template <real T>
void factored_solve(std::span<checked_column<T>> columns, const std::string& method, const stopwatch& setup,
                    const std::function<std::unique_ptr<factorisation<T>>()>& factorise,
                    const stopping_criterion& goal);

/// For one column.
template <real T>
solve_report factored_solve(checked_problem<T> problem, const std::string& method, const stopwatch& setup,
                            const std::function<std::unique_ptr<factorisation<T>>()>& factorise, view<T> x,
                            const stopping_criterion& goal);

}  // namespace vouch
