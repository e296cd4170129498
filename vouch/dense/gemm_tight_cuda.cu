#include <vouch/core/launch.cuh>
#include <vouch/dense/gemm_tight.cuh>
#include <vouch/dense/gemm_tight.hpp>

namespace vouch::detail {

namespace {

template <class EA, class EB, real T>
void launch_tight(const device& dev, const gemm_operand<EA>& left, const gemm_operand<EB>& right,
                  std::int64_t depth, const gemm_result<T>& result) {
  const std::int64_t blocks =
      ceil_div<std::int64_t>(left.size, gemm_tile::m) * ceil_div<std::int64_t>(right.size, gemm_tile::n);
  constexpr std::size_t bytes = sizeof(gemm_stage<EA, EB>) * gemm_stages<EA, EB>;
  launch(dev, "gemm_tight", {blocks, gemm_tile::threads, bytes}, gemm_tight<EA, EB, T>, left, right, depth,
         result);
}

}  // namespace

template <class TA, class TB, real T>
void gemm_tight_cuda(const device& dev, transpose trans_a, transpose trans_b, T alpha, matrix_view<const TA> A,
                     matrix_view<const TB> B, T beta, matrix_view<interval<T>> C) {
  const bool plain_a = trans_a == transpose::no, plain_b = trans_b == transpose::no;
  const gemm_operand<TA> left{A.data, C.rows, plain_a ? 1 : A.ld, plain_a ? A.ld : 1};
  const gemm_operand<TB> right{B.data, C.cols, plain_b ? B.ld : 1, plain_b ? 1 : B.ld};
  const std::int64_t depth = plain_a ? A.cols : A.rows;
  // An interval factor stands on the right, if need be in the transposed product.
  if constexpr (gemm_element<TA>::interval && !gemm_element<TB>::interval)
    launch_tight(dev, right, left, depth, gemm_result<T>{C.data, C.ld, 1, alpha, beta});
  else
    launch_tight(dev, left, right, depth, gemm_result<T>{C.data, 1, C.ld, alpha, beta});
}

#define VOUCH_INSTANTIATE(TA, TB, T)                                                           \
  template void gemm_tight_cuda(const device&, transpose, transpose, T, matrix_view<const TA>, \
                                matrix_view<const TB>, T, matrix_view<interval<T>>);
#define VOUCH_INSTANTIATE_ALL(T)       \
  VOUCH_INSTANTIATE(T, T, T)           \
  VOUCH_INSTANTIATE(T, interval<T>, T) \
  VOUCH_INSTANTIATE(interval<T>, T, T) \
  VOUCH_INSTANTIATE(interval<T>, interval<T>, T)
VOUCH_INSTANTIATE_ALL(float)
VOUCH_INSTANTIATE_ALL(double)

}  // namespace vouch::detail
