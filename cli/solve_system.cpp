#include "solve_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vouch/core/error.hpp>
#include <vouch/dense/cusolver.hpp>
#include <vouch/dense/lapack.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/structure.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/spd_check.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/transpose.hpp>

#include "solve_column.hpp"

namespace vouch::cli {
namespace {

array<double> filled(const device& cpu, std::int64_t size, double value) {
  array<double> v(cpu, size);
  std::fill(v.begin(), v.end(), value);
  return v;
}

// A*ones. The residual of b = 0 at x = -1 is just that, every row summed in double-double and rounded once.
array<double> row_sums(const device& cpu, const linear_system& system) {
  const array<double> zeros = array<double>::zeros(cpu, system.rows());
  const array<double> minus_ones = filled(cpu, system.rows(), -1);
  array<double> sums(cpu, system.rows());
  if (system.dense)
    residual<double>(cpu, transpose::no, system.entries(), zeros, minus_ones, nullptr, sums);
  else
    residual<double>(cpu, system.A, zeros, minus_ones, nullptr, sums);
  return sums;
}

vectors read_vectors_of_length(const device& cpu, const std::string& path, const linear_system& system) {
  vectors v = read_vectors(cpu, path);
  if (v.rows == system.rows()) return v;
  const bool lying = v.rows == 1 && v.cols == system.rows();
  throw shape_error(
      fmt::format("{}: {} {}, but {} has {} rows", path, v.rows, v.rows == 1 ? "row" : "rows", system.file,
                  system.rows()),
      lying ? fmt::format("its one row holds {} numbers; put each on a line of its own", v.cols) : "");
}

// One start serves all columns.
void take_start(const device& cpu, const std::string& from, linear_system& system) {
  const std::int64_t n = system.rows();
  if (from == "zeros" || from == "ones") {
    system.start = filled(cpu, n * system.columns, from == "ones" ? 1 : 0);
    return;
  }
  vectors given = read_vectors_of_length(cpu, from, system);
  if (given.cols != system.columns && given.cols != 1)
    throw shape_error(
        fmt::format("{}: {} columns, but the right-hand side has {}", from, given.cols, system.columns));
  if (given.cols == system.columns) {
    system.start = std::move(given.values);
    return;
  }
  system.start = array<double>(cpu, n * system.columns);
  for (std::int64_t j = 0; j < system.columns; ++j)
    std::copy(given.values.begin(), given.values.end(), system.start.begin() + j * n);
}

// A sparse matrix with its zeros, by columns.
vectors densify(const device& cpu, csr_view<const double> A) {
  vectors dense;
  dense.rows = A.rows;
  dense.cols = A.cols;
  dense.values = array<double>::zeros(cpu, A.rows * A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      dense.values[i + A.col[k] * A.rows] = A.val[k];
  return dense;
}

// Sweeps take dense matrices as such; conjugate gradients, the sparse factorisation and methods for tridiagonal
// systems make them sparse, the dense factorisations sparse ones dense.
void read_into(const device& cpu, const solve_request& request, linear_system& system) {
  if (request.method == "cg" || request.method == "sparse-lu" || is_band_method(request.method)) {
    system.A = read_sparse(cpu, request.matrix);
    return;
  }
  std::variant<csr<double>, vectors> read = read_matrix(cpu, request.matrix);
  if (auto* dense = std::get_if<vectors>(&read))
    system.dense = std::move(*dense);
  else if (request.is_dense_direct())
    system.dense = densify(cpu, std::get<csr<double>>(read).all());
  else
    system.A = std::move(std::get<csr<double>>(read));
}

// The smallest ratio of a diagonal entry to the rest of its row from which on sweeps are few: each leaves at
// most its inverse of the error.
constexpr double dominant_enough = 1.25;

// What auto means for a sparse matrix that is not fit for conjugate gradients: sweeps, or a factorisation.
void settle_sparse_method(solve_request& request, const linear_system& system, bool factorises) {
  if (not_spd_reason(system.facts).empty()) return;
  if (system.facts.dominant == dominance::strict && request.precondition == "none" &&
      (system.facts.dominance_ratio >= dominant_enough || !factorises)) {
    request.method = "gauss-seidel";
    request.method_why = "sparse, every row dominates";
  } else if (factorises) {
    request.method = "sparse-lu";
    request.method_why = system.facts.symmetric ? "sparse, not positive definite" : "sparse, not symmetric";
  }
}

// What auto means for a dense matrix: a factorisation; where iterations are asked for they come first, if a
// proof or the matrix's looks promise that they converge.
void settle_dense_method(const device& cpu, solve_request& request, linear_system& system, bool factorises) {
  const bool definite = not_spd_reason(system.facts).empty();
  const bool sweeps = system.facts.dominant == dominance::strict && request.precondition == "none" &&
                      !(definite && request.common.precision == "mixed");
  if (factorises && (!request.wants_iterations() || (!sweeps && !definite))) {
    request.method = definite ? "cholesky" : "lu";
    request.method_why = definite ? "dense, symmetric with a positive diagonal" : "dense";
  } else if (sweeps) {
    request.method = "gauss-seidel";
    request.method_why = "dense, every row dominates";
  } else {
    system.A = sparsify(cpu, system.entries());
    system.dense.reset();
    system.facts = structure<double>(cpu, system.A);
  }
}

// Sweeps and conjugate gradients work in mixed precision, factorisations do not: matrices that are fit for
// factorisations alone are solved in double.
void settle_precision(solve_request& request, const linear_system& system) {
  if (request.common.precision != "mixed" || request.needs_iterations()) return;
  if (not_spd_reason(system.facts).empty() || system.facts.dominant == dominance::strict) return;
  request.common.precision = "double";
  request.precision_why = "mixed: this matrix is fit for factorisations alone, which are made in double";
}

void settle_method(const device& cpu, solve_request& request, linear_system& system) {
  if (request.method != "auto" || !system.facts.square) return;
  const bool on_gpu = parse_device(request.common.device).cuda;
  const bool has_factors = !system.dense ? !on_gpu : on_gpu ? cusolver::present() : lapack::present();
  if (has_factors) settle_precision(request, system);
  const bool factorises = has_factors && !request.needs_iterations() && request.common.precision != "mixed";
  if (!system.dense)
    settle_sparse_method(request, system, factorises);
  else
    settle_dense_method(cpu, request, system, factorises);
}

void check_matrix(const solve_request& request, const linear_system& system) {
  if (!system.facts.square)
    throw shape_error(fmt::format("{}: the matrix is {} by {}, not square", request.matrix, system.facts.rows,
                                  system.facts.cols));
  if (request.is_stationary() || request.is_direct()) {
    if (request.method == "cholesky")
      if (const std::string refusal = not_spd_reason(system.facts); !refusal.empty())
        throw value_error(fmt::format("{}: {}", request.matrix, refusal), "--method lu takes any matrix");
    return;
  }
  const std::string refusal = not_spd_reason(system.facts);
  if (!refusal.empty())
    throw value_error(
        fmt::format("{}: {}", request.matrix, refusal),
        "conjugate gradients need a symmetric positive definite matrix; --method sparse-lu takes any"
        " (on the CPU, not mixed)");
}

bool is_file(const std::string& rhs_or_start) {
  return rhs_or_start != "ones" && rhs_or_start != "row-sums" && rhs_or_start != "zeros";
}

}  // namespace

csr<double> sparsify(const device& cpu, matrix_view<const double> dense) {
  if (std::max(dense.rows, dense.cols) > std::numeric_limits<std::int32_t>::max())
    throw value_error(fmt::format("{} by {} elements exceed 32-bit indices", dense.rows, dense.cols));
  csr<double> columns{
      dense.cols, dense.rows, array<std::int64_t>(cpu, dense.cols + 1), {}, {}};  // the transpose
  columns.row_ptr[0] = 0;
  for (std::int64_t j = 0; j < dense.cols; ++j) {
    const double* first = dense.data + j * dense.ld;
    columns.row_ptr[j + 1] = columns.row_ptr[j] + dense.rows - std::count(first, first + dense.rows, 0.0);
  }
  columns.col = array<std::int32_t>(cpu, columns.row_ptr[dense.cols]);
  columns.val = array<double>(cpu, columns.row_ptr[dense.cols]);
  std::int64_t next = 0;
  for (std::int64_t j = 0; j < dense.cols; ++j)
    for (std::int64_t i = 0; i < dense.rows; ++i)
      if (dense(i, j) != 0) {
        columns.col[next] = static_cast<std::int32_t>(i);
        columns.val[next++] = dense(i, j);
      }
  return transpose<double>(cpu, columns);
}

csr<double> read_sparse(const device& cpu, const std::string& path,
                        std::optional<matrix_market_header>* header) {
  std::variant<csr<double>, vectors> read = read_matrix(cpu, path, header);
  if (auto* sparse = std::get_if<csr<double>>(&read)) return std::move(*sparse);
  const auto& dense = std::get<vectors>(read);
  return sparsify(cpu, {dense.values.data(), dense.rows, dense.cols, std::max<std::int64_t>(1, dense.rows)});
}

void take_rhs(const device& cpu, const std::string& from, linear_system& system) {
  system.rhs = from;
  if (from == "ones") {
    system.b = filled(cpu, system.rows(), 1);
  } else if (from == "row-sums") {
    system.b = row_sums(cpu, system);
  } else {
    vectors given = read_vectors_of_length(cpu, from, system);
    if (given.cols < 1) throw shape_error(fmt::format("{}: there is no column", from));
    system.columns = given.cols;
    system.b = std::move(given.values);
  }
}

linear_system read_system_matrix(const device& cpu, const solve_request& request) {
  linear_system system;
  system.file = request.matrix;
  timed(system.read_seconds, [&] { read_into(cpu, request, system); });
  timed(system.setup_seconds, [&] {
    system.facts = system.dense ? structure(cpu, system.entries()) : structure<double>(cpu, system.A);
  });
  return system;
}

void complete_system(const device& cpu, solve_request& request, linear_system& system) {
  timed(system.setup_seconds, [&] { settle_method(cpu, request, system); });
  check_matrix(request, system);
  timed(is_file(request.rhs) ? system.read_seconds : system.setup_seconds,
        [&] { take_rhs(cpu, request.rhs, system); });
  timed(is_file(request.initial) ? system.read_seconds : system.setup_seconds,
        [&] { take_start(cpu, request.initial, system); });
}

}  // namespace vouch::cli
