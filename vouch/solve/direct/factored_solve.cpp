#include <vouch/solve/direct/factored_solve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {
namespace {

// A run is one solve, for all columns at once.
template <real T>
class factored_engine final : public block_inner_solver<T> {
 public:
  factored_engine(const device& dev, std::int64_t n, factorisation<T>& A) : dev_(dev), n_(n), A_(A) {}

  void run(std::span<inner_task<T>> columns) override {
    std::vector<inner_task<T>*> open;
    for (inner_task<T>& c : columns) {
      c.engine = A_.name();
      c.outcome = {solver_event::iteration_limit, 0, 0};
      if (c.rule.limit > 0) open.push_back(&c);
    }
    if (open.size() == 1) {
      move(open.front()->d, open.front()->r);
      A_.solve(open.front()->d);
    } else if (!open.empty()) {
      const auto count = static_cast<std::int64_t>(open.size());
      if (side_by_side_.size() < count * n_) side_by_side_ = array<T>(dev_, count * n_);
      for (std::int64_t j = 0; j < count; ++j) move(side_by_side_.data() + j * n_, open[j]->r);
      A_.solve_columns(side_by_side_.data(), n_, count);
      for (std::int64_t j = 0; j < count; ++j) move(open[j]->d, side_by_side_.data() + j * n_);
    }
    for (inner_task<T>* c : open) c->outcome = {solver_event::reached, 1, 0};
  }

 private:
  void move(T* to, const T* from) const {
    copy_bytes(to, dev_, from, dev_, static_cast<std::size_t>(n_) * sizeof(T));
  }

  device dev_;
  std::int64_t n_;
  factorisation<T>& A_;
  array<T> side_by_side_;
};

// The error is one more solve away, which made e of the residual, unless the factors are those of another matrix, as where
// A is singular to working precision: then that solve makes of the rounding in the residual an error near the size of x,
// and where it is not far below that, a second solve shows that what is left of it comes no nearer to zero.
//
// Where ||A^-1|| itself is too dear, what the solves have made of b and of the residual is less than it.
template <real T>
void estimate_error(const checked_problem<T>& problem, factorisation<T>& A, const T* x,
                    const residual_facts& facts, view<T> e, solve_report& report) {
  double inverse = A.inverse_norm();
  if (std::isnan(inverse) && facts.rhs_norm_inf > 0) {
    inverse = facts.x_norm_inf / facts.rhs_norm_inf;
    if (facts.norm_inf > 0) inverse = std::max(inverse, largest_magnitude<T>(problem.dev, e) / facts.norm_inf);
  }
  const double condition = facts.matrix_norm_inf * inverse;
  if (std::isfinite(condition)) report.condition_estimate = condition;
  const double size = detail::norm2<T>(problem.dev, x, problem.rows);
  if (!detail::rounds_as_normal<T>(size, report.rhs_norm)) return;
  const double error = detail::norm2<T>(problem.dev, e.data(), problem.rows);
  const auto halves = [&] {
    array<T> r(problem.dev, problem.rows);
    problem.residual_of(x, e.data(), r.data());
    A.solve(r.data());
    constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;
    return detail::norm2<T>(problem.dev, r.data(), problem.rows) <= std::max(0.5 * error, unit_roundoff * size);
  };
  constexpr double far_below = 0x1p-10;
  if (std::isfinite(error / size) && (error <= far_below * size || halves()))
    report.error_estimate = error / size;
  else
    report.warnings.push_back(string_printf(
        "the matrix is singular to %s precision: no digit of x is certain, however small the residual",
        report.precision.c_str()));
}

// The same for several columns, with one solve for all of them.
template <real T>
void estimate_errors(std::span<checked_column<T>* const> columns, factorisation<T>& A) {
  const device dev = columns.front()->problem.dev;
  const std::int64_t n = columns.front()->problem.rows, count = std::ssize(columns);
  array<T> errors(dev, count * n);
  std::vector<residual_facts> facts;
  bool all = true;  // have a residual
  for (std::int64_t j = 0; j < count; ++j) {
    const checked_column<T>& c = *columns[j];
    T* const e = errors.data() + j * n;
    facts.push_back(c.known ? c.known->facts : c.problem.residual_of(c.x.data(), nullptr, e));
    if (c.known) copy_bytes(e, dev, c.known->r.data(), dev, static_cast<std::size_t>(n) * sizeof(T));
    all = all && facts.back().norm_inf > 0;
  }
  if (all) A.solve_columns(errors.data(), n, count);
  for (std::int64_t j = 0; j < count; ++j) {
    T* const e = errors.data() + j * n;
    if (!all && facts[j].norm_inf > 0) A.solve(e);
    estimate_error<T>(columns[j]->problem, A, columns[j]->x.data(), facts[j], {e, n}, columns[j]->report);
  }
}

}  // namespace

void check_direct_request(std::int64_t rows, std::int64_t b, std::int64_t x, const stopping_criterion& goal) {
  check_lengths(rows, b, x);
  check_stopping(goal);
  if (!goal.by_residual()) throw value_error("a direct method ends by the residual alone");
}

namespace {

// Why the factors are no use for a right-hand side that is not zero.
template <real T>
void end_failed(const factorisation<T>& factors, const residual_facts& start, solve_report& report) {
  const bool definite = factors.needs_definite();
  report.status = definite ? solve_status::not_spd : solve_status::breakdown;
  const std::string pivot = factors.orders_rows() ? "a pivot" : "pivot " + std::to_string(factors.failed());
  report.reason = pivot +
                  (definite ? " is not positive: the matrix is not positive definite in "
                            : " is exactly zero: the matrix is singular in ") +
                  report.precision + " precision";
  report.rhs_norm = start.rhs_norm2;
  report.true_residual = start.norm2;
  report.backward_error = start.backward_error();
}

// Factors that say the rank solve where b allows it.
void name_singular(std::int64_t rows, solve_report& report) {
  if (report.status != solve_status::stagnated || report.rank.value_or(rows) == rows) return;
  report.status = solve_status::breakdown;
  report.reason = string_printf(
      "the matrix is singular in %s precision, and the right-hand side is not in its range: relative residual "
      "%.2g",
      report.precision.c_str(), report.relative_true());
}

}  // namespace

template <real T>
void factored_solve(std::span<checked_column<T>> columns, const std::string& method, const stopwatch& setup,
                    const std::function<std::unique_ptr<factorisation<T>>()>& factorise,
                    const stopping_criterion& goal) {
  if (columns.empty()) return;
  const device dev = columns.front().problem.dev;
  const std::int64_t n = columns.front().problem.rows;
  known_residual<T> of_all{{}, array<T>(dev, n)};
  std::vector<residual_facts> starts;
  for (checked_column<T>& c : columns) {
    c.report.method = method;
    c.report.precision = sizeof(T) == 4 ? "single" : "double";
    c.report.preconditioner = "none";
    c.problem.advice = "take more precision";
    starts.push_back(c.problem.residual_of(c.x.data(), nullptr, of_all.r.data()));
    if (!std::isfinite(starts.back().norm2))
      throw value_error(
          "the matrix, the right-hand side or the start holds a NaN or an infinity, or A x overflows");
  }
  // One column needs no other room than its own residual.
  if (columns.size() == 1) columns.front().known = known_residual<T>{starts.front(), std::move(of_all.r)};
  const auto factors = factorise();
  const double seconds = setup.seconds();
  const bool failed = factors->failed() > 0;
  factored_engine<T> engine(dev, n, *factors);
  if (!failed) residual_checked_solve(columns, engine, goal);
  std::vector<checked_column<T>*> solved;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    solve_report& report = columns[j].report;
    if (failed && starts[j].rhs_norm2 > 0)
      end_failed(*factors, starts[j], report);
    else if (failed)
      residual_checked_solve(columns.subspan(j, 1), engine, goal);
    report.recurrence_residual = std::numeric_limits<double>::quiet_NaN();
    report.engine = factors->name();
    report.backend = factors->backend();
    report.reproducible = factors->reproducible();
    report.repeats = factors->repeats();
    report.signs = factors->signs();
    report.rank = factors->rank();
    name_singular(n, report);
    if (!failed && has_solution(report.status)) solved.push_back(&columns[j]);
  }
  constexpr std::int64_t at_once = block_inner_solver<T>::most;
  for (std::int64_t j = 0; j < std::ssize(solved); j += at_once) {
    const std::span block(solved.data() + j, std::min<std::size_t>(at_once, solved.size() - j));
    estimate_errors<T>(block, *factors);
  }
  columns.front().report.setup_seconds = seconds;
}

template <real T>
solve_report factored_solve(checked_problem<T> problem, const std::string& method, const stopwatch& setup,
                            const std::function<std::unique_ptr<factorisation<T>>()>& factorise, view<T> x,
                            const stopping_criterion& goal) {
  checked_column<T> column{std::move(problem), x, {}, {}};
  factored_solve<T>(std::span(&column, 1), method, setup, factorise, goal);
  return std::move(column.report);
}

#define VOUCH_INSTANTIATE(T)                                                                               \
  template void factored_solve(std::span<checked_column<T>>, const std::string&, const stopwatch&,         \
                               const std::function<std::unique_ptr<factorisation<T>>()>&,                  \
                               const stopping_criterion&);                                                 \
  template solve_report factored_solve(checked_problem<T>, const std::string&, const stopwatch&,           \
                                       const std::function<std::unique_ptr<factorisation<T>>()>&, view<T>, \
                                       const stopping_criterion&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
