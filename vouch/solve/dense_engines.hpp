// vouch/solve/dense_engines.hpp -- sweeps over a dense matrix that run on a GPU by themselves; private.
#pragma once
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/dense/aligned_rows.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch {

/// The Jacobi iteration: one kernel from the first sweep to the last.
///
/// Memory  A must outlive the engine; n values a few times besides.
/// Result  As sweep_engine on the CPU, up to rounding: it ends with the iterate of the sweep that met the
///         target itself. The same bits on every run on one GPU.
/// Throws  value_error  more than 8 earlier iterates are to be mixed; no room for the matrix's rows
template <real T>
std::unique_ptr<cg_engine<T>> dense_jacobi_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                const sweep_rule& rule, bool by_residual,
                                                const acceleration& accelerate);

/// The same without mixing for a matrix that fits the GPU's registers; else nullptr.
template <real T>
std::unique_ptr<cg_engine<T>> dense_jacobi_in_registers(const device& dev, const detail::aligned_rows<T>& A,
                                                        const sweep_rule& rule, bool by_residual);

/// The Jacobi iteration over a rounded copy of A (rounded_rows.hpp), by the same kernel; precision is not
/// single.
///
/// Memory  A is used now only; its number of bytes times 1/4 (bfloat16) or 1/8.
std::unique_ptr<cg_engine<float>> dense_jacobi_rounded_cuda(const device& dev,
                                                            const detail::aligned_rows<double>& A,
                                                            entry_precision precision, const sweep_rule& rule,
                                                            const acceleration& accelerate);

/// Gauss-Seidel and SOR, in every order: what the sequential algorithm computes, up to rounding, the condition
/// of blocks of 128 (double: 64) rows on the diagonal counted in. The same bits on every run on one GPU.
///
/// Memory  A must outlive the engine; 1 KiB (double: 1 KiB) a row besides, for symmetric sweeps twice that;
///         where so many iterates are mixed, 4 + 2 depth vectors for each block of the kernel.
/// Throws  value_error  the GPU has fewer than 128 (double: 64) multiprocessors
template <real T>
std::unique_ptr<cg_engine<T>> dense_seidel_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                const sweep_rule& rule, bool by_residual,
                                                const acceleration& accelerate);

/// Jacobi with Chebyshev's acceleration, and asynchronous sweeps: a kernel that reads the matrix a warp a row.
///
/// Memory  A must outlive the engine; n values a few times besides.
/// Throws  value_error  mixing is asked for
template <real T>
std::unique_ptr<cg_engine<T>> dense_plain_sweeps_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                      const sweep_rule& rule, bool by_residual,
                                                      const acceleration& accelerate);

/// A run reduces the residual by at most this; then the verified loop looks, and goes on from a fresh one.
template <real T>
inline constexpr double deepest_on_gpu = sizeof(T) == 4 ? 0x1p-21 : 0x1p-46;

/// When a run ends by the residual: at the rule's target, but not below what it can attain.
template <real T>
double residual_trigger(const cg_rule& rule, bool by_residual) {
  constexpr double deepest = deepest_on_gpu<T> * deepest_on_gpu<T>;
  return by_residual && rule.target_squared < deepest ? deepest : rule.target_squared;
}

}  // namespace vouch
