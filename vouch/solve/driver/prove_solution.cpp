#include <vouch/solve/driver/prove_solution.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/driver/tridiagonal_form.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

namespace vouch {
namespace {

constexpr int most_refinements = 10;
// Without a wish, x is improved once its error may be larger than this part of its largest component.
constexpr double acceptable = 1e-6;

struct proof_task {
  const proof_request& request;
  const operand& A;
  const device& dev;
  std::int64_t columns;
  view<const double> b;
  view<double> x;

  const device& cpu() const { return A.cpu(); }
  // Radii of entries come after the bound for A and b themselves.
  uncertainty within() const { return request.radii != nullptr ? uncertainty{} : request.within; }
};

std::size_t bytes_of(std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(double); }

array<double> placed(const proof_task& task, view<const double> values) {
  array<double> there(task.dev, values.size());
  copy_bytes(there.data(), task.dev, values.data(), task.cpu(), bytes_of(values.size()));
  return there;
}

// The certificate is for A, which lives on the device.
template <class Matrix>
void bound_columns(const proof_task& task, const Matrix& A, certificate& proof, solution_proof& all) {
  const std::int64_t n = task.A.rows();
  all.radius = array<double>(task.cpu(), n * task.columns);
  data_radii data;
  if (task.request.radii != nullptr) data.matrix = task.request.radii->matrix.to(task.cpu());
  for (std::int64_t j = 0; j < task.columns; ++j) {
    const array<double> b = placed(task, {task.b.data() + j * n, n});
    array<double> x = placed(task, {task.x.data() + j * n, n});
    error_bound bound =
        bound_error(task.dev, A, proof, b, x, {task.within(), task.request.relative, most_refinements});
    if (task.request.radii != nullptr) {
      data.rhs = array<double>::from(task.cpu(),
                                     {task.request.radii->rhs.data() + j * n, static_cast<std::size_t>(n)});
      widen_to_data(task.dev, proof, data, x, task.request.relative, bound);
    }
    add_column(all, bound, j == 0);
    copy_bytes(task.x.data() + j * n, task.cpu(), x.data(), task.dev, bytes_of(n));
    copy_bytes(all.radius.data() + j * n, task.cpu(), bound.radius.data(), task.dev, bytes_of(n));
  }
}

// False where nothing is proved of a dense matrix as such.
bool prove_dense(const proof_task& task, solution_proof& all) {
  matrix<double> there;
  matrix_view<const double> A = task.A.dense(task.cpu());
  if (task.dev.is_cuda()) {
    there = matrix<double>(task.dev, A.rows, A.cols);
    for (std::int64_t j = 0; j < A.cols; ++j)
      copy_bytes(there.data() + j * A.rows, task.dev, A.data + j * A.ld, task.cpu(), bytes_of(A.rows));
    A = there.read();
  }
  const std::unique_ptr<certificate> proof = prove_nonsingular(task.dev, A, task.within(), all.reason);
  if (proof != nullptr) bound_columns(task, A, *proof, all);
  return proof != nullptr;
}

// Dense matrices come here after all, for what an inverse cannot prove.
void prove_sparse(const proof_task& task, solution_proof& all) {
  const bool dense = task.A.form() == matrix_form::dense;
  csr<double> there;
  csr_view<const double> A = task.A.sparse(task.cpu());
  const structure_facts facts = dense ? structure<double>(task.cpu(), A) : task.A.facts().matrix;
  if (task.dev.is_cuda()) {
    there = copy(task.dev, task.cpu(), A);
    A = there.all();
  }
  std::string reason;
  const std::unique_ptr<certificate> proof = dense
                                                 ? prove_by_structure(task.dev, A, facts, task.within(), reason)
                                                 : prove_nonsingular(task.dev, A, facts, task.within(), reason);
  if (proof != nullptr)
    bound_columns(task, A, *proof, all);
  else
    all.reason = all.reason.empty() ? reason : all.reason + "; " + reason;
}

// False, and x as it was, for other matrices, for radii of entries and where nothing is proved.
bool prove_tridiagonal(const proof_task& task, solution_proof& all) {
  const std::int64_t n = task.A.rows();
  const structure_facts& facts = task.A.facts().matrix;
  if (n == 0 || task.request.radii != nullptr || facts.bandwidth() > 1) return false;
  diagonals<double> A = diagonals_of<double>(task.cpu(), task.A.sparse(task.cpu()));
  if (task.dev.is_cuda()) A = A.to(task.dev);
  const view<const double> given(task.x.data(), task.x.size());
  const array<double> b = placed(task, task.b);
  array<double> x = placed(task, given), radius(task.dev, given.size());
  const batch_shape one = contiguous(n), shape = contiguous(n, task.columns);
  const auto bound_to = [&](double relative) {
    return bound_error(task.dev, {A.dl.data(), A.d.data(), A.du.data(), one}, {b.data(), shape},
                       {x.data(), shape}, {radius.data(), shape},
                       {task.request.within, relative, most_refinements});
  };
  tridiagonal_bound bound = bound_to(task.request.relative);
  double largest = 0;
  for (std::int64_t i = 0; i < given.size(); ++i) largest = std::max(largest, std::fabs(given[i]));
  if (bound.verified && task.request.relative == 0 && bound.max_absolute > acceptable * largest) {
    bound = bound_to(acceptable);
    bound.reached = bound.verified;
    bound.reason = detail::every_component_within(bound.max_absolute);
  }
  if (!bound.verified) return false;
  copy_bytes(task.x.data(), task.cpu(), x.data(), task.dev, bytes_of(x.size()));
  all.radius = radius.to(task.cpu());
  take_batch(all, bound, task.x);
  return true;
}

}  // namespace

solution_proof prove_solution(const proof_request& request, const operand& A, const device& dev,
                              std::int64_t columns, view<const double> b, view<double> x) {
  const stopwatch clock;
  const proof_task task{request, A, dev, columns, b, x};
  solution_proof all;
  all.rows = A.rows();
  const bool proved = A.form() == matrix_form::dense ? prove_dense(task, all) : prove_tridiagonal(task, all);
  if (!proved) prove_sparse(task, all);
  all.seconds = clock.seconds();
  return all;
}

}  // namespace vouch
