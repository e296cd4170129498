#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/dense/gemm_fast.hpp>
#include <vouch/dense/gemm_midpoint.cuh>

namespace vouch::detail {
namespace {

std::int64_t padded_to(std::int64_t size, std::int64_t unit) { return ceil_div(size, unit) * unit; }

// One operand as the kernels want it.
template <class E>
class split_operand {
 public:
  split_operand(const device& dev, const gemm_operand<E>& operand, std::int64_t depth)
      : dev_(dev),
        operand_(operand),
        depth_(depth),
        padded_(padded_to(operand.size, nearest_tile::m)),
        padded_depth_(padded_to(depth, byte_tile::k)),
        mids_(dev, padded_depth_ * padded_) {
    launch(dev_, "midpoints_of", {tiles() * (padded_depth_ / split_tile), split_threads}, midpoints_of<E>,
           operand_, tiles(), depth_, padded_, mids_.data());
  }

  template <radius_role Role>
  void add_part(double ku) {
    auto largest = array<unsigned long long>::zeros(dev_, operand_.size);
    launch(dev_, "largest_of_rows",
           {ceil_div<std::int64_t>(operand_.size, split_tile) * ceil_div(depth_, largest_depth), split_threads},
           largest_of_rows<E, Role>, operand_, ceil_div<std::int64_t>(operand_.size, split_tile), depth_, ku,
           largest.data());
    const std::size_t p = static_cast<std::size_t>(parts_++);
    unit_[p] = array<double>(dev_, padded_);
    bytes_[p] = array<std::uint8_t>(dev_, padded_ * padded_depth_);
    launch(dev_, "units_of_rows", {ceil_div<std::int64_t>(padded_, 256), 256}, units_of_rows, operand_.size,
           padded_, largest.data(), unit_[p].data());
    launch(dev_, "bytes_of", {tiles() * (padded_depth_ / split_tile), split_threads}, bytes_of<E, Role>,
           operand_, tiles(), depth_, ku, unit_[p].data(), padded_depth_, bytes_[p].data());
  }

  midpoints mids() const { return {mids_.data(), padded_}; }
  byte_operand parts() const {
    return {{bytes_[0].data(), bytes_[1].data()}, {unit_[0].data(), unit_[1].data()}};
  }
  std::int64_t padded_depth() const { return padded_depth_; }

 private:
  std::int64_t tiles() const { return padded_ / split_tile; }

  device dev_;
  gemm_operand<E> operand_;
  std::int64_t depth_, padded_, padded_depth_;
  array<double> mids_;
  array<std::uint8_t> bytes_[2];
  array<double> unit_[2];
  int parts_ = 0;
};

}  // namespace

template <class TA, class TB, real T>
void gemm_fast_cuda(const device& dev, transpose trans_a, transpose trans_b, T alpha, matrix_view<const TA> A,
                    matrix_view<const TB> B, T beta, matrix_view<interval<T>> C) {
  constexpr bool interval_a = gemm_element<TA>::interval, interval_b = gemm_element<TB>::interval;
  const bool plain_a = trans_a == transpose::no, plain_b = trans_b == transpose::no;
  const gemm_operand<TA> left{A.data, C.rows, plain_a ? 1 : A.ld, plain_a ? A.ld : 1};
  const gemm_operand<TB> right{B.data, C.cols, plain_b ? B.ld : 1, plain_b ? 1 : B.ld};
  const std::int64_t depth = plain_a ? A.cols : A.rows;
  if (C.rows == 0 || C.cols == 0) return;

  constexpr double unit_roundoff = 0x1p-53, smallest = 0x1p-1074;
  const double ku = static_cast<double>(depth) * unit_roundoff;  // exact
  split_operand<TA> X(dev, left, depth);
  split_operand<TB> Y(dev, right, depth);
  if constexpr (interval_a && !interval_b) {
    X.template add_part<radius_role::widened_radius>(ku);
    Y.template add_part<radius_role::magnitude>(ku);
  } else {
    X.template add_part<radius_role::magnitude>(ku);
    Y.template add_part<radius_role::widened_radius>(ku);
  }
  if constexpr (interval_a && interval_b) {
    X.template add_part<radius_role::radius>(ku);
    Y.template add_part<radius_role::magnitude_and_radius>(ku);
  }
  array<double> radius(dev, C.rows * C.cols);
  const std::int64_t tiles =
      ceil_div<std::int64_t>(C.rows, nearest_tile::m) * ceil_div<std::int64_t>(C.cols, nearest_tile::n);
  launch(dev, "gemm_radius", {tiles, byte_tile::threads, sizeof(byte_stage) * byte_tile::stages}, gemm_radius,
         X.parts(), Y.parts(), interval_a && interval_b ? 2 : 1, C.rows, C.cols, X.padded_depth(),
         static_cast<double>(depth) * smallest, radius.data());
  launch(dev, "gemm_nearest", {tiles, nearest_tile::threads, sizeof(nearest_stage) * nearest_tile::stages},
         gemm_nearest<TA, TB, T>, X.mids(), Y.mids(), left, right, depth, radius.data(),
         gemm_result<T>{C.data, C.ld, alpha, beta});
}

#define VOUCH_INSTANTIATE(TA, TB, T)                                                          \
  template void gemm_fast_cuda(const device&, transpose, transpose, T, matrix_view<const TA>, \
                               matrix_view<const TB>, T, matrix_view<interval<T>>);
#define VOUCH_INSTANTIATE_ALL(T)       \
  VOUCH_INSTANTIATE(T, T, T)           \
  VOUCH_INSTANTIATE(T, interval<T>, T) \
  VOUCH_INSTANTIATE(interval<T>, T, T) \
  VOUCH_INSTANTIATE(interval<T>, interval<T>, T)
VOUCH_INSTANTIATE_ALL(float)
VOUCH_INSTANTIATE_ALL(double)

}  // namespace vouch::detail
