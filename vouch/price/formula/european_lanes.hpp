// vouch/price/formula/european_lanes.hpp -- European options by the formula, eight at once; private.
#pragma once
#include <array>

#include <vouch/core/simd.hpp>
#include <vouch/price/types.hpp>

namespace vouch::detail {

/// Collects calls and puts without a barrier and prices them together.
class european_lanes {
 public:
  european_lanes() = default;
  european_lanes(const european_lanes&) = delete;
  ~european_lanes() { price(); }
  /// Prices o into `to`, now or later; both outlive this.
  void add(const plain_option& o, valuation& to) {
    options_[count_] = &o;
    values_[count_] = &to;
    if (++count_ == width) price();
  }

 private:
  static constexpr int width = simd<double>::width;
  /// Result  As european_price, to a few units in the last place of spot and discounted strike.
  void price();

  int count_ = 0;
  std::array<const plain_option*, width> options_;
  std::array<valuation*, width> values_;
};

}  // namespace vouch::detail
