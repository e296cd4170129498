// vouch/solve/stationary/dense_engines.hpp -- sweeps over a dense matrix that run on a GPU by themselves; private.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/aligned_rows.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch {

/// The Jacobi iteration: one kernel from the first sweep to the last.
///
/// Memory  A must outlive the engine; n values a few times besides.
/// Result  As sweep_engine on the CPU, up to rounding: it ends with the iterate of the sweep that met the
///         target itself. The same bits on every run on one GPU.
/// Throws  value_error  more than 8 earlier iterates are to be mixed; no room for the matrix's rows
template <real T>
std::unique_ptr<inner_solver<T>> dense_jacobi_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                   const sweep_rule& rule, bool by_residual,
                                                   const acceleration& accelerate);

/// The same without Anderson acceleration for a matrix that fits the GPU's registers; else nullptr.
template <real T>
std::unique_ptr<inner_solver<T>> dense_jacobi_in_registers(const device& dev, const detail::aligned_rows<T>& A,
                                                           const sweep_rule& rule, bool by_residual);

/// The Jacobi iteration over a rounded copy of A (rounded_rows.hpp), by the same kernel; precision is not
/// single.
///
/// Memory  A is used now only; its number of bytes times 1/4 (bfloat16) or 1/8.
std::unique_ptr<inner_solver<float>> dense_jacobi_rounded_cuda(const device& dev,
                                                               const detail::aligned_rows<double>& A,
                                                               entry_precision precision,
                                                               const sweep_rule& rule,
                                                               const acceleration& accelerate);

/// Gauss-Seidel and SOR, in every order: what the sequential algorithm computes, up to rounding, the condition
/// of blocks of 128 (double: 64) rows on the diagonal counted in. The same bits on every run on one GPU.
///
/// Memory  A must outlive the engine; 1 KiB (double: 1 KiB) a row besides, for symmetric sweeps twice that;
///         where so many iterates are mixed, 4 + 2 depth vectors for each block of the kernel.
/// Throws  value_error  the GPU has fewer than 128 (double: 64) multiprocessors
template <real T>
std::unique_ptr<inner_solver<T>> dense_seidel_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                   const sweep_rule& rule, bool by_residual,
                                                   const acceleration& accelerate);

/// Jacobi with Chebyshev's acceleration, and asynchronous sweeps: a kernel that reads the matrix a warp a row.
///
/// Memory  A must outlive the engine; n values a few times besides.
/// Throws  value_error  Anderson acceleration is asked for
template <real T>
std::unique_ptr<inner_solver<T>> dense_plain_sweeps_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                         const sweep_rule& rule, bool by_residual,
                                                         const acceleration& accelerate);

/// A run reduces the residual by at most this; then the verified loop looks, and goes on from a fresh one.
template <real T>
inline constexpr double deepest_on_gpu = sizeof(T) == 4 ? 0x1p-21 : 0x1p-46;

/// When a run ends by the residual: at the rule's target, but not below what it can attain.
template <real T>
double residual_trigger(const stopping_rule& rule, bool by_residual) {
  constexpr double deepest = deepest_on_gpu<T> * deepest_on_gpu<T>;
  return by_residual && rule.target_squared < deepest ? deepest : rule.target_squared;
}

// Defined in CUDA builds only.

/// Of n rows by their diagonal entries and the sums of the magnitudes beside them; scale and least as in
/// sums * scale + least, which is above the exact sum.
///
/// Memory  All but the result lives on dev.
template <real T>
row_dominance dominance_of_rows(const device& dev, std::int64_t n, const T* diagonal, const double* sums,
                                double scale, double least);

/// max a[i] / |diagonal[i]|, rounded upwards; infinite where one of them is not finite.
template <real T>
double largest_quotient(const device& dev, std::int64_t n, const double* a, const T* diagonal);

/// By rows, padded entries each, which fill whole 16 bytes. Beside the diagonal entry (i, j) is about
/// scale[i] * values[i*padded + j]; there values are zero, and diagonal[i] is the entry in single precision.
/// Rows from n on are the identity's.
template <class S>
struct rounded_rows {
  array<S> values;
  array<float> scale, diagonal;
  std::int64_t n = 0;
  std::int64_t padded = 0;
};

/// Rounds A, entry by entry to nearest. S is __nv_bfloat16, with scales of 1, or __nv_fp8_e4m3, with powers of
/// two that bring the largest entry of a row near 448.
///
/// Result  A relative error of at most 2^-8, or of 2^-4 for entries down to 2^-15 times the largest of their
///         row, and an absolute one of 2^-19 times that for smaller ones. What overflows single precision is
///         infinite.
/// Cost    One read of A, of which 8-bit floats may need another from L2.
template <class S>
rounded_rows<S> round_rows(const device& dev, const detail::aligned_rows<double>& A);

}  // namespace vouch
