// vouch/solve/device_sweeps_engine.cuh -- plans and runs the kernel of device_sweeps.cuh; private.
#pragma once
#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/solve/dense_engine_cuda.cuh>
#include <vouch/solve/device_sweeps.cuh>

namespace vouch::device_sweeps {

/// How an engine sweeps.
struct manner {
  sweep_rule rule;
  bool by_residual = true;
  acceleration accelerate;
};

/// Storage keeps the rows on the GPU: arguments(), their number n and padded (d has so many elements), place
/// (empty: the matrix's order), bytes of a pass, blocks that it wants, name().
template <real T, class Storage>
class engine final : public cg_engine<T> {
 public:
  engine(const device& dev, Storage rows, array<T> factor, const manner& how)
      : dev_(dev),
        by_residual_(how.by_residual),
        rows_(std::move(rows)),
        factor_(std::move(factor)),
        racing_(how.rule.asynchronous),
        learnt_(how.rule.learnt),
        steps_(1) {
    const bool chebyshev = how.accelerate.chebyshev;
    const bool simultaneous = how.rule.simultaneous;
    const bool symmetric = !simultaneous && how.rule.order == sweep_order::symmetric;
    const int depth = how.accelerate.anderson;
    in_.vectors = !simultaneous && (symmetric || chebyshev || depth > 0);
    own_r_ = array<T>(dev, rows_.n);
    d_ = array<T>::zeros(dev, rows_.padded);
    if (simultaneous || in_.vectors) other_ = array<T>::zeros(dev, rows_.padded);
    if (chebyshev) step_ = array<T>(dev, rows_.n);
    if (depth > 0) keep_for_mixing(depth);
    steps_[0].prepare<T>(chebyshev, how.rule.lowest_eigenvalue);
    chebyshev_ = array<chebyshev_steps>::from(dev, steps_);
    in_.numbers = sweep_facts::count + 2 * depth;
    sums_ = array<double>(dev, 2 * in_.numbers * rows_.blocks);
    counter_ = array<unsigned>(dev, 1);
    box_ = borrow_mailbox();
    in_.A = rows_.arguments();
    in_.n = rows_.n;
    in_.place = rows_.place.size() > 0 ? rows_.place.data() : nullptr;
    in_.own_r = own_r_.data();
    in_.factor = factor_.data();
    in_.d = d_.data();
    in_.other = other_.size() > 0 ? other_.data() : nullptr;
    in_.step = chebyshev ? step_.data() : nullptr;
    in_.chebyshev = chebyshev_.data();
    in_.sums = sums_.data();
    in_.counter = counter_.data();
    in_.box = box_.get();
    in_.look = dense_engine::iterations_between_looks(rows_.bytes);
    in_.simultaneous = simultaneous;
    in_.forward = how.rule.order != sweep_order::backward;
    in_.symmetric = symmetric;
  }

  std::string name() const override {
    std::string text =
        rows_.name() + (rows_.blocks == 1 ? ", one block" : ", " + std::to_string(rows_.blocks) + " blocks");
    return text + ", one kernel" + chebyshev_text(steps_[0]);
  }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    if (rule.limit <= 0) return {cg_event::limit, 0, sum_of_squares(r)};
    zero_bytes(dev_, counter_.data(), sizeof(unsigned));
    in_.r = r;
    in_.result = d;
    in_.target = residual_trigger<T>(rule, by_residual_);
    in_.progress = dense_engine::progress_of<T>(rule, in_.target, by_residual_, rows_.n);
    in_.goes_back = in_.simultaneous && ends_where_met(rule, by_residual_);
    box_->progress = 0;
    box_->stop = 0;
    launch(dev_, "sweeps", {rows_.blocks, threads, 0, 1, true}, kernel(), in_);
    follow(dev_, *box_, log);
    steps_ = chebyshev_.to_vector();
    if (learnt_ != nullptr) *learnt_ = steps_[0];
    return dense_engine::outcome_of(*box_, in_.goes_back);
  }

 private:
  auto kernel() const {
    using Rows = decltype(rows_.arguments());
    if (racing_) return sweeps<sweep_kind::racing, T, Rows>;
    if (in_.mix.depth > 0) return sweeps<sweep_kind::mixing, T, Rows>;
    return sweeps<sweep_kind::plain, T, Rows>;
  }

  void keep_for_mixing(int depth) {
    mixing_ = array<T>(dev_, (3 + 2 * depth) * rows_.n);
    T* free = mixing_.data();
    const auto take = [&](std::int64_t vectors) { return std::exchange(free, free + vectors * rows_.n); };
    in_.mix.depth = depth;
    in_.mix.n = rows_.n;
    in_.mix.last_change = take(1);
    in_.mix.last_g = take(1);
    in_.mix.plain = take(1);
    in_.mix.changes = take(depth);
    in_.mix.images = take(depth);
  }

  double sum_of_squares(const T* r) const {
    std::vector<T> v(static_cast<std::size_t>(rows_.n));
    copy_bytes(v.data(), device::cpu(1), r, dev_, v.size() * sizeof(T));
    return detail::sum_of_squares(1, rows_.n, v.data());
  }

  device dev_;
  bool by_residual_;
  Storage rows_;
  array<T> factor_;
  bool racing_;
  chebyshev_steps* learnt_;
  std::vector<chebyshev_steps> steps_;
  array<T> own_r_, d_, other_, step_, mixing_;
  array<chebyshev_steps> chebyshev_;
  array<double> sums_;
  array<unsigned> counter_;
  std::shared_ptr<device_mailbox> box_;
  task<T, decltype(std::declval<Storage>().arguments())> in_;
};

}  // namespace vouch::device_sweeps
