#include <vouch/band/engine.hpp>
#include <vouch/band/mixed.hpp>
#include <vouch/band/partition_cuda.hpp>
#include <vouch/band/reduction_cuda.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>

namespace vouch::detail {
namespace {

using method = tridiagonal_method;

// Where the rows of many short systems need interchanges, whole systems side by side do better than pieces.
bool side_by_side(const batch_shape& b, bool periodic) {
  return !periodic && b.systems >= 8 && b.n < 8 * partition_least;
}

}  // namespace

template <real T>
band_engine<T>::band_engine(const device& dev, tridiagonal_method how, bool mixed,
                            const tridiagonal_view<const T>& A, tridiagonal_workspace* workspace)
    : dev_(dev), method_(how), mixed_(mixed), A_(A), workspace_(workspace != nullptr ? workspace : &own_) {
  if (mixed && sizeof(T) != sizeof(double))
    throw value_error("tridiagonal solve: mixed precision gives a double answer, b and x are single");
  if (A.periodic && how != method::partition)
    throw value_error(std::string("tridiagonal solve: ") + vouch::name(how) + " cannot do periodic systems",
                      "use partition");
}

template <real T>
void band_engine<T>::solve(const batch_view<const T>& b, const batch_view<T>& x, elimination_facts* facts) {
  std::vector<elimination_facts> unasked;
  if (facts == nullptr && !dev_.is_cuda()) {
    unasked.resize(static_cast<std::size_t>(b.shape.systems));
    facts = unasked.data();
  }
  if (mixed_) {
    if constexpr (sizeof(T) == sizeof(double))
      name_ = solve_in_single(dev_, method_, A_, b, x, facts, *workspace_);
  } else if (dev_.is_cuda()) {
    solve_on_gpu(b, x, facts);
  } else {
    solve_on_cpu(b, x, facts);
  }
}

template <real T>
void band_engine<T>::solve_on_cpu(const batch_view<const T>& b, const batch_view<T>& x,
                                  elimination_facts* facts) {
  name_ = "a system a thread";
  if (method_ == method::thomas) {
    solve_thomas(dev_, A_, b, x, facts);
    name_ = b.shape.systems > 1 ? "systems side by side in vectors" : "one sweep down, one up";
  } else if (method_ == method::cyclic_reduction) {
    solve_cyclic_reduction(dev_, A_, b, x, facts);
  } else if (method_ == method::pcr) {
    solve_pcr(dev_, A_, b, x, facts);
  } else if (side_by_side(b.shape, A_.periodic)) {
    solve_pivoted(dev_, A_, b, x, facts);
    name_ = "systems side by side in vectors, rows change places";
  } else {
    solve_partition(dev_, A_, b, x, facts);
    name_ = "pieces side by side in vectors, rows change places";
  }
}

template <real T>
void band_engine<T>::solve_on_gpu(const batch_view<const T>& b, const batch_view<T>& x,
                                  elimination_facts* facts) {
  if constexpr (built_with_cuda) {
    if (method_ == method::thomas) {
      thomas_cuda(dev_, A_, b, x, *workspace_);
      name_ = "a thread a system";
    } else if (method_ == method::cyclic_reduction) {
      cyclic_reduction_cuda(dev_, A_, b, x, *workspace_);
      name_ = "a kernel a level";
    } else if (method_ == method::pcr) {
      pcr_cuda(dev_, A_, b, x, *workspace_);
      name_ = "a kernel a level";
    } else if (facts == nullptr) {
      name_ = partition_cuda(dev_, A_, b, x, nullptr, *workspace_);
    } else {
      array<int> broken = array<int>::zeros(dev_, b.shape.systems);
      name_ = partition_cuda(dev_, A_, b, x, broken.data(), *workspace_);
      const std::vector<int> all = broken.to_vector();
      for (std::size_t s = 0; s < all.size(); ++s) facts[s].broken = all[s] != 0;
    }
  }
}

template class band_engine<float>;
template class band_engine<double>;

}  // namespace vouch::detail
