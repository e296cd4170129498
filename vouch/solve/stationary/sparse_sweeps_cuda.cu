// Sweeps over a CSR matrix on a GPU: rows renumbered by the sets that can be taken side by side, laid out for
// warps. What the proofs need of the matrix comes from a copy on the host, from which the layout is made.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/device_sweeps.cuh>
#include <vouch/solve/stationary/independent_rows.hpp>
#include <vouch/solve/stationary/sparse_rows.cuh>
#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch {
namespace {

// A barrier of all blocks takes about 1 us longer than one of a single block's threads; in that time one
// multiprocessor takes in about this many bytes from the second-level cache.
constexpr std::int64_t bytes_a_barrier_costs = 96 * 1024;
constexpr std::int64_t many_threads = 65536;                        // work for all multiprocessors
constexpr std::int64_t bytes_of_large = std::int64_t{16} << 20;     // a kernel for each sweep of Jacobi's
constexpr std::int64_t bytes_of_large_set = std::int64_t{8} << 20;  // a kernel for each set

template <real T>
sparse_rows widened(csr_view<const T> A) {
  sparse_rows all;
  all.row_ptr.assign(A.row_ptr, A.row_ptr + A.rows + 1);
  all.col.assign(A.col, A.col + A.nonzeros);
  all.val.assign(A.val, A.val + A.nonzeros);
  return all;
}

std::vector<std::int32_t> inverse_of(const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    position[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  return position;
}

independent_rows all_at_once(std::int64_t n) {
  independent_rows one{{0, n}, std::vector<std::int32_t>(static_cast<std::size_t>(n))};
  std::iota(one.rows.begin(), one.rows.end(), 0);
  return one;
}

// That a sweep moves.
template <class T>
std::int64_t bytes_of(csr_view<const T> A) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T)), column = std::int64_t{sizeof(std::int32_t)};
  return A.nonzeros * (size + column) + 4 * A.rows * size;
}

template <real T>
sliced_storage<T> make_storage(const device& dev, csr_view<const T> A, const independent_rows& sets,
                               bool reordered, const std::string& what) {
  const std::int64_t bytes = bytes_of(A);
  const bool one_block = bytes <= sets.count() * bytes_a_barrier_costs;
  sparse_rows all = widened(A);
  if (reordered) all = renumbered(all, sets.rows, inverse_of(sets.rows), device::cpu().threads());
  slices_on_gpu<T> side(
      dev, make_sliced<T>(all, sets.start,
                          one_block ? static_cast<std::int64_t>(device_sweeps::threads) : many_threads));
  std::int64_t most = 1;
  for (const sweep_set& set : side.sets) most = std::max(most, set.slices());
  const std::int64_t blocks =
      one_block ? 1 : std::min<std::int64_t>(dev.processors(), ceil_div<std::int64_t>(most, 4));
  return {std::move(side),
          reordered ? array<std::int32_t>::from(dev, sets.rows) : array<std::int32_t>{},
          A.rows,
          A.rows,
          bytes,
          blocks,
          "csr in slices" + what};
}

template <real T>
class sparse_matrix_on_gpu final : public iteration_matrix<T> {
 public:
  sparse_matrix_on_gpu(const device& dev, csr_view<const T> A)
      : A_(A), copy_(copy(device::cpu(), dev, A)), host_(make_iteration_matrix<T>(copy_.all())) {}

  std::int64_t rows() const override { return A_.rows; }
  T diagonal(std::int64_t i) const override { return host_->diagonal(i); }
  void off_diagonal_sums(const device&, const double* v, double* sums) const override {
    host_->off_diagonal_sums(device::cpu(), v, sums);
  }
  void off_diagonal_column_sums(const device&, double* sums) const override {
    host_->off_diagonal_column_sums(device::cpu(), sums);
  }
  residual_facts residual(const device& dev, view<const T> b, const T* x, const T* x_lo, T* r) const override {
    return vouch::residual<T>(dev, A_, b, {x, A_.rows}, x_lo, {r, A_.rows});
  }
  void residual_bound(const device& dev, view<const T> b, view<const T> x, view<double> bound) const override {
    host_->residual_bound(device::cpu(), brought(dev, b), brought(dev, x), bound);
  }

  std::unique_ptr<inner_solver<T>> make_engine(const device& dev, const sweep_rule& rule, bool by_residual,
                                               const acceleration& accelerate) const override {
    std::string what;
    const independent_rows sets = sets_of(rule, what);
    std::vector<T> factor(static_cast<std::size_t>(A_.rows));
    for (std::size_t k = 0; k < factor.size(); ++k)
      factor[k] = static_cast<T>(rule.omega / static_cast<double>(host_->diagonal(sets.rows[k])));
    const bool mixed = accelerate.anderson > 0;
    if (rule.simultaneous && !mixed && bytes_of(A_) >= bytes_of_large)
      return make_jacobi_graph<T>(dev, A_, array<T>::from(dev, factor), rule, by_residual,
                                  accelerate.chebyshev);
    const bool reordered = sets.count() > 1;
    sliced_storage<T> storage = make_storage<T>(dev, copy_.all(), sets, reordered, what);
    const bool plain = rule.order != sweep_order::symmetric && !mixed && !accelerate.chebyshev;
    if (plain && reordered && storage.bytes >= sets.count() * bytes_of_large_set)
      return make_colours_graph<T>(dev, std::move(storage), array<T>::from(dev, factor), rule, by_residual);
    using engine = device_sweeps::engine<T, sliced_storage<T>>;
    return std::make_unique<engine>(dev, std::move(storage), array<T>::from(dev, factor),
                                    device_sweeps::manner{rule, by_residual, accelerate});
  }

 private:
  independent_rows sets_of(const sweep_rule& rule, std::string& what) const {
    if (rule.simultaneous || rule.asynchronous) return all_at_once(A_.rows);
    if (rule.ordering == sweep_ordering::multicolor) {
      independent_rows colours = colour_rows(device::cpu(), copy_.all());
      what = ", " + std::to_string(colours.count()) + " colours";
      return colours;
    }
    independent_rows levels = find_independent_rows(copy_.all());
    what = ", " + std::to_string(levels.count()) + " sets of independent rows";
    return levels;
  }

  array<T> brought(const device& dev, view<const T> v) const {
    array<T> here(device::cpu(), v.size());
    copy_bytes(here.data(), device::cpu(), v.data(), dev, static_cast<std::size_t>(v.size()) * sizeof(T));
    return here;
  }

  csr_view<const T> A_;
  csr<T> copy_;
  std::unique_ptr<iteration_matrix<T>> host_;
};

}  // namespace

template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix_cuda(const device& dev, csr_view<const T> A) {
  return std::make_unique<sparse_matrix_on_gpu<T>>(dev, A);
}

template std::unique_ptr<iteration_matrix<float>> make_iteration_matrix_cuda(const device&,
                                                                             csr_view<const float>);
template std::unique_ptr<iteration_matrix<double>> make_iteration_matrix_cuda(const device&,
                                                                              csr_view<const double>);

}  // namespace vouch
