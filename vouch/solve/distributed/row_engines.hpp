// vouch/solve/distributed/row_engines.hpp -- the loops of methods over distributed rows, and their preconditioners;
// private.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/distributed/row_vectors.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/structure.hpp>

// A and what else is given outlives what is made. All functions are called by all ranks.
namespace vouch::distributed {

/// 1/a_ii of this rank's rows; of a rank without any, one element, so that its address says on every rank that it is there.
///
/// Throws  value_error  on every rank: an entry that is not positive or has no finite inverse; where `any_sign`, zero
///                      or without
array<double> inverse_diagonal(const row_matrix& A, const char* who, bool any_sign = false);

/// Conjugate gradients, M absent or diagonal (minv has A.rows() elements or is nullptr): one reduction an iteration.
std::unique_ptr<inner_solver<double>> row_cg(const row_matrix& A, const row_vectors& vectors,
                                             const double* minv);

/// The same with any M: two reductions.
std::unique_ptr<inner_solver<double>> row_cg_general(const row_matrix& A, const row_vectors& vectors,
                                                     const preconditioner<double>& M);

/// Jacobi's iteration; inverse is 1/diag(A).
std::unique_ptr<inner_solver<double>> row_jacobi(const row_matrix& A, const row_vectors& vectors,
                                                 const double* inverse);

/// M = diag(A)^-1.
std::unique_ptr<preconditioner<double>> make_row_jacobi(const row_matrix& A);

/// As make_chebyshev().
std::unique_ptr<preconditioner<double>> make_row_chebyshev(const row_matrix& A, const row_vectors& vectors,
                                                           std::int64_t degree = 4);

/// Whether A is symmetric, and of its diagonal what not_spd_reason() asks for; other facts are not looked at. The same
/// on every rank.
structure_facts symmetry_facts(const row_matrix& A);

/// Why A cannot be symmetric positive definite, as not_spd_reason() has it; "" where it can be. The same on every rank.
std::string not_spd_reason(const row_matrix& A);

/// For the report: "4 ranks, 2 threads each, csr".
std::string engine_name(const row_matrix& A, const device& cpu);

}  // namespace vouch::distributed
