// vouch/dense/gemm_cpu.hpp -- the modes of gemm besides the tight one, on the CPU; private.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/dense/block_product.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// C := alpha left right + beta C for general factors; what gemm says of gemm_mode::fast.
template <scalar TA, scalar TB, real T>
void gemm_fast_cpu(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                   interval<T> beta, matrix_view<interval<T>> C);

/// The same for gemm_mode::exact.
template <scalar TA, scalar TB, real T>
void gemm_exact_cpu(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                    interval<T> beta, matrix_view<interval<T>> C);

/// 2^e, of the exponents beyond those of normal numbers the nearest.
inline double power_of_two(int e) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(std::clamp(e, -1022, 1023) + 1023) << 52);
}

/// The smallest interval of T around x.
template <real T>
interval<T> narrowed(interval<double> x);

}  // namespace vouch::detail
