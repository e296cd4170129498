// A Chebyshev polynomial in the matrix on several GPUs: a product with its step in its epilogue and an exchange of the
// rows that others need, for each degree. Bound by memory.
#include <vouch/solve/krylov/shared_preconditioner.cuh>
#include <vouch/solve/precond/chebyshev_kernels.hpp>

namespace vouch {
namespace {

// Epilogue of w = A z for one slab: the next iterate.
template <class T>
struct next_iterate {
  three_terms<T> terms;

  struct state {};
  struct operands {
    T r, inverse, z, before;
  };
  __device__ operands fetch(std::int64_t i) const {
    return {terms.r[i], terms.inverse[i], terms.z[i], terms.momentum != T{} ? terms.previous[i] : T{}};
  }
  __device__ void row(state&, std::int64_t i, T sum, const operands& o) const {
    terms.previous[i] = terms.next(o.r - sum, o.inverse, o.z, o.before);
  }
  __device__ void finish(const state&) const {}
};

template <class T>
class polynomial_on_gpus final : public shared_preconditioner<T> {
 public:
  polynomial_on_gpus(const device& home, const shared_polynomial<T>& M,
                     std::span<const preconditioned_share<T>> gpus)
      : recurrence_(M.recurrence()), gpus_(gpus.begin(), gpus.end()) {
    std::int64_t rows = 0;
    for (const preconditioned_share<T>& gpu : gpus) rows += gpu.share->rows().count;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const row_range& own = gpus[g].share->rows();
      const device& dev = gpus[g].share->where();
      inverse_.push_back(copied_to(dev, home, M.inverse() + own.first, own.count, own.count));
      for (int k = 0; k < 2; ++k) {
        iterates_[k].push_back(array<T>::zeros(dev, rows));
        whole_[k].of[g] = iterates_[k].back().data();
      }
      dev.synchronize();
    }
  }

  // The iterates alternate between two vectors.
  void apply(int g, cudaGraphConditionalHandle loop) override {
    const preconditioned_share<T>& gpu = gpus_[static_cast<std::size_t>(g)];
    gpu_share<T>& share = *gpu.share;
    const row_range& own = share.rows();
    const T* const inverse = inverse_[static_cast<std::size_t>(g)].data();
    const auto exchange = [&](int which) {
      launch_exchange(share.where(), gpu.needed, whole_[which], share.control(), share.team(), loop);
    };
    int now = 0;
    first_iterate_cuda(share.where(), own.count, static_cast<T>(recurrence_.first_factor()), inverse, gpu.r,
                       whole_[now].of[g] + own.first);
    recurrence_.for_each_step([&](double keep, double momentum, double along) {
      exchange(now);
      const T* const z = whole_[now].of[g];
      T* const previous = whole_[1 - now].of[g];
      share.multiply(z, [&](int, const row_range& slab) {
        const std::int64_t local = slab.first - own.first;
        return next_iterate<T>{{static_cast<T>(keep), static_cast<T>(momentum), static_cast<T>(along),
                                gpu.r + local, nullptr, inverse + local, z + slab.first,
                                previous + slab.first}};
      });
      now = 1 - now;
    });
  }
  const T* z(int g) const override {
    return whole_[recurrence_.degree() % 2].of[g] + gpus_[static_cast<std::size_t>(g)].share->rows().first;
  }

 private:
  chebyshev_recurrence recurrence_;
  std::vector<preconditioned_share<T>> gpus_;
  std::vector<array<T>> inverse_, iterates_[2];
  team_vector<T> whole_[2];
};

}  // namespace

template <real T>
std::unique_ptr<shared_preconditioner<T>> share(const device& home, const shared_polynomial<T>& M,
                                                std::span<const preconditioned_share<T>> gpus) {
  return std::make_unique<polynomial_on_gpus<T>>(home, M, gpus);
}

template std::unique_ptr<shared_preconditioner<float>> share(const device&, const shared_polynomial<float>&,
                                                             std::span<const preconditioned_share<float>>);
template std::unique_ptr<shared_preconditioner<double>> share(const device&, const shared_polynomial<double>&,
                                                              std::span<const preconditioned_share<double>>);

}  // namespace vouch
