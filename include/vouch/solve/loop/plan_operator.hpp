// vouch/solve/loop/plan_operator.hpp -- a plan of products as an operator that solvers apply.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace VOUCH_PUBLIC vouch {

/// A stored matrix as an operator; the plan outlives it.
template <real T>
class plan_operator final : public linear_operator<T> {
 public:
  explicit plan_operator(const spmv_plan<T>& plan) : plan_(plan) {}
  std::int64_t rows() const override { return plan_.rows(); }
  const spmv_plan<T>& plan() const { return plan_; }
  void apply(const device&, view<const T> x, view<T> y) const override { plan_.multiply(T{1}, x, T{0}, y); }

 private:
  const spmv_plan<T>& plan_;
};

}  // namespace vouch
