#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/driver/batch.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/driver/prove_solution.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/driver/state_solve.hpp>
#include <vouch/solve/driver/verdict.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/loop/choose_device.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/resume.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/check.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

/// How long an iteration may go on before auto prefers another attempt.
///
/// Holds the work that iterations have done, and what they will do if the residual falls on as it has fallen, against
/// what the next preconditioner or elimination are predicted to take: in floating-point operations, never by a clock,
/// so that every run decides alike.
class patience {
 public:
  enum class rival { none, preconditioner, elimination };

  /// other: what the next attempt takes, with another preconditioner; infinite where there is none. A must outlive the
  /// object.
  patience(operand& A, double iteration_work, double other, bool elimination, double rtol)
      : A_(A), iteration_work_(iteration_work), other_(other), elimination_(elimination), rtol_(rtol) {}

  /// A solver's monitor: false where a rival is predicted to be done before the iterations are.
  bool goes_on(const iteration_record& record);
  /// Which one it was.
  rival gave_way_to() const { return winner_; }
  /// Whether elimination is worth trying after so many iterations without success.
  bool elimination_pays(std::int64_t iterations) {
    const bool on_gpu = who_eliminates(A_.facts()) == eliminator::gpu_library;
    return A_.elimination_work() <= std::max(work(iterations), on_gpu ? always_worth_on_gpu : always_worth);
  }
  /// Whether elimination ends at all: its factors may be too large.
  bool elimination_ends() { return std::isfinite(A_.elimination_work()); }

 private:
  // A few hundredths of a second, of a GPU some tenths.
  static constexpr double always_worth = 0x1p26, always_worth_on_gpu = 0x1p36;

  double work(std::int64_t iterations) const { return static_cast<double>(iterations) * iteration_work_; }
  double fallen(double residual);
  bool is_elimination_faster(double done, double left);

  operand& A_;
  double iteration_work_, other_;
  bool elimination_;
  double rtol_;
  double first_ = 0, least_ = 0;  // residuals
  rival winner_ = rival::none;
};

// How far the residual has fallen, from 0 to 1 at the tolerance.
double patience::fallen(double residual) {
  if (first_ == 0) first_ = least_ = residual;
  // What has met the tolerance and goes on was a residual of the recurrence alone.
  least_ = least_ <= rtol_ * first_ ? residual : std::min(least_, residual);
  if (least_ == first_) return 0;  // not a negative zero
  return std::clamp(std::log(least_ / first_) / std::log(rtol_), 0.0, 1.0);
}

bool patience::is_elimination_faster(double done, double left) {
  // The prediction takes as long as the order of elimination: it has to be small beside what was done, and beside what
  // it may save.
  const eliminator on_gpu = eliminator::gpu_library;  // where that takes less than the iterations of as long
  const double of_order =
      order_work(A_.facts(), who_eliminates(A_.facts()) == on_gpu ? on_gpu : eliminator::own);
  constexpr double orders_done = 1.5, orders_left = 2.5;
  if (!(done >= orders_done * of_order && left >= orders_left * of_order)) return false;
  // Residuals of conjugate gradients fall the faster the longer they go on: half of what elimination takes is theirs.
  const double all = A_.elimination_work();
  return done >= all / 2 && left > all;
}

bool patience::goes_on(const iteration_record& record) {
  if (winner_ != rival::none) return false;
  const double done = work(record.iteration), left = done / fallen(record.residual) - done;
  constexpr double others_left = 1.5;
  if (elimination_ && is_elimination_faster(done, left))
    winner_ = rival::elimination;
  else if (done >= other_ / 2 && left > others_left * other_)
    winner_ = rival::preconditioner;
  return winner_ == rival::none;
}

std::size_t bytes_of(std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(double); }

// Right-hand sides and solutions where the matrix is, column after column.
struct columns_view {
  std::int64_t count;
  view<const double> b;
  view<double> x;
};

// Whether so many values behind the two places share memory.
bool overlap(const double* a, std::int64_t size_of_a, const double* b, std::int64_t size_of_b) {
  const auto from_a = reinterpret_cast<std::uintptr_t>(a), from_b = reinterpret_cast<std::uintptr_t>(b);
  return size_of_a > 0 && size_of_b > 0 && from_a < from_b + bytes_of(size_of_b) &&
         from_b < from_a + bytes_of(size_of_a);
}

columns_view checked(const operand& A, matrix_view<const double> B, matrix_view<double> X) {
  const std::int64_t m = A.rows(), n = A.cols();
  if (B.rows != m || X.rows != n || B.cols != X.cols)
    throw shape_error("the right-hand sides are " + shape_text(B.rows, B.cols) + " and the solutions " +
                      shape_text(X.rows, X.cols) + " for a matrix of " + std::to_string(m) + " rows" +
                      (m == n ? "" : " and " + std::to_string(n) + " columns"));
  if (B.cols > 1 && ((B.ld != m && m > 0) || (X.ld != n && n > 0)))
    throw shape_error("columns of right-hand sides and solutions have to follow one another without gaps");
  detail::require_data("solver", "the right-hand side", B.data, m * B.cols);
  detail::require_data("solver", "the solution", X.data, n * B.cols);
  if (overlap(B.data, m * B.cols, X.data, n * B.cols))
    throw value_error("the right-hand side and the solution overlap", "give the solution memory of its own");
  return {B.cols, {B.data, m * B.cols}, {X.data, n * X.cols}};
}

// A vector on the CPU: itself, or a copy where it lives on a GPU.
class on_cpu {
 public:
  on_cpu(const operand& A, view<const double> v) : values_(v) {
    if (!A.home().is_cuda()) return;
    copy_ = array<double>(A.cpu(), v.size());
    copy_bytes(copy_.data(), A.cpu(), v.data(), A.home(), bytes_of(v.size()));
    values_ = copy_;
  }
  const double* operator+(std::int64_t i) const { return values_.data() + i; }
  view<const double> all() const { return values_; }

 private:
  array<double> copy_;
  view<const double> values_;
};

// What x held, to begin with again; zeros take no memory.
class start_values {
 public:
  start_values(const device& home, view<const double> x) : home_(home), size_(x.size()) {
    if (!home.is_cuda() && std::all_of(x.data(), x.data() + size_, [](double v) { return v == 0; })) return;
    copy_ = array<double>(home, size_);
    copy_bytes(copy_->data(), home, x.data(), home, bytes_of(size_));
  }
  void put_back(view<double> x) const {
    if (copy_)
      copy_bytes(x.data(), home_, copy_->data(), home_, bytes_of(size_));
    else
      zero_bytes(home_, x.data(), bytes_of(size_));
  }

 private:
  device home_;
  std::int64_t size_;
  std::optional<array<double>> copy_;
};

// Rounding leaves no more to gain.
bool is_attained(const solve_report& r) { return !(r.relative_true() > 1e3 * r.attainable_relative); }

bool takes_any(const method& m) { return m.refuse == nullptr; }
// Its recurrence may divide by zero although there is a solution.
bool may_break_down(const method& m) { return m.refuse != not_spd_reason && m.refuse != not_symmetric_reason; }

// How the columns of one system, or the one column of a batch, lie.
batch_shape system_after_system(const operand& A, matrix_view<const double> B, matrix_view<double> X) {
  const columns_view system = checked(A, B, X);
  const batch_shape& shape = A.bands(A.home()).shape;
  if (shape.offsets == nullptr && shape.systems == 1) return contiguous(shape.n, system.count);
  if (system.count != 1)
    throw shape_error("several columns of right-hand sides for a batch", "one holds those of all systems");
  batch_shape own = shape.offsets != nullptr ? shape : contiguous(shape.n, shape.systems);
  own.row_stride = 1;
  return own;
}

void require_batch(const operand& A) {
  if (A.form() != matrix_form::tridiagonal)
    throw value_error("a batch of right-hand sides is for tridiagonal matrices, given by their diagonals");
}

// Nothing was solved: names the entry that is no number, if that is why.
[[noreturn]] void refuse(const operand& A, const std::string& matrix, const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const value_error&) {
    if (A.form() == matrix_form::sparse)
      if (const std::string wrong = check(A.home(), A.sparse(A.home())); !wrong.empty())
        throw value_error(matrix + ": " + wrong);
    throw;
  }
}

bool ends_all(solve_status status) { return status == solve_status::interrupted || !has_solution(status); }

// Whether an iteration that has not converged is to give way to the next attempt.
bool gives_way(const solve_result& r, const attempt& next, patience& limit) {
  if (!next.method->direct) return !is_attained(r);
  return limit.elimination_pays(r.iterations) ||
         (takes_any(*r.how) && !is_attained(r) && limit.elimination_ends());
}

// Why what an iteration or a factorisation has come to calls for the next attempt; "" where it does not.
std::string reason_to_go_on(const operand& A, const solve_result& r, const attempt& next, patience& limit) {
  const std::string title = r.how->title;
  if (r.how->direct && has_solution(r.status) && (r.problem == "square" || r.status == solve_status::converged))
    return "";
  switch (r.status) {
    case solve_status::interrupted:
      return limit.gave_way_to() != patience::rival::none
                 ? "predicted to be faster than " + title + ", which had not converged"
                 : "";
    case solve_status::not_spd:
      return "not positive definite";
    case solve_status::breakdown:
      if (r.how->direct || may_break_down(*r.how)) return title + " broke down";
      if (r.iterations > 0) return "not positive definite";
      // Rows that sum to zero to rounding: most such matrices are singular, and b has no solution.
      return A.facts().matrix.dominant == dominance::strict ? title + " broke down" : "";
    case solve_status::diverged:
      return title + " diverged";
    case solve_status::stagnated:
    case solve_status::max_iterations:
      if (r.problem != "square") return title + " did not converge";
      return gives_way(r, next, limit) ? title + " did not converge" : "";
    default:
      return "";
  }
}

// Whether the later attempt's answer is to be kept rather than the earlier one's. Of two without an answer that
// of a method which takes any matrix tells more.
bool is_better(const solve_report& later, const solve_report& earlier, const method& earlier_method) {
  if (!has_solution(earlier.status)) return has_solution(later.status) || earlier_method.refuse != nullptr;
  return earlier.status == solve_status::interrupted || later.status == solve_status::interrupted ||
         later.status == solve_status::converged ||
         (has_solution(later.status) && later.true_residual < earlier.true_residual);
}

std::string went_on(const attempt& from, const attempt_record& ended, patience::rival faster,
                    const attempt& to) {
  const bool same = to.method == from.method;  // with another preconditioner
  const std::string title = from.method->title + (same ? " with " + from.preconditioner.name : "");
  const std::string next = ": went on with " + (same ? to.preconditioner.name : to.method->name);
  if (faster != patience::rival::none)
    return title + " had not converged after " + std::to_string(ended.iterations) + " iterations, and " +
           (faster == patience::rival::elimination ? "a factorisation" : to.preconditioner.name) +
           " is predicted to be done before them" + next;
  return title + " ended, " + ended.reason + next;
}

// The attempt after that of index k: one that eliminates, one that iterates, one that asks for less of a matrix or has
// another preconditioner, where that is wanted. The end of the plan where there is none.
enum class next_kind { any, elimination, iteration, less_special, otherwise_preconditioned };
std::size_t find_next(const std::vector<attempt>& plan, std::size_t k, next_kind wanted) {
  const method* const before = plan[k].method;
  const std::string& tried = plan[k].preconditioner.name;
  for (++k; k < plan.size(); ++k) {
    if (wanted == next_kind::elimination && !plan[k].method->direct) continue;
    if (wanted == next_kind::iteration && plan[k].method->direct) continue;
    if (wanted == next_kind::less_special &&
        (plan[k].method == before ||
         (before->refuse == not_spd_reason && plan[k].method->refuse == not_spd_reason)))
      continue;
    if (wanted == next_kind::otherwise_preconditioned && !plan[k].method->direct &&
        plan[k].preconditioner.name == tried)
      continue;
    break;
  }
  return k;
}

// What the next attempt is predicted to take where it differs in the preconditioner alone, and is not as good a guess as
// this one; else infinite.
double work_of_next_preconditioner(const std::vector<attempt>& plan, std::size_t k) {
  if (k + 1 == plan.size() || plan[k + 1].method != plan[k].method || !(plan[k + 1].work > plan[k].work))
    return std::numeric_limits<double>::infinity();
  return plan[k + 1].work;
}

void require_entries(const operand& A, const char* what) {
  if (A.form() == matrix_form::matrix_free)
    throw value_error(std::string(what) + " needs the entries of the matrix, and it is given by its action");
}

// Several GPUs begin with the first, or where the operands are.
solve_options placed(solve_options options, const device& home) {
  if (!options.gpus.empty() && !options.run_on)
    options.run_on = home.is_cuda() ? home : device::cuda(options.gpus.front());
  return options;
}

void check_sharing(const operand& A, const solve_options& options) {
  if (options.gpus.empty()) return;
  check_gpus(options.gpus);
  if (!options.run_on->is_cuda()) throw value_error("a solve on several GPUs does not begin on the CPU");
  if (A.form() == matrix_form::matrix_free) require_entries(A, "a solve on several GPUs");
}

void check_request(const operand& A, const solve_options& options) {
  check_stopping(options.goal);
  check_sharing(A, options);
  const bool own = options.own_preconditioner != nullptr;
  const bool named = options.preconditioner && options.preconditioner->name != "none";
  if (own && named) throw value_error("a preconditioner of the caller's and one by name exclude each other");
  if (own && options.precision != working_precision::double_)
    throw value_error("a preconditioner of the caller's works in double precision");
  if (A.form() != matrix_form::matrix_free) return;
  if (named) require_entries(A, "a preconditioner by name");
  if (options.proof) require_entries(A, "a proof");
  if (options.precision != working_precision::double_) require_entries(A, "another precision than double");
  if (options.run_on && *options.run_on != A.home())
    throw value_error("a matrix given by its action is solved with on the device on which it works");
}

}  // namespace

struct solver::state {
  solve_options options;
  operand A;
  std::vector<attempt> plan;
  std::size_t current = 0;  // the attempt that the next solve begins with
  std::string why;          // it is this one
  device_choice chosen;
  std::unique_ptr<ready_method> ready;  // that attempt; nullptr: not yet
  solve_times making;                   // of what makes it
  bool endless = false;                 // no later attempt can replace it
  double setup_seconds = 0;
  double cuda_start = 0;               // not yet reported
  std::unique_ptr<ready_batch> batch;  // in place of ready, where the form is tridiagonal
  bool none_solved = false;            // of the systems of the last batch
  bool renewed = false;                // A has other values than what is ready was made of
  bool gpus_by_model = false;          // nobody asked for options.gpus
  std::int64_t columns = 1;            // of the solve under way

  template <class... Matrix>
  state(const solve_options& asked, const device& home, const Matrix&... matrix)
      : options(placed(asked, home)), A(home, matrix...), chosen{options.run_on.value_or(home), "as asked"} {
    A.take_cpu(asked.cpu_threads);
    check_request(A, options);
  }

  // Where there is no plan yet.
  void make_plan() {
    if (!plan.empty()) return;
    const stopwatch clock;
    A.complete_facts(options);
    check_cancellation();
    plan = vouch::make_plan(A.facts(), options);
    begin_with(0, plan.front().why);
    setup_seconds += clock.seconds() - cuda_start;
  }
  void begin_with(std::size_t k, const std::string& reason) {
    ready.reset();
    renewed = false;
    current = k;
    why = reason;
    be_alone();
    chosen = choose(*plan[k].method);
    if (!may_be_shared(plan[k])) return;
    options.gpus = chosen.gpus = choose_gpus(chosen.dev, A.facts().matrix.rows, A.facts().matrix.nonzeros);
    gpus_by_model = !options.gpus.empty();
  }
  // Without the GPUs that the model has taken.
  void be_alone() {
    if (!gpus_by_model) return;
    options.gpus.clear();
    chosen.gpus.clear();
    gpus_by_model = false;
  }
  // Iterations that go on for long, and nobody looks at.
  bool may_be_shared(const attempt& taken) const {
    constexpr std::array lasting{"none", "jacobi", "chebyshev"};
    const bool looked_at = options.goal.on_iterate ||
                           (options.observer != nullptr && options.observer->wants_iterates()) ||
                           checkpoint_scope::here() != nullptr;
    return columns == 1 && !options.run_on && options.gpus.empty() && chosen.dev.is_cuda() &&
           !A.home().is_cuda() && !looked_at && A.form() == matrix_form::sparse && !taken.method->direct &&
           taken.method->options.has(method_option::several_gpus) &&
           taken.precision != working_precision::mixed && options.own_preconditioner == nullptr &&
           std::find(lasting.begin(), lasting.end(), taken.preconditioner.name) != lasting.end();
  }
  device_choice choose(const method& m) {
    if (options.run_on) return {*options.run_on, "as asked", options.gpus};
    if (A.form() == matrix_form::matrix_free) return {A.home(), "the matrix works there"};
    if (options.own_preconditioner != nullptr) return {A.home(), "the preconditioner works there"};
    const bool runs_there = m.on_cuda.has(true) && (!m.makes || A.facts().factorised_on_gpu);
    if (A.home().is_cuda() && runs_there) return {A.home(), "the matrix is there"};
    const stopwatch starting;
    device_choice choice{A.cpu(), "this method has no other"};
    if (m.on_cuda.has(false))
      choice = m.choose(A.facts(), options, A.cpu().threads());
    else
      choice.dev = device::best();
    if (choice.dev.is_cuda())
      cuda_start += starting.seconds();
    else
      choice.dev = A.cpu();
    return choice;
  }

  // The device that solves, and the other GPUs that take part.
  device_group provers() const {
    std::vector<device> all{chosen.dev};
    for (const int gpu : options.gpus)
      if (chosen.dev.is_cuda() && gpu != chosen.dev.index()) all.push_back(device::cuda(gpu));
    return device_group(std::move(all), A.cpu().threads());
  }

  stopping_criterion goal() const {
    stopping_criterion g = options.goal;
    if (!g.rtol)
      g.rtol = options.precision == working_precision::single ? default_rtol<float> : default_rtol<double>;
    return g;
  }

  void state_in(checkpoint& kept, const columns_view& system) const;
  solve_result run(const columns_view& system, patience* limit);
  solve_result solve(const columns_view& system);
  solve_result solve_from_anywhere(const columns_view& system);
  solve_result solve_batch(const batch_view<const double>& b, const batch_view<double>& x);
};

// The system and the current attempt, with all that is decided.
void solver::state::state_in(checkpoint& kept, const columns_view& system) const {
  const attempt& now = plan[current];
  if (system.count != 1)
    throw value_error("a checkpoint is of one right-hand side, here are " + std::to_string(system.count),
                      "solve them one after another");
  if (now.method->direct)
    throw value_error(std::string("a checkpoint is of an iteration, and ") + now.method->title + " is none",
                      "name an iterative method, as with --method cg");
  state_system(kept, A, system.b, options.names);
  solve_options taken = options;
  taken.method = now.method->name;
  taken.precision = now.precision;
  if (options.own_preconditioner == nullptr) taken.preconditioner = now.preconditioner;
  taken.accelerate = now.accelerate;
  taken.run_on = chosen.dev;
  taken.goal = goal();
  state_options(kept, taken);
}

// The current attempt for all columns, as long as `limit`, if there is one, has patience.
solve_result solver::state::run(const columns_view& system, patience* limit) {
  const std::int64_t m = A.rows(), n = A.cols();
  solve_result result;
  result.how = plan[current].method;
  result.gpus = options.gpus;
  if (checkpoint* const kept = checkpoint_scope::here()) state_in(*kept, system);
  if (ready && renewed) {  // stays so where making it throws
    making = {};
    if (ready->renew())
      result.times = making;
    else
      ready.reset();
  }
  if (!ready) {
    making = {};
    ready = plan[current].method->make({A, options, plan[current], chosen.dev, making});
    result.times = making;
  }
  renewed = false;
  check_cancellation();  // making it may have taken long
  stopping_criterion goal = this->goal();
  goal.on_iteration = [this, limit, user = goal.on_iteration](const iteration_record& record) {
    return (!user || user(record)) && (options.observer == nullptr || options.observer->iteration(record)) &&
           (limit == nullptr || limit->goes_on(record));
  };
  if (options.observer != nullptr && options.observer->wants_iterates())
    goal.on_iterate = [this, user = goal.on_iterate](const iteration_record& record, view<const double> x) {
      return (!user || user(record, x)) && options.observer->iterate(record, x);
    };
  const std::int64_t most = goal.on_iterate ? 1 : std::max<std::int64_t>(1, ready->at_once(system.count));
  for (std::int64_t first = 0; first < system.count; first += most) {
    const std::int64_t count = std::min(most, system.count - first);
    const view<const double> b(system.b.data() + first * m, count * m);
    const view<double> x(system.x.data() + first * n, count * n);
    if (options.observer != nullptr) options.observer->begin(first, count);
    std::vector<solve_report> reports = ready->solve(count, b, x, goal, result.times);
    if (ready->rounds() || !ready->judges_each_column())
      timed(result.times.solve, [&] {
        const on_cpu rhs(A, b), solution(A, {x.data(), x.size()});
        for (std::int64_t k = 0; k < count; ++k)
          judge_column(A, {rhs + k * m, m}, {solution + k * n, n}, goal, *result.how, ready->rounds(),
                       reports[static_cast<std::size_t>(k)]);
      });
    if (options.observer != nullptr) options.observer->end(reports);
    for (std::int64_t k = 0; k < count; ++k)
      add_column(result, std::move(reports[static_cast<std::size_t>(k)]), first + k);
    if (ends_all(result.status)) break;
  }
  return result;
}

solve_result solver::state::solve(const columns_view& system) {
  struct candidate {
    solve_result result;
    std::size_t index;
    std::string why;
    array<double> x{};  // where it is not that of the system
  };
  columns = system.count;
  if (columns > 1 && gpus_by_model) {  // several at a time are for one GPU
    be_alone();
    ready.reset();
  }
  const start_values start(A.home(), {system.x.data(), current + 1 < plan.size() ? system.x.size() : 0});
  std::optional<candidate> best;
  std::optional<std::size_t> cut_short;
  std::vector<attempt_record> records;
  struct step {
    std::size_t to;  // the attempt
    std::string warning;
  };
  std::vector<step> steps;
  solve_times spent;
  std::exception_ptr refused;
  for (;;) {
    const attempt& taken = plan[current];
    const bool elimination =
        !chosen.dev.is_cuda() && find_next(plan, current, next_kind::elimination) < plan.size();
    const double other = work_of_next_preconditioner(plan, current);
    const bool impatient = !endless && taken.iteration_work > 0 && (elimination || std::isfinite(other));
    patience limit(A, taken.iteration_work, other, elimination, *goal().rtol);
    attempt_record record{taken.method->name, taken.precision, why, {}, "", 0};
    std::string next;  // why the next attempt is made
    std::size_t following = plan.size();
    try {
      solve_result result = run(system, impatient ? &limit : nullptr);
      record.status = result.status;
      record.reason = result.reason;
      record.iterations = result.iterations;
      // What shows that a matrix is not definite, shows it to all that need one.
      following = find_next(plan, current,
                            limit.gave_way_to() == patience::rival::elimination ? next_kind::elimination
                            : result.status == solve_status::not_spd            ? next_kind::less_special
                                                                                : next_kind::any);
      if (following < plan.size() && !endless) next = reason_to_go_on(A, result, plan[following], limit);
      if (!next.empty() && limit.gave_way_to() != patience::rival::none) cut_short = current;
      spent.setup += result.times.setup + result.times.solve;
      spent.transfer += result.times.transfer;
      const bool wins = !best || is_better(result, best->result, *plan[best->index].method);
      if (wins) best = candidate{std::move(result), current, why};
      if (wins && !next.empty()) {
        best->x = array<double>(A.home(), system.x.size());
        copy_bytes(best->x.data(), A.home(), system.x.data(), A.home(), bytes_of(system.x.size()));
      }
    } catch (const cancelled&) {
      throw;
    } catch (const shape_error&) {
      throw;
    } catch (const error& e) {
      if (!refused) refused = std::current_exception();
      record.reason = e.what();
      // Where one factorisation does not fit, no other does.
      const bool too_large = taken.method->direct && dynamic_cast<const out_of_memory*>(&e) != nullptr;
      // What cannot be made of the matrix for one method, cannot for another.
      const bool preconditioned = !taken.method->direct && taken.preconditioner.name != "none";
      following = find_next(plan, current,
                            too_large        ? next_kind::iteration
                            : preconditioned ? next_kind::otherwise_preconditioned
                                             : next_kind::any);
      if (following < plan.size()) next = "the attempt before it failed";
    }
    records.push_back(record);
    if (next.empty()) break;
    const patience::rival faster = limit.gave_way_to();
    const bool dense = A.form() == matrix_form::dense && plan[following].method->takes.has(matrix_form::dense);
    steps.push_back({following, went_on(taken, record, faster, plan[following])});
    begin_with(following, dense ? "dense, " + next : next);
    start.put_back(system.x);
  }
  if (!best) refuse(A, options.names.matrix, refused);
  if (cut_short && (best->index == *cut_short || !has_solution(best->result.status))) {
    // nothing did better: to its own end
    begin_with(*cut_short, plan[*cut_short].why);
    endless = true;
    start.put_back(system.x);
    best = candidate{run(system, nullptr), current, why};
    spent.setup += best->result.times.setup + best->result.times.solve;
    spent.transfer += best->result.times.transfer;
  } else if (best->index != current) {
    begin_with(best->index, best->why);
    copy_bytes(system.x.data(), A.home(), best->x.data(), A.home(), bytes_of(system.x.size()));
  }
  solve_result result = std::move(best->result);
  spent.setup -= result.times.solve;
  spent.solve = result.times.solve;
  spent.cuda_start = std::exchange(cuda_start, 0);
  result.times = spent;
  for (std::size_t k = 0; k < steps.size() && steps[k].to <= current; ++k)
    result.warnings.insert(result.warnings.begin() + static_cast<std::ptrdiff_t>(k), steps[k].warning);
  if (result.status != solve_status::converged && result.status != solve_status::interrupted)
    if (std::string missing = missing_elimination(A.facts(), options); !missing.empty())
      result.warnings.push_back(std::move(missing));
  result.method_reason = why;
  result.precision_reason = plan[current].precision_why;
  result.where = chosen.dev;
  result.device_reason = chosen.why;
  result.attempts = std::move(records);
  return result;
}

// Vectors on the CPU are brought to the matrix, and solutions back.
solve_result solver::state::solve_from_anywhere(const columns_view& system) {
  const device& home = A.home();
  if (!home.is_cuda() || (is_accessible(home, system.b.data()) && is_accessible(home, system.x.data())))
    return solve(system);
  array<double> b(home, system.b.size()), x(home, system.x.size());
  double transfer = 0;
  timed(transfer, [&] {
    copy_bytes(b.data(), home, system.b.data(), A.cpu(), bytes_of(b.size()));
    copy_bytes(x.data(), home, system.x.data(), A.cpu(), bytes_of(x.size()));
  });
  solve_result result = solve({system.count, b, x});
  timed(transfer, [&] { copy_bytes(system.x.data(), A.cpu(), x.data(), home, bytes_of(x.size())); });
  result.times.transfer += transfer;
  return result;
}

// One attempt: what the methods for tridiagonal systems refuse no other takes.
solve_result solver::state::solve_batch(const batch_view<const double>& b, const batch_view<double>& x) {
  solve_result result;
  result.how = plan[current].method;
  if (!batch) {
    making = {};
    batch = plan[current].method->make_batch({A, options, plan[current], chosen.dev, making});
    result.times = making;
  }
  detail::judgement found;
  const stopping_criterion asked = goal();
  tridiagonal_report report = batch->solve(b, x, asked, result.times, found);
  none_solved = report.systems_missed == b.shape.systems;
  if (batch->rounds() && has_solution(report.status))
    timed(result.times.solve, [&] { judge_batch(A, b, x, asked, report, found); });
  take_batch_verdict(report, found, asked, result);
  result.method_reason = why;
  result.precision_reason = plan[current].precision_why;
  result.where = chosen.dev;
  result.gpus = options.gpus;
  result.device_reason = chosen.why;
  result.times.cuda_start = std::exchange(cuda_start, 0);
  result.attempts = {
      {result.how->name, plan[current].precision, why, result.status, result.reason, result.iterations}};
  return result;
}

solver::solver(const device& dev, csr_view<const double> A, const solve_options& options) {
  const ieee_environment here;
  const stopwatch clock;
  state_ = std::make_unique<state>(options, dev, A);
  state_->setup_seconds += clock.seconds();
}

solver::solver(const device& dev, const csr32_view<const double>& A, const solve_options& options) {
  const ieee_environment here;
  const stopwatch clock;
  state_ = std::make_unique<state>(options, dev, A);
  state_->setup_seconds += clock.seconds();
}

solver::solver(const device& dev, matrix_view<const double> A, const solve_options& options,
               storage_order order) {
  const ieee_environment here;
  const stopwatch clock;
  state_ = std::make_unique<state>(options, dev, A, order == storage_order::by_rows);
  state_->setup_seconds += clock.seconds();
}

solver::solver(const device& dev, const linear_operator<double>& A, const solve_options& options) {
  const ieee_environment here;
  state_ = std::make_unique<state>(options, dev, A);
}

solver::solver(const device& dev, const tridiagonal_view<const double>& A, const solve_options& options) {
  const ieee_environment here;
  const stopwatch clock;
  state_ = std::make_unique<state>(options, dev, A);
  state_->setup_seconds += clock.seconds();
}

solver::~solver() = default;
solver::solver(solver&&) noexcept = default;
solver& solver::operator=(solver&&) noexcept = default;

void solver::renew(csr_view<const double> A) {
  const ieee_environment here;
  const stopwatch clock;
  const auto kind = [&] {
    const structure_facts& facts = state_->A.facts().matrix;
    return std::tuple(facts.symmetric, facts.complex_symmetric, not_spd_reason(facts).empty());
  };
  const auto before = kind();
  state_->A.renew(A);
  state_->renewed = true;
  if (kind() != before) {  // what suited the old values need not suit the new ones
    state_->plan.clear();
    state_->ready.reset();
    state_->endless = false;
  }
  state_->setup_seconds += clock.seconds();
}

solve_result solver::solve(matrix_view<const double> B, matrix_view<double> X) {
  const ieee_environment here;
  operand& A = state_->A;
  if (A.form() == matrix_form::tridiagonal) {
    const batch_shape shape = system_after_system(A, B, X);
    return solve_batch({B.data, shape}, {X.data, shape});
  }
  std::optional<valid_csr> valid;
  if (A.form() == matrix_form::sparse) valid.emplace("solver", A.home(), A.sparse(A.home()));
  const columns_view system = checked(A, B, X);
  solve_result result;
  if (system.count == 0) {
    result.status = solve_status::converged;
    result.reason = "there is no right-hand side";
    return result;
  }
  state_->make_plan();
  result = state_->solve_from_anywhere(system);
  if (system.count == 1) result.columns.clear();
  if (state_->options.proof) prove(B, X, *state_->options.proof, result);
  return result;
}

solve_result solver::solve_batch(const batch_view<const double>& b, const batch_view<double>& x) {
  const ieee_environment here;
  require_batch(state_->A);
  detail::require_data("solver", "the right-hand side", b.data, b.shape.extent());
  detail::require_data("solver", "the solution", x.data, x.shape.extent());
  if (overlap(b.data, b.shape.extent(), x.data, x.shape.extent()))
    throw value_error("the right-hand sides and the solutions overlap",
                      "give the solutions memory of their own");
  state_->make_plan();
  solve_result result = state_->solve_batch(b, x);
  if (state_->options.proof) prove_batch(b, x, *state_->options.proof, result);
  return result;
}

solve_result solver::solve(view<const double> b, view<double> x) {
  if ((b.stride() != 1 && b.size() > 1) || (x.stride() != 1 && x.size() > 1))
    throw shape_error("the right-hand side or the solution is not contiguous");
  return solve(matrix_view<const double>{b.data(), b.size(), 1, std::max<std::int64_t>(1, b.size())},
               {x.data(), x.size(), 1, std::max<std::int64_t>(1, x.size())});
}

solution_proof solver::prove(matrix_view<const double> B, matrix_view<double> X, const proof_request& request) {
  const ieee_environment here;
  const operand& A = state_->A;
  require_entries(A, "a proof");
  if (A.form() == matrix_form::tridiagonal) {
    const batch_shape shape = system_after_system(A, B, X);
    return prove_batch({B.data, shape}, {X.data, shape}, request);
  }
  const columns_view system = checked(A, B, X);
  const on_cpu rhs(A, system.b);
  if (!A.home().is_cuda())
    return prove_solution(request, A, state_->provers(), system.count, rhs.all(), system.x);
  array<double> x(A.cpu(), system.x.size());
  copy_bytes(x.data(), A.cpu(), system.x.data(), A.home(), bytes_of(x.size()));
  solution_proof proof = prove_solution(request, A, state_->provers(), system.count, rhs.all(), x);
  copy_bytes(system.x.data(), A.home(), x.data(), A.cpu(), bytes_of(x.size()));
  return proof;
}

solution_proof solver::prove_batch(const batch_view<const double>& b, const batch_view<double>& x,
                                   const proof_request& request) {
  const ieee_environment here;
  require_batch(state_->A);
  return vouch::prove_batch(request, state_->A, state_->chosen.dev, b, x);
}

void solver::prove_batch(const batch_view<const double>& b, const batch_view<double>& x,
                         const proof_request& request, solve_result& result) {
  const ieee_environment here;
  require_batch(state_->A);
  if (state_->none_solved) {
    result.proof = unproved("there is no solution to verify");
    return;
  }
  result.proof = prove_batch(b, x, request);
  if (result.proof->refinements == 0 || !has_solution(result.status)) return;
  tridiagonal_report report;
  report.method = result.method;
  report.matrix = state_->A.band_facts();
  report.engine = result.engine;
  report.precision = result.precision;
  report.refinements = static_cast<int>(result.iterations);
  report.warnings = result.warnings;
  detail::judgement found;
  judge_batch(state_->A, b, x, state_->goal(), report, found);
  take_batch_verdict(report, found, state_->goal(), result);
}

void solver::prove(matrix_view<const double> B, matrix_view<double> X, const proof_request& request,
                   solve_result& result) {
  const ieee_environment here;
  if (state_->A.form() == matrix_form::tridiagonal) {
    const batch_shape shape = system_after_system(state_->A, B, X);
    return prove_batch({B.data, shape}, {X.data, shape}, request, result);
  }
  if (!has_solution(result.status) || result.status == solve_status::interrupted) {
    result.proof = unproved(has_solution(result.status) ? "interrupted" : "there is no solution to verify");
    return;
  }
  result.proof = prove(B, X, request);
  if (result.proof->refinements == 0) return;
  const operand& A = state_->A;
  const columns_view system = checked(A, B, X);
  const on_cpu rhs(A, system.b), solution(A, {system.x.data(), system.x.size()});
  judge_improved(A, system.count, rhs.all(), solution.all(), state_->goal(), result);
}

const structure_facts& solver::facts() const { return state_->A.facts().matrix; }
matrix_form solver::form() const { return state_->A.form(); }

const std::vector<attempt>& solver::plan() {
  const ieee_environment here;
  state_->make_plan();
  return state_->plan;
}

const attempt& solver::next() { return plan()[state_->current]; }

const device_choice& solver::where() {
  plan();
  return state_->chosen;
}

double solver::setup_seconds() const { return state_->setup_seconds; }

solve_result solve(const device& dev, const linear_operator<double>& A, view<const double> b, view<double> x,
                   const solve_options& options) {
  return solver(dev, A, options).solve(b, x);
}

solve_result solve(const device& dev, const tridiagonal_view<const double>& A,
                   const batch_view<const double>& b, const batch_view<double>& x,
                   const solve_options& options) {
  return solver(dev, A, options).solve_batch(b, x);
}

solve_result solve(const device& dev, csr_view<const double> A, view<const double> b, view<double> x,
                   const solve_options& options) {
  const valid_csr valid("solver", dev, A);
  return solver(dev, A, options).solve(b, x);
}

solve_result solve(const device& dev, csr_view<const double> A, matrix_view<const double> B,
                   matrix_view<double> X, const solve_options& options) {
  return solver(dev, A, options).solve(B, X);
}

solve_result solve(const device& dev, matrix_view<const double> A, view<const double> b, view<double> x,
                   const solve_options& options) {
  return solver(dev, A, options).solve(b, x);
}

solve_result solve(const device& dev, matrix_view<const double> A, matrix_view<const double> B,
                   matrix_view<double> X, const solve_options& options) {
  return solver(dev, A, options).solve(B, X);
}

}  // namespace vouch
