#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/dense/gemm_fast.hpp>
#include <vouch/dense/gemm_midpoint.cuh>
#include <vouch/dense/gemm_nearest.cuh>

namespace vouch::detail {
namespace {

std::int64_t padded_to(std::int64_t size, std::int64_t unit) { return ceil_div(size, unit) * unit; }

// One operand as the kernels want it: midpoints, and its parts of the radius.
template <class E, radius_role... Roles>
class split_operand {
 public:
  split_operand(const device& dev, const gemm_operand<E>& operand, std::int64_t depth, double ku)
      : padded_(padded_to(operand.size, std::max(byte_tile::m, byte_tile::n))),
        padded_depth_(padded_to(depth, split_tile::depth)),
        mids_(dev, padded_ / 128 * (padded_depth_ / nearest_tile::k) * nearest_tile::piece),
        unit_(array<double>::zeros(dev, parts * padded_)),
        bytes_(dev, parts * padded_ * padded_depth_) {
    const std::int64_t tiles = padded_ / split_tile::rows, depths = padded_depth_ / split_tile::depth;
    array<double> units(dev, depths * parts * padded_);
    const launch_shape shape{tiles * depths, split_tile::threads};
    launch(dev, "split_tiles", shape, split_tiles<E, Roles...>, operand, tiles, depth, ku, mids(), bytes(),
           unit_.data(), units.data(), bytes_.data());
    launch(dev, "widen_units", shape, widen_units<parts>, bytes(), tiles, units.data(), bytes_.data());
  }

  midpoints mids() { return {mids_.data(), padded_depth_ / nearest_tile::k}; }
  byte_operand bytes() const { return {bytes_.data(), unit_.data(), padded_, padded_depth_}; }

 private:
  static constexpr int parts = sizeof...(Roles);

  std::int64_t padded_, padded_depth_;
  array<double> mids_;
  array<double> unit_;
  array<std::uint8_t> bytes_;
};

template <class TA, class TB>
struct split_roles;  // left and right operand: the parts whose products are the radius

template <real T>
struct split_roles<interval<T>, interval<T>> {
  using left = split_operand<interval<T>, radius_role::magnitude, radius_role::radius>;
  using right = split_operand<interval<T>, radius_role::widened_radius, radius_role::magnitude_and_radius>;
};
template <real T>
struct split_roles<interval<T>, T> {
  using left = split_operand<interval<T>, radius_role::widened_radius>;
  using right = split_operand<T, radius_role::magnitude>;
};
template <real T, class TB>
struct split_roles<T, TB> {
  using left = split_operand<T, radius_role::magnitude>;
  using right = split_operand<TB, radius_role::widened_radius>;
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
  typename split_roles<TA, TB>::left X(dev, left, depth, ku);
  typename split_roles<TA, TB>::right Y(dev, right, depth, ku);
  constexpr int parts = interval_a && interval_b ? 2 : 1;
  radius_sums sums{nullptr, X.bytes().padded / radius_sums::rows, Y.bytes().padded / radius_sums::half_columns};
  array<float> radius(dev, parts * sums.tiles_m * sums.halves_n * radius_sums::half_values);
  sums.data = radius.data();
  const std::int64_t byte_tiles =
      ceil_div<std::int64_t>(C.rows, byte_tile::m) * ceil_div<std::int64_t>(C.cols, byte_tile::n);
  launch(dev, "gemm_radius", {parts * byte_tiles, byte_tile::threads, byte_stages_size<std::uint8_t>},
         gemm_radius, X.bytes(), Y.bytes(), parts, C.rows, C.cols, sums);
  const byte_products bound{sums, parts, X.bytes(), Y.bytes(), static_cast<double>(depth) * smallest};
  const std::int64_t tiles =
      ceil_div<std::int64_t>(C.rows, nearest_tile::m) * ceil_div<std::int64_t>(C.cols, nearest_tile::n);
  // Pieces of at least 16 steps, and no more of them than are read back in little time.
  const std::int64_t processors = dev.processors(), last = tiles % processors;
  const std::int64_t steps = ceil_div<std::int64_t>(depth, nearest_tile::k);
  const std::int64_t pieces =
      last == 0 ? 1 : std::max<std::int64_t>(1, std::min({processors / last, steps / 16, std::int64_t{16}}));
  array<double> cut_sums(dev, pieces > 1 ? last * pieces * nearest_cut::piece : 0);
  auto finished = array<unsigned>::zeros(dev, last);
  launch(dev, "gemm_nearest",
         {tiles + last * (pieces - 1), nearest_tile::threads, sizeof(nearest_stage) * nearest_tile::stages},
         gemm_nearest<TA, TB, T>, X.mids(), Y.mids(), left, right, depth, bound,
         nearest_cut{tiles - last, static_cast<int>(pieces), cut_sums.data(), finished.data()},
         gemm_result<T>{C.data, 1, C.ld, alpha, beta});
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
