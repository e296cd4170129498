// Conjugate gradients on several GPUs of a host, fused with the matrix.
//
// As on one GPU: the product with all inner products in its epilogue, then the three updates. Eight slabs of rows are
// dealt to the GPUs; every GPU has a whole p, of which the rows that its products read are up to date: whoever updates
// a row writes it to those who need it. The sums of the slabs go to all GPUs, and each takes the same step from them:
// two reductions an iteration, by flags in peer memory, the second one behind the updates of all other rows. The host
// takes no part. Bound by memory. Bits fixed by the matrix and the kind of GPU, whatever their number.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/device_cuda.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/solve/krylov/cg_fused.cuh>
#include <vouch/solve/krylov/gpu_team.cuh>
#include <vouch/solve/krylov/shared_rows.hpp>
#include <vouch/solve/krylov/slab_matrix.hpp>

namespace vouch {
namespace {

using namespace cg_graph;

// What the kernels of one GPU share.
struct team_control {
  cg_scalars s;
  cg_solution_update solution;
  stopping_rule rule;
  std::uint64_t reductions;  // for totals, so far
  std::uint64_t exchanges;   // of rows, so far
  unsigned tickets[slab_count];
  unsigned slabs_done;
  unsigned blocks_done;
  bool lost;  // another GPU did not come to a reduction
};

// One thread: gives up.
__device__ void give_up(team_control& c, cudaGraphConditionalHandle loop) {
  c.lost = true;
  c.s.event = solver_event::interrupted;
  if (loop != 0) cudaGraphSetConditional(loop, 0);
}

__device__ double ordered_sum(const double (*totals)[mailbox::most_sums], int k) {
  static_assert(slab_count == 8);
  const auto of = [&](int slab) { return __ldcg(&totals[slab][k]); };
  return ((of(0) + of(1)) + (of(2) + of(3))) + ((of(4) + of(5)) + (of(6) + of(7)));
}

// Epilogue of q = A p for one slab: its products; the last slab of each GPU then meets the others and takes the step.
template <class T, bool Diagonal>
struct slab_step : fused_rows<T, Diagonal> {
  using rows = fused_rows<T, Diagonal>;
  double* parts;
  team_control* c;
  pinned_history* box;  // nullptr but on the first GPU
  cudaGraphConditionalHandle loop;
  gpu_team team;
  int slab;
  int first_slab;  // of this GPU
  int slabs;

  __device__ void finish(const typename rows::state& s) const {
    grid_sum(s, parts, &c->tickets[slab], [&](const typename rows::state& t) {
      if (c->s.event != solver_event::running) return;
      hand_out(t);
      if (atomicInc(&c->slabs_done, slabs - 1) != slabs - 1) return;
      __threadfence();
      meet();
    });
  }

  __device__ void hand_out(const typename rows::state& t) const {
    const std::uint64_t reduction = c->reductions + 1;
    const std::int32_t stop = slab == 0 && asked_to_stop(*box, c->s.iteration) ? 1 : 0;
    for (int g = 0; g < team.size; ++g) {
      volatile double* const there = team.box[g]->totals[reduction % 2][slab];
      for (int k = 0; k < rows::count; ++k) there[k] = t.value[k];
      if (slab == 0) *static_cast<volatile std::int32_t*>(&team.box[g]->stop[reduction % 2]) = stop;
    }
    __threadfence_system();
    for (int g = 0; g < team.size; ++g)
      if (g != team.me) raise_flag(&team.box[g]->totals_here[slab], reduction);
  }

  __device__ void meet() const {
    const mailbox& mine = *team.box[team.me];
    const std::uint64_t reduction = ++c->reductions;
    for (int k = 0; k < slab_count; ++k)
      if ((k < first_slab || k >= first_slab + slabs) && !await_flag(&mine.totals_here[k], reduction))
        return give_up(*c, loop);
    typename rows::state all;
    for (int k = 0; k < rows::count; ++k) all.value[k] = ordered_sum(mine.totals[reduction % 2], k);
    const bool stop = *static_cast<const volatile std::int32_t*>(&mine.stop[reduction % 2]) != 0;

    const cg_dots dots = rows::dots(all);
    const std::int64_t iteration = c->s.iteration++;
    cg_step step = cg_advance(dots, c->rule, iteration);
    if (step.event == solver_event::running && stop) step.event = solver_event::interrupted;
    c->s.alpha = step.alpha;
    c->s.beta = step.beta;
    c->s.event = step.event;
    if (box != nullptr) {
      publish_step(*box, iteration, step.alpha, step.beta);
      publish_to_host(*box, iteration, dots.rr, step.event);
    }
    if (step.event == solver_event::running)
      c->solution = cg_defer_update(c->solution, step);
    else if (loop != 0)
      cudaGraphSetConditional(loop, 0);
  }
};

// The rows of one GPU, from its first one, in whole chunks; behind the end are zeros.
template <class T>
struct team_rows {
  std::int64_t chunks;
  const T* q;
  const T* minv;
  T* p;
  T* r;
  T* d;
  T* p_of[slab_count];  // the same rows in the p of each GPU
  const std::uint8_t* needed_by;
  unsigned first_sharing_block;
  unsigned sharing_blocks;
  unsigned readers;
  unsigned writers;
};

static_assert(slab_count == most_gpus, "a slab, and a place among what is added up, for each GPU");
static_assert(shared_rows_block<float> == block * chunk<float>::width &&
              shared_rows_block<double> == block * chunk<double>::width);

// Blocks that share come first, and behind the last one of all block 0.
__device__ std::int64_t chunk_of_thread(unsigned first_block) {
  const unsigned at = blockIdx.x + first_block;
  return std::int64_t{at < gridDim.x ? at : at - gridDim.x} * block + threadIdx.x;
}

// Chunk number k of p to whoever needs a row of it.
template <class T>
__device__ void hand_over(const team_rows<T>& v, std::int64_t k, const chunk<T>& pk) {
  constexpr int width = chunk<T>::width;
  unsigned any = 0;
  for (int w = 0; w < width; ++w) any |= v.needed_by[k * width + w];
  for (; any != 0; any &= any - 1) reinterpret_cast<chunk<T>*>(v.p_of[__ffs(any) - 1])[k] = pk;
}

// The end of a block with rows that others need: the last such block tells them and waits for theirs.
template <class T>
__device__ void meet_readers(const team_rows<T>& v, team_control& c, const gpu_team& team,
                             cudaGraphConditionalHandle loop) {
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (atomicInc(&c.blocks_done, v.sharing_blocks - 1) != v.sharing_blocks - 1) return;
  __threadfence_system();
  const std::uint64_t exchange = ++c.exchanges;
  for (int g = 0; g < team.size; ++g)
    if ((v.readers >> g & 1U) != 0) raise_flag(&team.box[g]->rows_here[team.me], exchange);
  for (int g = 0; g < team.size; ++g)
    if ((v.writers >> g & 1U) != 0 && !await_flag(&team.box[team.me]->rows_here[g], exchange))
      return give_up(c, loop);
}

// Blocks with rows that others need come first. Bound by memory, as fused_update.
template <class T, bool Diagonal>
__global__ void __launch_bounds__(block)
    team_update(__grid_constant__ const team_rows<T> v, team_control* c, __grid_constant__ const gpu_team team,
                cudaGraphConditionalHandle loop) {
  if (c->s.event != solver_event::running) return;
  const cg_solution_update solution = c->solution;
  const fused_element<T, Diagonal> one(c->s, solution);
  const std::int64_t k = chunk_of_thread(v.first_sharing_block);
  const bool shares = blockIdx.x < v.sharing_blocks;
  if (k < v.chunks) {
    const chunk<T> pk = update_chunk(one, solution.now, k, v.q, v.minv, v.p, v.r, v.d);
    if (shares) hand_over(v, k, pk);
  }
  if (shares) meet_readers(v, *c, team, loop);
}

// p = M r, d = 0.
template <class T, bool Diagonal>
__global__ void __launch_bounds__(block)
    team_start(__grid_constant__ const team_rows<T> v, team_control* c, __grid_constant__ const gpu_team team) {
  const std::int64_t k = chunk_of_thread(v.first_sharing_block);
  const bool shares = blockIdx.x < v.sharing_blocks;
  if (k < v.chunks) {
    chunk<T> pk = reinterpret_cast<const chunk<T>*>(v.r)[k];
    if constexpr (Diagonal) {
      const chunk<T> mk = reinterpret_cast<const chunk<T>*>(v.minv)[k];
#pragma unroll
      for (int w = 0; w < chunk<T>::width; ++w) pk.v[w] *= mk.v[w];
    }
    reinterpret_cast<chunk<T>*>(v.p)[k] = pk;
    reinterpret_cast<chunk<T>*>(v.d)[k] = {};
    if (shares) hand_over(v, k, pk);
  }
  if (shares) meet_readers(v, *c, team, 0);
}

// ---- the host's side

// A slab begins where a line of the cache does, and a block of three unknowns.
std::vector<row_range> slabs_of(std::int64_t rows) {
  constexpr std::int64_t unit = 96;
  const std::int64_t each = ceil_div(rows, slab_count * unit) * unit;
  std::vector<row_range> slabs;
  for (int k = 0; k < slab_count; ++k) {
    const std::int64_t first = std::min(rows, k * each);
    slabs.push_back({first, std::min(rows, first + each) - first});
  }
  return slabs;
}

template <class T>
array<T> copied_to(const device& to, const device& from, const T* source, std::int64_t count,
                   std::int64_t size) {
  array<T> copy = array<T>::zeros(to, size);
  to.synchronize();
  if (count > 0) copy_bytes(copy.data(), to, source, from, static_cast<std::size_t>(count) * sizeof(T));
  return copy;
}

// Streams that run beside a device's own, for kernels that do not depend on each other.
class side_streams {
 public:
  side_streams(const device& dev, int count) : dev_(dev) {
    for (int k = 0; k < count; ++k) lanes_.push_back(device::cuda(dev.index()));
    for (int k = 0; k <= count; ++k) {
      cudaEvent_t event = nullptr;
      check(cudaSetDevice(dev.index()), "making an event");
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
      events_.push_back({event, [](void* e) { cudaEventDestroy(static_cast<cudaEvent_t>(e)); }});
    }
  }
  // The device's own stream for k = 0, the others behind what it has been given until now.
  const device& lane(int k) const { return k == 0 ? dev_ : lanes_[static_cast<std::size_t>(k - 1)]; }
  void fork() const {
    record(0, dev_);
    for (const device& lane : lanes_) wait(lane, 0);
  }
  void join() const {
    for (std::size_t k = 0; k < lanes_.size(); ++k) {
      record(k + 1, lanes_[k]);
      wait(dev_, k + 1);
    }
  }

 private:
  void record(std::size_t event, const device& on) const {
    check(cudaSetDevice(dev_.index()), "recording an event");
    check(
        cudaEventRecord(static_cast<cudaEvent_t>(events_[event].get()), static_cast<cudaStream_t>(on.stream())),
        "recording an event");
  }
  void wait(const device& on, std::size_t event) const {
    check(cudaStreamWaitEvent(static_cast<cudaStream_t>(on.stream()),
                              static_cast<cudaEvent_t>(events_[event].get()), 0),
          "waiting for an event");
  }

  device dev_;
  std::vector<device> lanes_;
  std::vector<std::shared_ptr<void>> events_;
};

// One GPU's share.
template <class T, bool Diagonal>
class team_member {
 public:
  team_member(const device& home, int gpu, const spmv_plan<T>& whole, csr_view<const T> A, const T* minv,
              std::span<const row_range> slabs, int first_slab)
      : dev_(device::cuda(gpu)),
        first_slab_(first_slab),
        rows_{slabs.front().first, slabs.back().first + slabs.back().count - slabs.front().first},
        padded_(ceil_div(rows_.count, width) * width),
        streams_(dev_, static_cast<int>(slabs.size()) - 1),
        whole_p_(array<T>::zeros(dev_, ceil_div(A.rows, width) * width)),
        q_(array<T>::zeros(dev_, padded_)),
        r_(array<T>::zeros(dev_, padded_)),
        d_(array<T>::zeros(dev_, padded_)),
        control_(array<team_control>::zeros(dev_, 1)),
        box_(array<mailbox>::zeros(dev_, 1)) {
    if constexpr (Diagonal) minv_ = copied_to(dev_, home, minv + rows_.first, rows_.count, padded_);
    for (const row_range& rows : slabs) matrix_.emplace_back(dev_, home, whole, A, rows);
    for (const slab_matrix<T>& slab : matrix_)
      parts_.push_back(array<double>(dev_, std::int64_t{fused_rows<T, Diagonal>::count} * slab.blocks()));
    dev_.synchronize();
  }

  const device& where() const { return dev_; }
  const row_range& rows() const { return rows_; }
  const std::vector<slab_matrix<T>>& matrix() const { return matrix_; }

  void share(const device& home, const shared_rows& shared) {
    needed_by_ =
        copied_to(dev_, home, shared.needed_by.data(), shared.needed_by.size(), shared.needed_by.size());
    first_sharing_block_ = static_cast<unsigned>(shared.first_sharing_block);
    sharing_blocks_ = static_cast<unsigned>(shared.sharing_blocks);
    readers_ = shared.readers;
    writers_ = shared.writers;
  }

  // The others, once they all exist.
  void meet(std::span<const std::unique_ptr<team_member>> all, int me, pinned_history* history) {
    team_.me = me;
    team_.size = static_cast<int>(all.size());
    history_ = me == 0 ? history : nullptr;
    for (std::size_t g = 0; g < all.size(); ++g) {
      team_.box[g] = all[g]->box_.data();
      p_of_[g] = all[g]->whole_p_.data() + rows_.first;
    }
  }

  void take(const device& home, const T* r, const stopping_rule& rule) {
    if (rows_.count > 0)
      copy_bytes(r_.data(), dev_, r + rows_.first, home, static_cast<std::size_t>(rows_.count) * sizeof(T));
    team_control fresh{};
    fresh.rule = rule;
    fresh.reductions = reductions_;
    fresh.exchanges = exchanges_;
    copy_bytes(control_.data(), dev_, &fresh, device::cpu(1), sizeof fresh);
  }
  void prepare() {
    if (graph_ == nullptr && !loop_on_host())
      graph_ = std::make_unique<while_graph>(dev_, [&](cudaGraphConditionalHandle handle) { record(handle); });
  }
  void start() {
    launch(dev_, "team_start", {blocks(), block}, team_start<T, Diagonal>, all_rows(), control_.data(), team_);
  }
  void turn() {
    if (graph_ != nullptr)
      graph_->launch();
    else
      record(0);
  }
  bool is_running() const { return control_.to_vector()[0].s.event == solver_event::running; }
  void settle() {
    launch(dev_, "fused_settle",
           {std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), 8 * dev_.processors())), block},
           fused_settle<T, Diagonal>, rows_.count, &control_.data()->solution, whole_p_.data() + rows_.first,
           r_.data(), minv_.data(), d_.data());
  }
  // Throws  device_error  a GPU did not come to a reduction
  void give(const device& home, T* r, T* d) {
    const team_control end = control_.to_vector()[0];
    if (end.lost)
      throw device_error("conjugate gradients on several GPUs: GPU " + std::to_string(dev_.index()) +
                             " waited for another in vain; is one of them in use by other work?",
                         static_cast<int>(cudaErrorTimeout));
    reductions_ = end.reductions;
    exchanges_ = end.exchanges;
    if (rows_.count == 0) return;
    copy_bytes(r + rows_.first, home, r_.data(), dev_, static_cast<std::size_t>(rows_.count) * sizeof(T));
    copy_bytes(d + rows_.first, home, d_.data(), dev_, static_cast<std::size_t>(rows_.count) * sizeof(T));
  }

 private:
  static constexpr std::int64_t width = chunk<T>::width;

  team_rows<T> all_rows() {
    team_rows<T> v{
        padded_ / width, q_.data(), minv_.data(),      whole_p_.data() + rows_.first, r_.data(),
        d_.data(),       {},        needed_by_.data(), first_sharing_block_,          sharing_blocks_,
        readers_,        writers_};
    std::copy(std::begin(p_of_), std::end(p_of_), std::begin(v.p_of));
    return v;
  }

  // Of kernels over the rows.
  std::int64_t blocks() const { return ceil_div<std::int64_t>(padded_ / width, block); }

  void multiply(int k, cudaGraphConditionalHandle loop) {
    const slab_matrix<T>& slab = matrix_[static_cast<std::size_t>(k)];
    const device& lane = streams_.lane(k);
    const std::int64_t first = slab.rows().first, local = first - rows_.first;
    const slab_step<T, Diagonal> step{{whole_p_.data() + first, r_.data() + local,
                                       Diagonal ? minv_.data() + local : nullptr, q_.data() + local},
                                      parts_[static_cast<std::size_t>(k)].data(),
                                      control_.data(),
                                      history_,
                                      loop,
                                      team_,
                                      first_slab_ + k,
                                      first_slab_,
                                      static_cast<int>(matrix_.size())};
    if (slab.as_dia())
      launch(lane, "spmv_dia", {slab.blocks(), block}, detail::spmv_dia<T, slab_step<T, Diagonal>>,
             *slab.as_dia(), whole_p_.data(), step);
    else
      launch_spmv(lane, slab.as_plan(), whole_p_.data(), step);
  }

  // Several iterations a turn, as the loop's own step costs some microseconds. After the end they do nothing.
  void record(cudaGraphConditionalHandle loop) {
    constexpr int iterations = 4;
    for (int k = 0; k < iterations; ++k) {
      streams_.fork();
      for (int slab = 0; slab < static_cast<int>(matrix_.size()); ++slab) multiply(slab, loop);
      streams_.join();
      launch(dev_, "team_update", {blocks(), block}, team_update<T, Diagonal>, all_rows(), control_.data(),
             team_, loop);
    }
  }

  device dev_;
  int first_slab_;
  row_range rows_;
  std::int64_t padded_;
  side_streams streams_;
  array<T> whole_p_, q_, r_, d_, minv_;
  array<team_control> control_;
  array<mailbox> box_;
  std::vector<slab_matrix<T>> matrix_;
  std::vector<array<double>> parts_;
  array<std::uint8_t> needed_by_;
  unsigned first_sharing_block_ = 0, sharing_blocks_ = 0, readers_ = 0, writers_ = 0;
  gpu_team team_;
  T* p_of_[slab_count] = {};
  pinned_history* history_ = nullptr;
  std::uint64_t reductions_ = 0, exchanges_ = 0;
  std::unique_ptr<while_graph> graph_;
};

template <class T, bool Diagonal>
class team_engine final : public inner_solver<T> {
 public:
  team_engine(const device& home, csr_view<const T> A, const T* minv, std::span<const int> gpus, layout wanted)
      : home_(home), box_(acquire_pinned_history()) {
    using member = team_member<T, Diagonal>;
    const std::vector<row_range> slabs = slabs_of(A.rows);
    const spmv_plan<T> whole = spmv_plan<T>::make(home, A, true, wanted);
    const int count = std::min<int>(slab_count, static_cast<int>(gpus.size()));
    name_ = "looping graphs on " + std::to_string(count) + (count == 1 ? " GPU, " : " GPUs, ") +
            std::to_string(slab_count) + " slabs, " + whole.format();
    std::vector<row_range> parts;
    for (int g = 0; g < count; ++g) {
      const int first = slab_count * g / count, end = slab_count * (g + 1) / count;
      const std::span own =
          std::span(slabs).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
      members_.push_back(
          std::make_unique<member>(home, gpus[static_cast<std::size_t>(g)], whole, A, minv, own, first));
      parts.push_back(members_.back()->rows());
    }
    const std::vector<shared_rows> shared = find_shared_rows(home, A, parts);
    for (int g = 0; g < count; ++g) {
      members_[static_cast<std::size_t>(g)]->share(home, shared[static_cast<std::size_t>(g)]);
      members_[static_cast<std::size_t>(g)]->meet(members_, g, box_.get());
    }
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    box_->progress = 0;
    box_->stop = 0;
    box_->iterations = -1;
    for (auto& one : members_) one->take(home_, r, rule);
    for (auto& one : members_) one->prepare();
    for (auto& one : members_) one->start();
    do
      for (auto& one : members_) one->turn();
    while (loop_on_host() && members_.front()->is_running());
    for (auto& one : members_) one->settle();
    follow(members_.front()->where(), *box_, log, mail::residuals_and_steps);
    for (auto& one : members_) one->where().synchronize();
    for (auto& one : members_) one->give(home_, r, d);
    return {static_cast<solver_event>(box_->event), box_->iterations, box_->last_squared};
  }
  std::string name() const override { return name_; }

 private:
  device home_;
  std::string name_;
  std::shared_ptr<pinned_history> box_;
  std::vector<std::unique_ptr<team_member<T, Diagonal>>> members_;
};

// Refuses GPUs that are not there, that compute other bits, or that cannot read each other's memory; shares it.
void prepare_team(std::span<const int> gpus) {
  const cuda_device_facts first = cuda_facts(device::cuda(gpus.front()).index());
  for (const int gpu : gpus) {
    const cuda_device_facts facts = cuda_facts(device::cuda(gpu).index());
    if (facts.name != first.name || facts.processors != first.processors)
      throw value_error("GPU " + std::to_string(first.index) + ", " + first.name + ", and GPU " +
                            std::to_string(gpu) + ", " + facts.name + ", are of different kinds",
                        "a solve takes several of one kind");
  }
  for (const int owner : gpus)
    for (const int user : gpus) cuda_share_memory(owner, user);
}

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_gpus_cuda(const device& home, csr_view<const T> A, const T* minv,
                                              std::span<const int> gpus, layout wanted) {
  prepare_team(gpus);
  if (minv != nullptr) return std::make_unique<team_engine<T, true>>(home, A, minv, gpus, wanted);
  return std::make_unique<team_engine<T, false>>(home, A, minv, gpus, wanted);
}

template std::unique_ptr<inner_solver<float>> cg_gpus_cuda(const device&, csr_view<const float>, const float*,
                                                           std::span<const int>, layout);
template std::unique_ptr<inner_solver<double>> cg_gpus_cuda(const device&, csr_view<const double>,
                                                            const double*, std::span<const int>, layout);

}  // namespace vouch
