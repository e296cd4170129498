// vouch/band/gpu/check_cuda.hpp -- looking at tridiagonal systems on a GPU; private, defined only in CUDA
// builds.
#pragma once
#include <vector>

#include <vouch/band/band_rows.hpp>

namespace vouch::detail {

/// As band_residual(); everything but facts lives on dev. Waits.
template <real T>
void band_residual_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                        const batch_view<const T>& x, T* r, band_residual_facts* facts);

/// The facts of every matrix that is stored. Waits.
template <real T>
std::vector<matrix_facts> examine_cuda(const device& dev, const tridiagonal_view<const T>& A);

/// x += dx, x := 0 where dx is nullptr, for the systems with those[s] != 0, which is in host memory.
template <real T>
void add_correction_cuda(const device& dev, const batch_view<T>& x, const T* dx,
                         const std::vector<unsigned char>& those);

/// Rows of A and b scaled to size 1 by powers of two and rounded to single precision; contiguous systems (or
/// the offsets of b) in dl, d, du, f. dl is nullptr for b alone.
void round_rows_cuda(const device& dev, const tridiagonal_view<const double>& A,
                     const batch_view<const double>& b, const tridiagonal_view<float>& to, float* f);
/// to := from.
void widen_cuda(const device& dev, const batch_view<const float>& from, const batch_view<double>& to);

}  // namespace vouch::detail
