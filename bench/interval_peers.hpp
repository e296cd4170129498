// bench/interval_peers.hpp -- the same routines by Boost.Interval, OpenBLAS and cuBLAS, in the same run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>

namespace vouch::bench {

/// y := a x + y, x^T y, y := A x + y and C := A B + C, for vectors of n elements and matrices of order n.
enum class blas_routine { axpy, dot, gemv, gemm };

/// 2 for a product that is added.
double operations(blas_routine routine, std::int64_t n);

/// How Boost.Interval guards its rounding mode: around every operation (its default), or once around the whole
/// call (save_state_nothing), its fastest sound policy; the latter also with OpenMP over rows or elements.
enum class boost_policy { standard, fastest };

/// Seconds of a call, the best of some; nothing where this build has no Boost.
template <real T>
std::optional<double> boost_seconds(boost_policy policy, blas_routine routine, std::int64_t n, int threads);

/// Seconds of the plain routine by OpenBLAS, found at run time; nothing where there is none.
template <real T>
std::optional<double> openblas_seconds(blas_routine routine, std::int64_t n, int threads);

/// Seconds of the plain routine by cuBLAS, from the module vouch_peers_cuda.
///
/// Result  Nothing where the module is missing or fails; `why` then says so in one line.
template <real T>
std::optional<double> cublas_seconds(const device& gpu, blas_routine routine, std::int64_t n, std::string& why);

/// Seconds of the transpose of a matrix of order n, out of place, by cuBLAS's geam; likewise.
template <real T>
std::optional<double> cublas_transpose_seconds(const device& gpu, std::int64_t n, std::string& why);

}  // namespace vouch::bench
