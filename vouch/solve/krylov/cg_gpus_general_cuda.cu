// Conjugate gradients on several GPUs of a host with a preconditioner that they share.
//
// As cg_graph_general_cuda.cu, over slabs: two reductions an iteration, behind the product and behind M; the rows of p
// that others need are handed over at the end. The host takes no part. Bound by memory. Bits fixed by the matrix and the
// kind of GPU, whatever their number.
#include <memory>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_general.cuh>
#include <vouch/solve/krylov/shared_preconditioner.cuh>

namespace vouch {
namespace {

using namespace cg_graph;
using passes::block;
using passes::sums;

// Epilogue of q = A p for one slab: p'q, then the step length.
template <class T>
struct slab_product {
  using state = sums<1>;
  const T* p;
  T* q;
  slab_end end;

  struct operands {
    T p;
  };
  __device__ operands fetch(std::int64_t i) const { return {p[i]}; }
  __device__ void row(state& s, std::int64_t i, T sum, const operands& o) const {
    q[i] = sum;
    s.value[0] += static_cast<double>(o.p) * static_cast<double>(sum);
  }
  __device__ void finish(const state& s) const {
    end.meet(s, [&](const state& all, bool) {
      cg_scalars& now = end.c->s;
      cg_take_step(now, all.value[0]);
      if (now.event != solver_event::running) end.report(now.iteration, now.alpha, now.beta, now.rr);
    });
  }
};

template <class T>
__global__ void __launch_bounds__(block)
    slab_direction(std::int64_t n, const T* __restrict__ r, const T* __restrict__ z,
                   __grid_constant__ const slab_end end, bool first) {
  end.meet(direction_products(n, r, z), [&](const sums<2>& all, bool stop) {
    cg_scalars& now = end.c->s;
    cg_take_direction(now, all.value[0], all.value[1], end.c->rule, first ? 0 : now.iteration + 1);
    if (first) return;
    if (now.event == solver_event::running && stop) now.event = solver_event::interrupted;
    end.report(now.iteration, now.alpha, now.beta, now.rr);
  });
}

// One GPU's share.
template <class T>
class preconditioned_member {
 public:
  static constexpr bool start_can_end = true;

  preconditioned_member(const device& home, int gpu, const spmv_plan<T>& whole, csr_view<const T> A,
                        std::span<const row_range> slabs, int first_slab)
      : share_(home, gpu, whole, A, slabs, first_slab, 2),
        whole_p_(array<T>::zeros(where(), A.rows)),
        q_(array<T>::zeros(where(), rows().count)),
        r_(array<T>::zeros(where(), rows().count)),
        d_(array<T>::zeros(where(), rows().count)) {
    where().synchronize();
  }

  gpu_share<T>& share() { return share_; }
  void share_rows(const device& home, const shared_rows& shared) {
    needed_by_ =
        copied_to(where(), home, shared.needed_by.data(), shared.needed_by.size(), shared.needed_by.size());
    needed_ = {needed_by_.data(), rows().first,
               rows().count,      shared.first_sharing_block * shared_rows_block<T>,
               needed_by_.size(), shared.sharing_blocks * shared_rows_block<T>};
  }
  void meet(std::span<const std::unique_ptr<preconditioned_member>> all) {
    for (std::size_t g = 0; g < all.size(); ++g) p_.of[g] = all[g]->whole_p_.data();
  }
  preconditioned_share<T> as_preconditioned() { return {&share_, r_.data(), needed_}; }
  void precondition_by(std::shared_ptr<shared_preconditioner<T>> M) { M_ = std::move(M); }

  void take(const device& home, const T* r) {
    if (rows().count > 0)
      copy_bytes(r_.data(), where(), r + rows().first, home,
                 static_cast<std::size_t>(rows().count) * sizeof(T));
  }
  void start() {
    zero_bytes(where(), d_.data(), static_cast<std::size_t>(rows().count) * sizeof(T));
    turn(0, true);
  }
  void record(cudaGraphConditionalHandle loop) {
    share_.multiply(whole_p_.data(), [&](int slab, const row_range& of_slab) {
      return slab_product<T>{whole_p_.data() + of_slab.first, q_.data() + (of_slab.first - rows().first),
                             share_.end_of(slab, loop)};
    });
    launch(where(), "general_update", shape(), general_update<T>, rows().count, &share_.control()->s, p(),
           q_.data(), r_.data(), d_.data());
    turn(loop, false);
  }
  void settle() {}
  void give(const device& home, T* r, T* d) {
    if (rows().count == 0) return;
    const auto bytes = static_cast<std::size_t>(rows().count) * sizeof(T);
    copy_bytes(r + rows().first, home, r_.data(), where(), bytes);
    copy_bytes(d + rows().first, home, d_.data(), where(), bytes);
  }

 private:
  const device& where() const { return share_.where(); }
  const row_range& rows() const { return share_.rows(); }
  T* p() { return whole_p_.data() + rows().first; }
  launch_shape shape() const {
    return {std::min<std::int64_t>(ceil_div<std::int64_t>(rows().count, 2 * block), 8 * where().processors()),
            block};
  }

  // z = M r, its products, the new direction.
  void turn(cudaGraphConditionalHandle loop, bool first) {
    const int me = share_.team().me;
    M_->apply(me, loop);
    const T* const z = M_->z(me);
    share_.for_each_slab([&](const device& lane, int slab) {
      const row_range& of_slab = share_.rows_of(slab);
      const std::int64_t local = of_slab.first - rows().first;
      launch(lane, "slab_direction", {gpu_share<T>::vector_blocks(of_slab), block}, slab_direction<T>,
             of_slab.count, r_.data() + local, z + local, share_.end_of(slab, loop), first);
    });
    launch(where(), "general_turn", shape(), general_turn<T>, rows().count, &share_.control()->s, z, p(),
           first);
    launch_exchange(where(), needed_, p_, share_.control(), share_.team(), loop);
  }

  gpu_share<T> share_;
  array<T> whole_p_, q_, r_, d_;
  array<std::uint8_t> needed_by_;
  rows_by_bits needed_{};
  team_vector<T> p_;
  std::shared_ptr<shared_preconditioner<T>> M_;
};

template <class T>
std::shared_ptr<shared_preconditioner<T>> shared_by(const device& home, const preconditioner<T>& M,
                                                    std::span<const preconditioned_share<T>> gpus,
                                                    std::int64_t least_rows) {
  if (const auto* polynomial = dynamic_cast<const shared_polynomial<T>*>(&M))
    return share(home, *polynomial, gpus);
  if (const auto* cycle = dynamic_cast<const multigrid::shared_cycle<T>*>(&M))
    return share(home, *cycle, gpus, least_rows);
  throw value_error("conjugate gradients on several GPUs: no preconditioner, jacobi, chebyshev or amg, not " +
                    M.name());
}

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_gpus_general_cuda(const device& home, csr_view<const T> A,
                                                      const preconditioner<T>& M, std::span<const int> gpus,
                                                      layout wanted, std::int64_t least_rows) {
  using member = preconditioned_member<T>;
  auto engine = std::make_unique<team_engine<T, member>>(
      home, A, gpus, wanted,
      [&](int gpu, const spmv_plan<T>& whole, std::span<const row_range> slabs, int first_slab) {
        return std::make_unique<member>(home, gpu, whole, A, slabs, first_slab);
      });
  std::vector<preconditioned_share<T>> shares;
  for (const auto& one : engine->members()) shares.push_back(one->as_preconditioned());
  const std::shared_ptr<shared_preconditioner<T>> shared = shared_by<T>(home, M, shares, least_rows);
  for (const auto& one : engine->members()) one->precondition_by(shared);
  return engine;
}

template std::unique_ptr<inner_solver<float>> cg_gpus_general_cuda(const device&, csr_view<const float>,
                                                                   const preconditioner<float>&,
                                                                   std::span<const int>, layout, std::int64_t);
template std::unique_ptr<inner_solver<double>> cg_gpus_general_cuda(const device&, csr_view<const double>,
                                                                    const preconditioner<double>&,
                                                                    std::span<const int>, layout, std::int64_t);

}  // namespace vouch
