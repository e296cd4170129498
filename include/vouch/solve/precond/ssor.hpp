// vouch/solve/precond/ssor.hpp -- symmetric successive over-relaxation.
#pragma once
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// M = omega (2 - omega) (D + omega L^T)^-1 D (D + omega L)^-1, with A = L + D + L^T in the order that name()
/// tells: on a GPU by colours as for make_ic0, on the CPU the matrix's own.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double.
/// Memory  A lives on dev, is symmetric (only one triangle is read) and is not needed afterwards.
/// Result  Symmetric positive definite. The same bits on every run; on the CPU for any number of threads.
/// Cost    As for make_ic0, without the factorisation.
/// Throws  shape_error  A is not square
///         value_error  omega outside of (0, 2); a diagonal entry that is not positive, an entry that is not
///                      finite (the text names the row)
/// Source  Axelsson, BIT 12 (1972).
template <real T>
std::unique_ptr<preconditioner<T>> make_ssor(const device& dev, csr_view<const T> A, double omega = 1);

}  // namespace vouch
