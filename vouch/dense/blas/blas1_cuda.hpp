// vouch/dense/blas/blas1_cuda.hpp -- BLAS level 1 on a GPU; private, called by blas1.cpp after its checks.
//
// Sums have the bits of the CPU: the same pieces and lanes, added in the same order.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/scalar.hpp>

namespace vouch::detail {

template <scalar TX, scalar TY>
void copy_cuda(const device& dev, view<const TX> x, view<TY> y);

template <scalar T>
void swap_cuda(const device& dev, view<T> x, view<T> y);

template <scalar T>
void scal_cuda(const device& dev, T alpha, view<T> x);

template <scalar TX, scalar TY>
void axpy_cuda(const device& dev, TY alpha, view<const TX> x, view<TY> y);

template <scalar T>
void rotm_cuda(const device& dev, view<T> x, view<T> y, const modified_rotation<T>& h);

template <scalar R, scalar TX, scalar TY>
R dot_cuda(const device& dev, view<const TX> x, view<const TY> y);

template <scalar T>
T magnitudes_cuda(const device& dev, view<const T> x);

/// The sum of the squares of scale x_i, scale a power of two.
template <scalar T>
T squares_cuda(const device& dev, view<const T> x, bound_of<T> scale);

/// The first index of the largest magnitude, or of the smallest mignitude; -1 where there is none.
template <scalar T>
std::int64_t best_index_cuda(const device& dev, view<const T> x, bool largest);

/// Element i, on the host.
template <scalar T>
T element_cuda(const device& dev, view<const T> x, std::int64_t i);

}  // namespace vouch::detail
