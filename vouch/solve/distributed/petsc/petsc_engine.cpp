#include <vouch/solve/distributed/petsc/petsc_engine.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <stdexcept>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::distributed {
namespace {

// Who hears of PETSc's iterations. No exception may pass through PETSc.
class hearer {
 public:
  hearer(iteration_log& log, double first) : log_(log), first_(first) {}

  static int hear(void* whom, std::int64_t iteration, double norm) {
    return static_cast<hearer*>(whom)->note(iteration, norm) ? 1 : 0;
  }
  // Another norm than the residual's, in units that make its first one that of the residual.
  double residual(double norm) const { return norm * unit_; }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  bool note(std::int64_t iteration, double norm) noexcept {
    constexpr double rounding = 1e-6;
    if (iteration == 0 && norm > 0 && std::fabs(norm / first_ - 1) > rounding) unit_ = first_ / norm;
    try {
      return log_.note(iteration, residual(norm));
    } catch (...) {
      thrown_ = std::current_exception();
      return false;
    }
  }

  iteration_log& log_;
  double first_, unit_ = 1;
  std::exception_ptr thrown_;
};

solver_event event_of(vouch_petsc_end end) {
  switch (end) {
    case VOUCH_PETSC_REACHED:
      return solver_event::reached;
    case VOUCH_PETSC_ITERATION_LIMIT:
      return solver_event::iteration_limit;
    case VOUCH_PETSC_DIVERGED:
      return solver_event::diverged;
    case VOUCH_PETSC_INDEFINITE_MATRIX:
      return solver_event::negative_curvature;
    case VOUCH_PETSC_INDEFINITE_PRECONDITIONER:
      return solver_event::indefinite_preconditioner;
    case VOUCH_PETSC_INTERRUPTED:
      return solver_event::interrupted;
    default:
      return solver_event::breakdown;
  }
}

// This rank's rows as PETSc wants them: by columns of the whole matrix, every diagonal entry stored.
struct handed_rows {
  explicit handed_rows(const row_matrix& A) : values(A.local().val), row_ptr(A.local().row_ptr) {
    const csr_view<const double> local = A.local();
    columns.resize(static_cast<std::size_t>(local.nonzeros));
    std::int64_t diagonals = 0;
    for (std::int64_t i = 0; i < local.rows; ++i)
      for (std::int64_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k) {
        columns[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(A.column(local.col[k]));
        if (local.col[k] == i) ++diagonals;
      }
    if (diagonals < local.rows) add_zeros(local, A.first_row());
  }

  const double* values;
  const std::int64_t* row_ptr;
  std::vector<std::int32_t> columns;

 private:
  void add_zeros(csr_view<const double> local, std::int64_t first_row) {
    const std::vector<std::int32_t> given = std::move(columns);
    columns.clear();
    own_row_ptr_.push_back(0);
    for (std::int64_t i = 0; i < local.rows; ++i) {
      const auto begin = given.begin() + local.row_ptr[i], end = given.begin() + local.row_ptr[i + 1];
      const auto diagonal = static_cast<std::int32_t>(first_row + i);
      const auto behind = std::lower_bound(begin, end, diagonal);
      const double* const of_row = local.val + local.row_ptr[i];
      columns.insert(columns.end(), begin, behind);
      own_values_.insert(own_values_.end(), of_row, of_row + (behind - begin));
      if (behind == end || *behind != diagonal) {
        columns.push_back(diagonal);
        own_values_.push_back(0);
      }
      columns.insert(columns.end(), behind, end);
      own_values_.insert(own_values_.end(), of_row + (behind - begin), of_row + (end - begin));
      own_row_ptr_.push_back(static_cast<std::int64_t>(columns.size()));
    }
    values = own_values_.data();
    row_ptr = own_row_ptr_.data();
  }

  std::vector<std::int64_t> own_row_ptr_;
  std::vector<double> own_values_;
};

std::vector<const char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<const char*> all;
  for (const std::string& word : words) all.push_back(word.c_str());
  return all;
}

void require_countable(communicator& ranks, int index_bits, std::int64_t entries) {
  const std::int64_t most =
      index_bits < 64 ? (std::int64_t{1} << (index_bits - 1)) - 1 : std::numeric_limits<std::int64_t>::max();
  agree(ranks, [&] {
    if (entries > most)
      throw file_error("a rank's " + std::to_string(entries) + " entries are more than PETSc counts by its " +
                           std::to_string(index_bits) + "-bit indices",
                       "take more ranks, or build Vouch with a PETSc of 64-bit indices: libpetsc64-real-dev");
  });
}

}  // namespace

void require_done(communicator& ranks, const vouch_petsc& functions, vouch_petsc_code code) {
  const std::string text = std::string("PETSc: ") + (code == VOUCH_PETSC_DONE ? "" : functions.problem());
  if (code == VOUCH_PETSC_ALONE) throw std::runtime_error(text);
  agree(ranks, [&] {
    if (code == VOUCH_PETSC_REFUSED) throw value_error(text);
    if (code == VOUCH_PETSC_FAILED) throw file_error(text);
  });
}

petsc_engine::petsc_engine(const vouch_petsc& functions, const row_matrix& A, const row_vectors& vectors,
                           const structure_facts& facts, bool constants_in_null_space,
                           const std::vector<std::string>& words)
    : functions_(functions), A_(A), vectors_(vectors) {
  if (A.all_rows() == 0) return;
  const handed_rows own(A);
  require_countable(A.ranks(), functions.index_bits, own.row_ptr[A.rows()]);
  const bool definite = facts.symmetric && facts.first_nonpositive_diagonal < 0;
  const vouch_petsc_rows rows{A.all_rows(),
                              A.first_row(),
                              A.rows(),
                              own.row_ptr,
                              own.columns.data(),
                              own.values,
                              facts.symmetric ? 1 : 0,
                              definite ? 1 : 0,
                              constants_in_null_space ? 1 : 0};
  const std::vector<const char*> word = pointers_to(words);
  const ieee_environment here;  // what libraries of PETSc's set ends here
  require_done(A.ranks(), functions,
               functions.create(&rows, static_cast<int>(word.size()), word.data(), &solver_));
  const char *method = "", *preconditioner = "", *partition = "";
  functions.names(solver_, &method, &preconditioner, &partition);
  method_ = method;
  preconditioner_ = preconditioner;
  partition_ = partition;
}

petsc_engine::~petsc_engine() {
  // Other ranks may not know of an exception, and PETSc's functions wait for them.
  if (solver_ != nullptr && std::uncaught_exceptions() == exceptions_) functions_.destroy(solver_);
}

std::string petsc_engine::name() const {
  return std::string(functions_.library) + " on " + std::to_string(A_.ranks().size()) +
         (A_.ranks().size() == 1 ? " rank" : " ranks") +
         (partition_.empty() ? "" : ", rows partitioned by " + partition_) + ": " + method_ +
         (preconditioner_.empty() ? "" : ", " + preconditioner_);
}

inner_outcome petsc_engine::run(double* r, double* d, const stopping_rule& rule, iteration_log& log) {
  const double first = vectors_.norm2(r);
  std::fill_n(d, A_.rows(), 0.0);
  if (first * first <= rule.target_squared || solver_ == nullptr)
    return {solver_event::reached, 0, first * first};
  if (rule.limit <= 0) return {solver_event::iteration_limit, 0, first * first};

  vouch_petsc_task task{};
  task.relative = rule.target_squared < 0 ? -1 : std::sqrt(rule.target_squared) / first;
  constexpr double a_digit = 0.1;
  if (ran_) task.relative = std::min(task.relative, a_digit);
  ran_ = true;
  task.growth = std::sqrt(rule.diverged_squared) / first;
  task.limit = rule.limit;
  hearer ear(log, first);
  task.note = hearer::hear;
  task.whom = &ear;
  vouch_petsc_outcome outcome{};
  {
    const ieee_environment here;
    require_done(A_.ranks(), functions_, functions_.solve(solver_, r, d, &task, &outcome));
  }
  agree(A_.ranks(), [&] { ear.rethrow(); });
  said_ = outcome.said != nullptr ? outcome.said : "";
  const inner_outcome ended{event_of(outcome.end), std::max<std::int64_t>(outcome.iterations, 0),
                            std::pow(ear.residual(outcome.norm), 2)};
  // What a factorisation that failed leaves is no correction.
  if (ended.event == solver_event::breakdown && !std::isfinite(vectors_.norm2(d)))
    std::fill_n(d, A_.rows(), 0.0);
  return ended;
}

}  // namespace vouch::distributed
