// Conjugate gradients on several GPUs of a host, fused with the matrix.
//
// As on one GPU: the product with all inner products in its epilogue, then the three updates. Eight slabs of rows are
// dealt to the GPUs; every GPU has a whole p, of which the rows that its products read are up to date: whoever updates
// a row writes it to those who need it. The sums of the slabs go to all GPUs, and each takes the same step from them:
// two reductions an iteration, by flags in peer memory, the second one behind the updates of all other rows. The host
// takes no part. Bound by memory. Bits fixed by the matrix and the kind of GPU, whatever their number.
#include <memory>
#include <span>
#include <vector>

#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_fused.cuh>
#include <vouch/solve/krylov/gpu_share.cuh>

namespace vouch {
namespace {

using namespace cg_graph;

// Epilogue of q = A p for one slab: its products; behind the last slab each GPU takes the step.
template <class T, bool Diagonal>
struct slab_step : fused_rows<T, Diagonal> {
  using rows = fused_rows<T, Diagonal>;
  slab_end end;

  __device__ void finish(const typename rows::state& s) const {
    end.meet(s, [&](const typename rows::state& all, bool stop) {
      team_control& c = *end.c;
      const cg_dots dots = rows::dots(all);
      const std::int64_t iteration = c.s.iteration++;
      cg_step step = cg_advance(dots, c.rule, iteration);
      if (step.event == solver_event::running && stop) step.event = solver_event::interrupted;
      c.s.alpha = step.alpha;
      c.s.beta = step.beta;
      c.s.event = step.event;
      if (step.event == solver_event::running) c.solution = cg_defer_update(c.solution, step);
      end.report(iteration, step.alpha, step.beta, dots.rr);
    });
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

static_assert(shared_rows_block<float> == block * chunk<float>::width &&
              shared_rows_block<double> == block * chunk<double>::width);

// Blocks that share come first, and behind the last one of all block 0.
__device__ std::int64_t chunk_of_thread(unsigned first_block) {
  const unsigned at = blockIdx.x + first_block;
  return std::int64_t{at < gridDim.x ? at : at - gridDim.x} * block + threadIdx.x;
}

// Chunk number k of p to the GPUs that need a row of it.
template <class T>
__device__ void hand_over(const team_rows<T>& v, std::int64_t k, const chunk<T>& pk) {
  constexpr int width = chunk<T>::width;
  unsigned any = 0;
  for (int w = 0; w < width; ++w) any |= v.needed_by[k * width + w];
  for (; any != 0; any &= any - 1) reinterpret_cast<chunk<T>*>(v.p_of[__ffs(any) - 1])[k] = pk;
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
  if (shares) meet_readers(*c, team, v.sharing_blocks, v.readers, v.writers, loop);
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
  if (shares) meet_readers(*c, team, v.sharing_blocks, v.readers, v.writers, 0);
}

// ---- the host's side

// One GPU's share.
template <class T, bool Diagonal>
class team_member {
 public:
  static constexpr bool start_can_end = false;

  team_member(const device& home, int gpu, const spmv_plan<T>& whole, csr_view<const T> A, const T* minv,
              std::span<const row_range> slabs, int first_slab)
      : share_(home, gpu, whole, A, slabs, first_slab, fused_rows<T, Diagonal>::count),
        padded_(ceil_div(rows().count, width) * width),
        whole_p_(array<T>::zeros(where(), ceil_div(A.rows, width) * width)),
        q_(array<T>::zeros(where(), padded_)),
        r_(array<T>::zeros(where(), padded_)),
        d_(array<T>::zeros(where(), padded_)) {
    if constexpr (Diagonal) minv_ = copied_to(where(), home, minv + rows().first, rows().count, padded_);
    where().synchronize();
  }

  gpu_share<T>& share() { return share_; }
  void share_rows(const device& home, const shared_rows& shared) {
    needed_by_ =
        copied_to(where(), home, shared.needed_by.data(), shared.needed_by.size(), shared.needed_by.size());
    first_sharing_block_ = static_cast<unsigned>(shared.first_sharing_block);
    sharing_blocks_ = static_cast<unsigned>(shared.sharing_blocks);
    readers_ = shared.readers;
    writers_ = shared.writers;
  }
  void meet(std::span<const std::unique_ptr<team_member>> all) {
    for (std::size_t g = 0; g < all.size(); ++g) p_of_[g] = all[g]->whole_p_.data() + rows().first;
  }

  void take(const device& home, const T* r) {
    if (rows().count > 0)
      copy_bytes(r_.data(), where(), r + rows().first, home,
                 static_cast<std::size_t>(rows().count) * sizeof(T));
  }
  void start() {
    launch(where(), "team_start", {blocks(), block}, team_start<T, Diagonal>, all_rows(), share_.control(),
           share_.team());
  }
  // Several iterations a turn, as the loop's own step costs some microseconds. After the end they do nothing.
  void record(cudaGraphConditionalHandle loop) {
    constexpr int iterations = 4;
    for (int k = 0; k < iterations; ++k) {
      share_.multiply(whole_p_.data(), [&](int slab, const row_range& of_slab) {
        const std::int64_t local = of_slab.first - rows().first;
        return slab_step<T, Diagonal>{{whole_p_.data() + of_slab.first, r_.data() + local,
                                       Diagonal ? minv_.data() + local : nullptr, q_.data() + local},
                                      share_.end_of(slab, loop)};
      });
      launch(where(), "team_update", {blocks(), block}, team_update<T, Diagonal>, all_rows(), share_.control(),
             share_.team(), loop);
    }
  }
  void settle() {
    launch(where(), "fused_settle",
           {std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), 8 * where().processors())), block},
           fused_settle<T, Diagonal>, rows().count, &share_.control()->solution, whole_p_.data() + rows().first,
           r_.data(), minv_.data(), d_.data());
  }
  void give(const device& home, T* r, T* d) {
    if (rows().count == 0) return;
    const auto bytes = static_cast<std::size_t>(rows().count) * sizeof(T);
    copy_bytes(r + rows().first, home, r_.data(), where(), bytes);
    copy_bytes(d + rows().first, home, d_.data(), where(), bytes);
  }

 private:
  static constexpr std::int64_t width = chunk<T>::width;

  const device& where() const { return share_.where(); }
  const row_range& rows() const { return share_.rows(); }
  team_rows<T> all_rows() {
    team_rows<T> v{
        padded_ / width, q_.data(), minv_.data(),      whole_p_.data() + rows().first, r_.data(),
        d_.data(),       {},        needed_by_.data(), first_sharing_block_,           sharing_blocks_,
        readers_,        writers_};
    std::copy(std::begin(p_of_), std::end(p_of_), std::begin(v.p_of));
    return v;
  }
  // Of kernels over the rows.
  std::int64_t blocks() const { return ceil_div<std::int64_t>(padded_ / width, block); }

  gpu_share<T> share_;
  std::int64_t padded_;
  array<T> whole_p_, q_, r_, d_, minv_;
  array<std::uint8_t> needed_by_;
  unsigned first_sharing_block_ = 0, sharing_blocks_ = 0, readers_ = 0, writers_ = 0;
  T* p_of_[slab_count] = {};
};

template <class T, bool Diagonal>
std::unique_ptr<inner_solver<T>> make_engine(const device& home, csr_view<const T> A, const T* minv,
                                             std::span<const int> gpus, layout wanted) {
  using member = team_member<T, Diagonal>;
  return std::make_unique<team_engine<T, member>>(
      home, A, gpus, wanted,
      [&](int gpu, const spmv_plan<T>& whole, std::span<const row_range> slabs, int first_slab) {
        return std::make_unique<member>(home, gpu, whole, A, minv, slabs, first_slab);
      });
}

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_gpus_cuda(const device& home, csr_view<const T> A, const T* minv,
                                              std::span<const int> gpus, layout wanted) {
  if (minv != nullptr) return make_engine<T, true>(home, A, minv, gpus, wanted);
  return make_engine<T, false>(home, A, minv, gpus, wanted);
}

template std::unique_ptr<inner_solver<float>> cg_gpus_cuda(const device&, csr_view<const float>, const float*,
                                                           std::span<const int>, layout);
template std::unique_ptr<inner_solver<double>> cg_gpus_cuda(const device&, csr_view<const double>,
                                                            const double*, std::span<const int>, layout);

}  // namespace vouch
