// vouch/solve/driver/general_systems.hpp -- what iterations promise where conjugate gradients do not apply; private.
#pragma once
#include <optional>

#include <vouch/solve/methods.hpp>

namespace vouch {

/// What an iteration costs besides its products, each with a preconditioner: operations a row.
struct iteration_cost {
  double products = 1;
  double vector_operations = 10;
};

/// Whether a factorisation that the options allow takes milliseconds, on the CPU.
bool is_factorised_at_once(const system_facts& facts, const solve_options& options);

/// Iterations until the residual is 1e-8 of the right-hand side, a guess: with ILU(0) on grids in two dimensions, fewer
/// where rows dominate.
double guess_products_with_ilu0(const structure_facts& A);

/// For `auto`: with ILU(0), then ILUT, where the matrix is not symmetric positive definite by its looks, or the preconditioner asked
/// for is not symmetric. Nothing for systems so small that factorising them is done at once, and where sweeps that are
/// proved to converge serve an option.
std::optional<prediction> predict_with_ilu0(const system_facts& facts, const solve_options& options,
                                            const iteration_cost& cost);

}  // namespace vouch
