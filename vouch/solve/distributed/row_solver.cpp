#include <vouch/solve/distributed/row_solver.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/distributed/row_fingerprint.hpp>
#include <vouch/solve/distributed/row_problem.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/resume.hpp>

namespace vouch {
namespace {

using namespace distributed;

double least_diagonal_entry(const row_vectors& vectors, const row_matrix& A) {
  const csr_view<const double> local = A.local();
  double least = std::numeric_limits<double>::max();
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k)
      if (local.col[k] == i) least = std::min(least, local.val[k]);
  return 1 / vectors.largest(1 / least);
}

class row_solve {
 public:
  row_solve(const device& cpu, const row_matrix& A, view<const double> b, const row_solve_options& options)
      : options_(options),
        A_(A),
        vectors_(cpu, A),
        residual_(vectors_, A, b),
        problem_{cpu, A.rows(), residual_of()} {
    problem_.whole = &vectors_;
    report_.precision = "double";
    report_.preconditioner = "none";
    if (options.method == row_method::cg)
      prepare_cg();
    else
      prepare_jacobi();
    report_.engine = engine_->name();
    if (checkpoint* const kept = checkpoint_scope::here()) state_in(*kept, b);
  }

  solve_report run(view<double> x) {
    report_.setup_seconds = clock_.seconds();
    residual_checked_solve(problem_, *engine_, x, options_, report_);
    return std::move(report_);
  }

 private:
  residual_function<double> residual_of() {
    return [this](const double* x, const double* low, double* r) { return residual_(x, low, r); };
  }

  void state_in(checkpoint& kept, view<const double> b) const {
    if (kept.processes() != A_.ranks().size())
      throw value_error("the checkpoint is of " + std::to_string(kept.processes()) +
                            " process, the rows are of " + std::to_string(A_.ranks().size()),
                        "make it with a rank_team");
    solve_options taken;
    taken.method = report_.method;
    taken.goal = options_;
    taken.preconditioner = options_.preconditioner;
    taken.run_on = vectors_.cpu();
    state_options(kept, taken, "ranks");
    state_operand(kept, "matrix", fingerprint_of(A_), options_.names.matrix);
    state_operand(kept, "right-hand side", fingerprint_of(A_, b), options_.names.rhs);
  }

  void prepare_cg() {
    report_.method = "cg";
    if (!options_.matrix_checked)
      if (const std::string reason = not_spd_reason(A_); !reason.empty())
        throw value_error("conjugate gradients cannot solve this system: " + reason);
    problem_.constants_in_null_space = has_constants_in_null_space(vectors_, A_);
    problem_.allowed_growth = growth_of_gradients<double>;
    M_ = make_preconditioner();
    problem_.M = M_.get();
    if (M_ == nullptr) {
      if (!problem_.constants_in_null_space)
        problem_.least_eigenvalue_at_most = least_diagonal_entry(vectors_, A_);
      engine_ = row_cg(A_, vectors_, nullptr);
      return;
    }
    report_.preconditioner = M_->name();
    engine_ =
        M_->diagonal() != nullptr ? row_cg(A_, vectors_, M_->diagonal()) : row_cg_general(A_, vectors_, *M_);
  }

  void prepare_jacobi() {
    report_.method = "jacobi";
    if (options_.preconditioner.name != "none")
      throw value_error("Jacobi's iteration takes no preconditioner", "--method cg does");
    inverse_ = inverse_diagonal(A_, "jacobi", true);
    engine_ = row_jacobi(A_, vectors_, inverse_.data());
  }

  std::unique_ptr<preconditioner<double>> make_preconditioner() const {
    const preconditioner_choice& choice = options_.preconditioner;
    if (choice.name == "none") return nullptr;
    if (choice.name == "jacobi") return make_row_jacobi(A_);
    if (choice.name == "chebyshev") {
      const auto given = choice.parameters.find("degree");
      if (given == choice.parameters.end()) return make_row_chebyshev(A_, vectors_);
      return make_row_chebyshev(A_, vectors_, static_cast<std::int64_t>(given->second));
    }
    throw value_error("the preconditioner \"" + choice.name + "\" is not there for rows on several ranks",
                      "none, jacobi or chebyshev");
  }

  stopwatch clock_;
  const row_solve_options& options_;
  const row_matrix& A_;
  row_vectors vectors_;
  row_residual_of residual_;
  checked_problem<double> problem_;
  solve_report report_;
  std::unique_ptr<preconditioner<double>> M_;
  array<double> inverse_;
  std::unique_ptr<inner_solver<double>> engine_;
};

}  // namespace

solve_report solve_rows(const device& cpu, const row_matrix& A, view<const double> b, view<double> x,
                        const row_solve_options& options) {
  const ieee_environment here;
  require_rows("solve_rows", A, b, x);
  check_krylov_stopping("solve_rows", options);
  return row_solve(cpu, A, b, options).run(x);
}

}  // namespace vouch
