#include <vouch/solve/complex.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/solve/driver/moduli.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using complex = std::complex<double>;

void require_columns(std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
  if (rows > most || cols > most)
    throw value_error("a complex matrix has at most " + std::to_string(most) + " rows and columns, not " +
                      std::to_string(std::max(rows, cols)));
}

// Values of one row of the real form.
std::int64_t count_parts(csr_view<const complex> A, std::int64_t i) {
  std::int64_t count = 0;
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    count += (A.val[k].real() != 0) + (A.val[k].imag() != 0);
  return count;
}

}  // namespace

csr<double> real_form(const device& cpu, csr_view<const complex> A) {
  const ieee_environment here;
  const valid_csr valid("real_form", cpu, A);
  require_columns(A.rows, A.cols);
  csr<double> B{2 * A.rows, 2 * A.cols, array<std::int64_t>(cpu, 2 * A.rows + 1), {}, {}};
  B.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::int64_t parts = count_parts(A, i);
    B.row_ptr[2 * i + 1] = B.row_ptr[2 * i] + parts;
    B.row_ptr[2 * i + 2] = B.row_ptr[2 * i + 1] + parts;
  }
  B.col = array<std::int32_t>(cpu, B.row_ptr[B.rows]);
  B.val = array<double>(cpu, B.row_ptr[B.rows]);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    std::int64_t upper = B.row_ptr[2 * i], lower = B.row_ptr[2 * i + 1];
    const auto put = [&](std::int64_t& at, std::int64_t column, double value) {
      if (value == 0) return;
      B.col[at] = static_cast<std::int32_t>(column);
      B.val[at++] = value;
    };
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = 2 * std::int64_t{A.col[k]};
      put(upper, j, A.val[k].real());
      put(upper, j + 1, -A.val[k].imag());
      put(lower, j, A.val[k].imag());
      put(lower, j + 1, A.val[k].real());
    }
  }
  return B;
}

matrix<double> real_form(const device& cpu, matrix_view<const complex> A) {
  require_columns(A.rows, A.cols);
  matrix<double> B(cpu, 2 * A.rows, 2 * A.cols);
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      const complex value = A(i, j);
      B(2 * i, 2 * j) = B(2 * i + 1, 2 * j + 1) = value.real();
      B(2 * i + 1, 2 * j) = value.imag();
      B(2 * i, 2 * j + 1) = -value.imag();
    }
  return B;
}

namespace {

// The entry at (i, j), or 0.
complex entry(csr_view<const complex> A, std::int64_t i, std::int64_t j) {
  const std::int32_t* const end = A.col + A.row_ptr[i + 1];
  const std::int32_t* const at = std::lower_bound(A.col + A.row_ptr[i], end, static_cast<std::int32_t>(j));
  return at == end || *at != j ? complex{} : A.val[at - A.col];
}

std::string diagonal_text(csr_view<const complex> A) {
  bool positive = true, real = true;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const complex d = entry(A, i, i);
    if (d == complex{}) return "zero or not stored, first in row " + std::to_string(i + 1);
    real = real && d.imag() == 0;
    positive = positive && d.real() > 0;
  }
  if (A.rows == 0) return "none";
  return !real ? "complex" : positive ? "real, positive" : "real";
}

}  // namespace

complex_symmetry symmetry_of(const device& cpu, csr_view<const complex> A) {
  const ieee_environment here;
  const valid_csr valid("symmetry_of", cpu, A);
  if (A.rows != A.cols) return {false, false, "none"};
  complex_symmetry of{true, true, diagonal_text(A)};
  for (std::int64_t i = 0; i < A.rows && (of.hermitian || of.symmetric); ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const complex mirrored = entry(A, A.col[k], i);
      of.hermitian = of.hermitian && mirrored == std::conj(A.val[k]);
      of.symmetric = of.symmetric && mirrored == A.val[k];
    }
  return of;
}

csr<double> moduli(const device& cpu, csr_view<const complex> A) {
  const ieee_environment here;
  const valid_csr valid("moduli", cpu, A);
  csr<double> B{A.rows, A.cols, array<std::int64_t>(cpu, A.rows + 1), array<std::int32_t>(cpu, A.nonzeros),
                array<double>(cpu, A.nonzeros)};
  std::copy_n(A.row_ptr, A.rows + 1, B.row_ptr.data());
  std::copy_n(A.col, A.nonzeros, B.col.data());
  for (std::int64_t k = 0; k < A.nonzeros; ++k) B.val[k] = std::hypot(A.val[k].real(), A.val[k].imag());
  return B;
}

matrix_view<const double> real_form(matrix_view<const complex> X) {
  return {reinterpret_cast<const double*>(X.data), 2 * X.rows, X.cols, 2 * X.ld};
}

matrix_view<double> real_form(matrix_view<complex> X) {
  return {reinterpret_cast<double*>(X.data), 2 * X.rows, X.cols, 2 * X.ld};
}

complex_solver::complex_solver(const device& cpu, csr_view<const complex> A, const solve_options& options)
    : sparse_(real_form(cpu, A)), solver_(cpu, sparse_, options) {}

complex_solver::complex_solver(const device& cpu, matrix_view<const complex> A, const solve_options& options)
    : dense_(real_form(cpu, A)), solver_(cpu, dense_.read(), options) {}

solve_result complex_solver::solve(matrix_view<const complex> B, matrix_view<complex> X) {
  solve_result result = solver_.solve(real_form(B), real_form(X));
  take_numbers(result);
  return result;
}

solve_result complex_solver::solve(view<const complex> b, view<complex> x) {
  const view<const double> parts_of_b(reinterpret_cast<const double*>(b.data()), 2 * b.size());
  solve_result result = solver_.solve(parts_of_b, {reinterpret_cast<double*>(x.data()), 2 * x.size()});
  take_numbers(result);
  return result;
}

solution_proof complex_solver::prove(matrix_view<const complex> B, matrix_view<complex> X,
                                     const proof_request& request) {
  const matrix_view<double> parts = real_form(X);
  solution_proof proof = solver_.prove(real_form(B), parts, request);
  take_moduli(proof, {parts.data, proof.radius.size()}, request.relative);
  return proof;
}

void take_moduli(solution_proof& proof, view<const double> parts, double relative) {
  if (!proof.verified) return;
  solution_proof of_numbers = about_given(parts, parts, proof, relative, 2);
  of_numbers.radius = std::move(proof.radius);
  proof = std::move(of_numbers);
}

array<double> moduli_above(view<const double> parts) {
  const ieee_environment here;
  array<double> moduli(device::cpu(1), parts.size() / 2);
  for (std::int64_t k = 0; k < moduli.size(); ++k) moduli[k] = modulus_above(parts[2 * k], parts[2 * k + 1]);
  return moduli;
}

namespace {

void take_numbers(solve_report& report) {
  if (report.convergence && report.convergence->weakest_row >= 0) report.convergence->weakest_row /= 2;
  for (const char* counted : {"row ", "pivot "})
    if (report.reason.find(counted) != std::string::npos) {
      report.reason += " (counted in the real form, which has two rows for each)";
      break;
    }
  if (report.error_bound) report.error_bound = modulus_above(*report.error_bound, *report.error_bound);
  if (report.rank && *report.rank % 2 != 0) report.rank.reset();
  if (report.rank) *report.rank /= 2;
  if (!report.signs) return;
  const auto [positive, negative, zero] = *report.signs;
  report.signs.reset();
  if (((positive | negative | zero) & 1) == 0) report.signs = inertia{positive / 2, negative / 2, zero / 2};
}

}  // namespace

void take_numbers(solve_result& result) {
  const ieee_environment here;
  take_numbers(static_cast<solve_report&>(result));
  for (solve_report& column : result.columns) take_numbers(column);
}

solve_result solve(const device& cpu, csr_view<const complex> A, view<const complex> b, view<complex> x,
                   const solve_options& options) {
  return complex_solver(cpu, A, options).solve(b, x);
}

}  // namespace vouch
