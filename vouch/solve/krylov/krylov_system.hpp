// vouch/solve/krylov/krylov_system.hpp -- what Krylov methods share: checks of operands, and the system as the
// residual-checked solve takes it; private.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/plan_operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Throws shape_error where these lengths do not make a square system. who_needs begins the sentence: "GMRES needs".
void check_krylov_shapes(const char* who_needs, std::int64_t rows, std::int64_t cols, std::int64_t b,
                         std::int64_t x);

/// Throws value_error for a rule that Krylov methods do not watch, or more than one.
void check_krylov_stopping(const char* method, const stopping_criterion& goal);

/// What stands in for no preconditioner where products of A's vectors, multiplied by A so many times, would leave
/// the range of T, as its first entry says, or its largest where that is 0: a power of two times the identity, which
/// brings M A near 1 and changes no iterate. nullptr where there is no need.
template <real T>
std::unique_ptr<preconditioner<T>> power_for_size(const device& dev, csr_view<const T> A, int times = 1);

/// Throws shape_error where M is for systems of another size.
template <real T>
void check_preconditioner(const preconditioner<T>* M, std::int64_t rows);

/// Of the rows of a matrix in working precision: the largest moduli of their sums, and the largest sums of moduli.
struct plain_row_sums {
  double sum = 0, size = 0;
  /// Most matrices show by these that their rows do not sum to zero, by no rounding of either precision.
  bool are_far_from_zero() const { return sum > 1e-4 * size; }
};
/// Memory  A lives on the CPU.
template <real T>
plain_row_sums plain_row_sums_of(const device& cpu, csr_view<const T> A);

/// Of A times the vector of ones, by a pass in twice the precision: their norm and that of A.
template <real T>
residual_facts facts_of_row_sums(const device& dev, csr_view<const T> A);

/// A x = b with contiguous b; A and b outlive it.
template <real T>
checked_problem<T> stored_problem(const device& dev, csr_view<const T> A, view<const T> b);

/// The same for a matrix given by its action: its residual is formed in working precision, and the report is warned.
template <real T>
checked_problem<T> operator_problem(const device& dev, const linear_operator<T>& A, view<const T> b,
                                    solve_report& report);

/// A report with the names of the precision and the preconditioner.
template <real T>
solve_report new_krylov_report(const preconditioner<T>* M);

/// Whether an engine has complex scalars where A is the real form of complex numbers (vouch/solve/complex.hpp): it has
/// none; where M is linear for them, as one vector and i times it tell; whatever M is.
enum class complex_scalars { none, with_linear_preconditioners, always };

/// Whether M (i v) = i M v, as complex numbers by their parts have it, up to the rounding of hierarchies in single
/// precision: tried for one v of n > 0 elements, once where M keeps answers (tried_preconditioner.hpp).
template <real T>
bool is_complex_linear(const device& dev, const preconditioner<T>& M, std::int64_t n);

/// What the solve around an engine has to know of the method.
struct krylov_method {
  const char* name;             // in reports: "gmres"
  const char* title;            // in messages: "GMRES"
  double allowed_growth = 1e4;  // of the residual on its way
  int powers = 1;               // of A in an inner product of two of its vectors, on either side
  complex_scalars complex = complex_scalars::none;
};

template <real T>
using engine_maker = std::function<std::unique_ptr<inner_solver<T>>(const linear_operator<T>& A,
                                                                    const preconditioner<T>* M, bool complex)>;

/// Of a function of A, M and a scalar, double or a complex number, that makes the engine with such scalars.
template <real T, class Make>
engine_maker<T> by_scalars(const Make& make) {
  return [make](const linear_operator<T>& A, const preconditioner<T>* M,
                bool complex) -> std::unique_ptr<inner_solver<T>> {
    if (complex) return make(A, M, std::complex<double>{});
    return make(A, M, double{});
  };
}

/// Solves A x = b from the given x by the engine that `make` makes. Throws as the methods say.
template <real T>
solve_report solve_by_krylov(const krylov_method& method, const device& dev, csr_view<const T> A,
                             view<const T> b, view<T> x, const stopping_criterion& goal,
                             const preconditioner<T>* M, const engine_maker<T>& make);

/// The same for a matrix given by its action.
template <real T>
solve_report solve_by_krylov(const krylov_method& method, const device& dev, const linear_operator<T>& A,
                             view<const T> b, view<T> x, const stopping_criterion& goal,
                             const preconditioner<T>* M, const engine_maker<T>& make);

}  // namespace vouch
