// vouch/solve/krylov/gpu_share.cuh -- what one of several GPUs has of a system that they solve together by conjugate
// gradients, and the loop on all of them; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/error.hpp>
#include <vouch/core/while_graph.cuh>
#include <vouch/solve/krylov/shared_rows.hpp>
#include <vouch/solve/krylov/slab_matrix.hpp>
#include <vouch/solve/krylov/team_kernels.cuh>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch {

/// A slab begins where a line of the cache does, and a block of three unknowns.
std::vector<row_range> slabs_of(std::int64_t rows);

/// Refuses GPUs that are not there, that compute other bits, or that cannot read each other's memory; shares it.
void prepare_team(std::span<const int> gpus);

/// `size` elements, the first `count` of them copied, the others zero; complete on return.
template <class T>
array<T> copied_to(const device& to, const device& from, const T* source, std::int64_t count,
                   std::int64_t size) {
  array<T> copy = array<T>::zeros(to, size);
  to.synchronize();
  if (count > 0) copy_bytes(copy.data(), to, source, from, static_cast<std::size_t>(count) * sizeof(T));
  return copy;
}

/// Streams that run beside a device's own, for kernels that do not depend on each other.
class side_streams {
 public:
  side_streams(const device& dev, int count);
  /// The device's own stream for k = 0, the others behind what it has been given until fork().
  const device& lane(int k) const { return k == 0 ? dev_ : lanes_[static_cast<std::size_t>(k - 1)]; }
  void fork() const;
  void join() const;

 private:
  void record(std::size_t event, const device& on) const;
  void wait(const device& on, std::size_t event) const;

  device dev_;
  std::vector<device> lanes_;
  std::vector<std::shared_ptr<void>> events_;
};

/// One GPU's slabs of the matrix, and where it meets the others.
template <class T>
class gpu_share {
 public:
  /// sums: that kernels over a slab take at most.
  gpu_share(const device& home, int gpu, const spmv_plan<T>& whole, csr_view<const T> A,
            std::span<const row_range> slabs, int first_slab, int sums)
      : dev_(device::cuda(gpu)),
        first_slab_(first_slab),
        rows_{slabs.front().first, slabs.back().first + slabs.back().count - slabs.front().first},
        streams_(dev_, static_cast<int>(slabs.size()) - 1),
        control_(array<team_control>::zeros(dev_, 1)),
        box_(array<mailbox>::zeros(dev_, 1)) {
    for (const row_range& rows : slabs) matrix_.emplace_back(dev_, home, whole, A, rows);
    for (const slab_matrix<T>& slab : matrix_)
      parts_.push_back(
          array<double>(dev_, std::int64_t{sums} * std::max(slab.blocks(), vector_blocks(slab.rows()))));
    dev_.synchronize();
  }

  const device& where() const { return dev_; }
  const row_range& rows() const { return rows_; }
  int slabs() const { return static_cast<int>(matrix_.size()); }
  const row_range& rows_of(int slab) const { return matrix_[static_cast<std::size_t>(slab)].rows(); }
  const gpu_team& team() const { return team_; }
  team_control* control() { return control_.data(); }
  mailbox* box() { return box_.data(); }

  /// The others, once they all exist.
  void meet(const gpu_team& all, int me, pinned_history* history) {
    team_ = all;
    team_.me = me;
    history_ = me == 0 ? history : nullptr;
  }
  void begin(const stopping_rule& rule) {
    team_control fresh{};
    fresh.rule = rule;
    fresh.reductions = reductions_;
    fresh.exchanges = exchanges_;
    copy_bytes(control_.data(), dev_, &fresh, device::cpu(1), sizeof fresh);
  }
  cg_scalars scalars() const { return control_.to_vector()[0].s; }
  /// Throws  device_error  a GPU did not come to a reduction
  void end() {
    const team_control last = control_.to_vector()[0];
    if (last.lost)
      throw device_error("conjugate gradients on several GPUs: GPU " + std::to_string(dev_.index()) +
                             " waited for another in vain; is one of them in use by other work?",
                         static_cast<int>(cudaErrorTimeout));
    reductions_ = last.reductions;
    exchanges_ = last.exchanges;
  }

  slab_end end_of(int slab, cudaGraphConditionalHandle loop) {
    return {parts_[static_cast<std::size_t>(slab)].data(),
            control_.data(),
            history_,
            loop,
            team_,
            first_slab_ + slab,
            first_slab_,
            slabs()};
  }

  /// Enqueues A x for all slabs side by side, x by rows of the whole; epilogue(slab, its rows) takes the sums of a slab.
  template <class MakeEpilogue>
  void multiply(const T* x, const MakeEpilogue& epilogue) {
    for_each_slab([&](const device& lane, int k) {
      const slab_matrix<T>& slab = matrix_[static_cast<std::size_t>(k)];
      const auto take = epilogue(k, slab.rows());
      if (slab.as_dia())
        launch(lane, "spmv_dia", {slab.blocks(), spmv_threads},
               detail::spmv_dia<T, std::decay_t<decltype(take)>>, *slab.as_dia(), x, take);
      else
        launch_spmv(lane, slab.as_plan(), x, take);
    });
  }
  /// Enqueues work(lane, slab) for all slabs side by side.
  template <class Work>
  void for_each_slab(const Work& work) {
    streams_.fork();
    for (int slab = 0; slab < slabs(); ++slab) work(streams_.lane(slab), slab);
    streams_.join();
  }
  /// Blocks of a kernel with sums over the elements of a slab.
  static unsigned vector_blocks(const row_range& rows) {
    constexpr std::int64_t elements_a_block = 8 * passes::block, most = 1024;
    return static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(rows.count, elements_a_block), 1, most));
  }

 private:
  device dev_;
  int first_slab_;
  row_range rows_;
  side_streams streams_;
  array<team_control> control_;
  array<mailbox> box_;
  std::vector<slab_matrix<T>> matrix_;
  std::vector<array<double>> parts_;
  gpu_team team_;
  pinned_history* history_ = nullptr;
  std::uint64_t reductions_ = 0, exchanges_ = 0;
};

/// The loop on all GPUs. Of Member: share() gives its gpu_share; share_rows() takes those that others need;
/// meet(all, me) is told of the others; take(), start(), record(), settle() and give() are the parts of a run, and
/// start_can_end says whether start() may find that there is nothing to do.
template <class T, class Member>
class team_engine final : public inner_solver<T> {
 public:
  /// make(home, gpu, plan of A, slabs, first slab) makes a member.
  template <class Make>
  team_engine(const device& home, csr_view<const T> A, std::span<const int> gpus, layout wanted,
              const Make& make)
      : home_(home), box_(acquire_pinned_history()) {
    prepare_team(gpus);
    const std::vector<row_range> slabs = slabs_of(A.rows);
    const spmv_plan<T> whole = spmv_plan<T>::make(home, A, true, wanted);
    const int count = std::min<int>(slab_count, static_cast<int>(gpus.size()));
    name_ = "looping graphs on " + std::to_string(count) + (count == 1 ? " GPU, " : " GPUs, ") +
            std::to_string(slab_count) + " slabs, " + whole.format();
    std::vector<row_range> parts;
    gpu_team team;
    team.size = count;
    for (int g = 0; g < count; ++g) {
      const int first = slab_count * g / count, end = slab_count * (g + 1) / count;
      const std::span own =
          std::span(slabs).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
      members_.push_back(make(gpus[static_cast<std::size_t>(g)], whole, own, first));
      parts.push_back(members_.back()->share().rows());
      team.box[g] = members_.back()->share().box();
    }
    const std::vector<shared_rows> shared = find_shared_rows(home, A, parts);
    for (int g = 0; g < count; ++g) {
      Member& one = *members_[static_cast<std::size_t>(g)];
      one.share_rows(home, shared[static_cast<std::size_t>(g)]);
      one.share().meet(team, g, box_.get());
      one.meet(members_);
    }
    graphs_.resize(members_.size());
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    box_->progress = 0;
    box_->stop = 0;
    box_->iterations = -1;
    for (auto& one : members_) {
      one->share().begin(rule);
      one->take(home_, r);
    }
    if (!loop_on_host()) prepare();
    for (auto& one : members_) one->start();
    if (goes_on()) {
      loop();
      for (auto& one : members_) one->settle();
      follow(members_.front()->share().where(), *box_, log, mail::residuals_and_steps);
    }
    for (auto& one : members_) one->share().where().synchronize();
    for (auto& one : members_) {
      one->share().end();
      one->give(home_, r, d);
    }
    return {static_cast<solver_event>(box_->event), box_->iterations, box_->last_squared};
  }
  std::string name() const override { return name_; }

  const std::vector<std::unique_ptr<Member>>& members() const { return members_; }

 private:
  void prepare() {
    for (std::size_t g = 0; g < members_.size(); ++g)
      if (graphs_[g] == nullptr)
        graphs_[g] = std::make_unique<while_graph>(
            members_[g]->share().where(),
            [&](cudaGraphConditionalHandle handle) { members_[g]->record(handle); });
  }
  // Whether there is something to do after the start, of which the host's box is told.
  bool goes_on() {
    if constexpr (Member::start_can_end) {
      const cg_scalars s = members_.front()->share().scalars();
      box_->residual_squared[0] = s.rr;
      box_->step[0] = {};
      box_->event = static_cast<std::int32_t>(s.event);
      box_->iterations = 0;
      box_->last_squared = s.rr;
      return s.event == solver_event::running;
    }
    return true;
  }
  void loop() {
    if (!loop_on_host()) {
      for (auto& graph : graphs_) graph->launch();
      return;
    }
    do
      for (auto& one : members_) one->record(0);
    while (members_.front()->share().scalars().event == solver_event::running);
  }

  device home_;
  std::string name_;
  std::shared_ptr<pinned_history> box_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<while_graph>> graphs_;
};

}  // namespace vouch
