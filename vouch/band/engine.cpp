#include <vouch/band/engine.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/band/elimination.hpp>
#include <vouch/band/gpu/check_cuda.hpp>
#include <vouch/band/reduced_block.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail {
namespace {

using method = tridiagonal_method;

// Where the rows of many short systems need interchanges, whole systems side by side do better than segments.
bool side_by_side(const batch_shape& b, bool periodic) {
  return !periodic && b.systems >= 8 && b.n < 8 * partition_least;
}

// ---- systems in double precision solved in single precision

// The systems in single precision, one after another.
struct single_systems {
  batch_shape shape;
  array<float> dl, d, du, b;
  std::vector<double> size;  // of the right-hand side of each system, in its balanced rows

  explicit single_systems(const batch_shape& of)
      : shape(of.offsets != nullptr ? of : contiguous(of.n, of.systems)),
        size(static_cast<std::size_t>(of.systems)) {
    const std::int64_t rows = of.offsets != nullptr ? of.offsets[of.systems] : of.n * of.systems;
    for (array<float>* a : {&dl, &d, &du, &b}) *a = array<float>(device::cpu(1), rows);
  }

  void take(const tridiagonal_view<const double>& A, const batch_view<const double>& rhs, std::int64_t s) {
    const std::int64_t n = shape.rows(s);
    double& largest = size[static_cast<std::size_t>(s)];
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(rhs(s, i)) * power(A, s, i));
    if (!(largest > 0)) largest = 1;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t from = A.shape.at(s, i), to = shape.at(s, i);
      const double p = power(A, s, i);
      dl[to] = i > 0 || A.periodic ? static_cast<float>(A.dl[from] * p) : 0;
      d[to] = static_cast<float>(A.d[from] * p);
      du[to] = i + 1 < n || A.periodic ? static_cast<float>(A.du[from] * p) : 0;
      b[to] = static_cast<float>(rhs(s, i) * p / largest);
    }
  }

 private:
  double power(const tridiagonal_view<const double>& A, std::int64_t s, std::int64_t i) const {
    const std::int64_t at = A.shape.at(s, i);
    double largest = std::fabs(A.d[at]);
    if (i > 0 || A.periodic) largest = std::max(largest, std::fabs(A.dl[at]));
    if (i + 1 < shape.rows(s) || A.periodic) largest = std::max(largest, std::fabs(A.du[at]));
    return balancing_power_of(largest);
  }
};

struct rounded_answer {
  batch_view<float> x;
  array<float> apart;  // x lies here, where it does not take the right-hand side's place
  std::string engine;
};

rounded_answer solve_rounded(const device& dev, method how, const tridiagonal_view<const float>& A,
                             const batch_view<float>& b, elimination_facts* facts,
                             tridiagonal_workspace& workspace) {
  rounded_answer answer{b, {}, {}};
  if (how != method::partition) {
    answer.apart = array<float>(dev, b.shape.extent());
    answer.x.data = answer.apart.data();
  }
  band_engine<float> engine(dev, how, false, A, &workspace);
  engine.solve(b, answer.x, facts);
  answer.engine = engine.name() + ", in single precision";
  return answer;
}

// The same on a GPU: every row is scaled alone, and the unknowns are not.
std::string solve_in_single_on_gpu(const device& dev, method how, const tridiagonal_view<const double>& A,
                                   const batch_view<const double>& b, const batch_view<double>& x,
                                   elimination_facts* facts, tridiagonal_workspace& workspace) {
  std::string engine;
  if constexpr (built_with_cuda) {
    const batch_shape shape = b.shape.offsets != nullptr ? b.shape : contiguous(b.shape.n, b.shape.systems);
    const std::int64_t size = shape.offsets != nullptr ? shape.offsets[shape.systems] : shape.n * shape.systems;
    array<float> dl(dev, size), d(dev, size), du(dev, size), f(dev, size);
    const tridiagonal_view<float> single{dl.data(), d.data(), du.data(), shape, A.periodic};
    round_rows_cuda(dev, A, b, single, f.data());
    const rounded_answer answer = solve_rounded(dev, how, single, {f.data(), shape}, facts, workspace);
    widen_cuda(dev, answer.x, x);
    engine = answer.engine;
  }
  return engine;
}

// x := about A^-1 b, eliminated in float: rows are scaled to size 1 by powers of two before they are rounded,
// the right-hand side of each system as well.
//
// facts may be nullptr on a GPU. Returns which implementation solved.
std::string solve_in_single(const device& dev, method how, const tridiagonal_view<const double>& A,
                            const batch_view<const double>& b, const batch_view<double>& x,
                            elimination_facts* facts, tridiagonal_workspace& workspace) {
  if (dev.is_cuda()) return solve_in_single_on_gpu(dev, how, A, b, x, facts, workspace);
  single_systems systems(b.shape);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (b.shape.systems > 1)
  for (std::int64_t s = 0; s < b.shape.systems; ++s) systems.take(A, b, s);
  const rounded_answer answer = solve_rounded(
      dev, how, {systems.dl.data(), systems.d.data(), systems.du.data(), systems.shape, A.periodic},
      {systems.b.data(), systems.shape}, facts, workspace);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (b.shape.systems > 1)
  for (std::int64_t s = 0; s < b.shape.systems; ++s)
    for (std::int64_t i = 0; i < b.shape.rows(s); ++i)
      x(s, i) = double{answer.x(s, i)} * systems.size[static_cast<std::size_t>(s)];
  return answer.engine;
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
    name_ = "systems side by side in vectors, row interchanges";
  } else {
    solve_partition(dev_, A_, b, x, facts);
    name_ = "segments side by side in vectors, row interchanges";
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
