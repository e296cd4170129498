// Sweeps over a CSR matrix on a GPU: rows renumbered by the sets that can be taken side by side, laid out for
// warps. What the proofs need of the matrix comes from a copy on the host, from which the layout is made.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/device_sweeps_engine.cuh>
#include <vouch/solve/independent_rows.hpp>
#include <vouch/solve/precond/sliced.cuh>
#include <vouch/solve/sparse_jacobi.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch {
namespace {

// A meeting of all blocks takes about 1 us longer than one of a single block's threads; in that time one
// multiprocessor takes in about this many bytes from the second-level cache.
constexpr std::int64_t bytes_a_meeting_costs = 96 * 1024;
constexpr std::int64_t many_threads = 65536;                     // work for all multiprocessors
constexpr std::int64_t bytes_of_large = std::int64_t{16} << 20;  // a kernel for each sweep of Jacobi's

// The first entries of a lane's part of a slice stand in registers before the elements of d that they meet are
// complete.
template <class T>
struct sliced_rows {
  slices<T> side;
  std::int64_t count = 0;

  static constexpr int ahead = 8;
  struct entries {
    std::int64_t next = 0, end = 0;  // of the lane, beyond those here
    std::int32_t own = 0;            // the lane's row: what places without an entry multiply by zero
    bool mine = false;               // the lane ends its row
    T right{}, factor{};
    std::int32_t col[ahead] = {};
    T val[ahead] = {};
  };

  __device__ std::int64_t sets() const { return count; }
  __device__ sweep_set set(std::int64_t k) const { return side.sets[k]; }
  __device__ std::int64_t units(const sweep_set& set) const {
    const int shift = __clz(set.lanes) - 26;  // 32 / lanes rows a slice
    return (set.end_row - set.first_row + (1 << shift) - 1) >> shift;
  }
  __device__ entries fetch(const sweep_set& set, std::int64_t slice, const T* r, const T* factor) const {
    entries e;
    if (slice >= units(set)) return e;
    const int lane = static_cast<int>(threadIdx.x % 32), rows = 32 / set.lanes;
    const std::int32_t row = set.first_row + static_cast<std::int32_t>(slice) * rows + lane / set.lanes;
    e.own = min(row, set.end_row - 1);
    e.mine = lane % set.lanes == 0 && row < set.end_row;
    e.right = r[e.own];
    e.factor = factor[e.own];
    e.end = __ldg(side.slice_ptr + set.first_slice + slice + 1);
    e.next = __ldg(side.slice_ptr + set.first_slice + slice) + lane;
#pragma unroll
    for (int p = 0; p < ahead; ++p) {
      const bool there = e.next + 32 * p < e.end;
      const std::int32_t col = there ? __ldg(side.col + e.next + 32 * p) : -1;
      e.val[p] = there ? __ldg(side.val + e.next + 32 * p) : T{};
      e.col[p] = col < 0 ? e.own : col;
    }
    e.next += 32 * ahead;
    return e;
  }
  struct operands {
    T own{}, x[ahead] = {};
  };
  template <class Vector>
  __device__ operands gather(const entries& e, const Vector& d) const {
    operands o;
#pragma unroll
    for (int p = 0; p < ahead; ++p) o.x[p] = d[e.col[p]];
    o.own = d[e.own];
    return o;
  }
  template <class Vector>
  __device__ std::int64_t residual(const sweep_set& set, std::int64_t, const entries& e, const operands& o,
                                   const Vector& d, device_sweeps::found_row<T>& found) const {
    T sum{};
    found.d = o.own;
    found.factor = e.factor;
#pragma unroll
    for (int p = 0; p < ahead; ++p) sum += e.val[p] * o.x[p];
    for (std::int64_t k = e.next; k < e.end; k += 32) {
      const std::int32_t col = __ldg(side.col + k);
      sum += __ldg(side.val + k) * d[col < 0 ? e.own : col];
    }
    for (int k = set.lanes / 2; k > 0; k /= 2)
      sum += __shfl_down_sync(~0u, sum, static_cast<unsigned>(k), set.lanes);
    found.s = e.right - sum;
    return e.mine ? e.own : -1;
  }
};

template <real T>
struct sliced_storage_of_rows {
  slices_on_gpu<T> side;
  array<std::int32_t> place;
  std::int64_t n, padded, bytes, blocks;
  std::string text;

  sliced_rows<T> arguments() const { return {side.arguments(), static_cast<std::int64_t>(side.sets.size())}; }
  const std::string& name() const { return text; }
};

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
sliced_storage_of_rows<T> make_storage(const device& dev, csr_view<const T> A, const independent_rows& sets,
                                       bool reordered, const std::string& what) {
  const std::int64_t bytes = bytes_of(A);
  const bool one_block = bytes <= sets.count() * bytes_a_meeting_costs;
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
class sparse_matrix_on_gpu final : public sweepable_matrix<T> {
 public:
  sparse_matrix_on_gpu(const device& dev, csr_view<const T> A)
      : A_(A), copy_(copy(device::cpu(), dev, A)), host_(make_sweepable<T>(copy_.all())) {}

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

  std::unique_ptr<cg_engine<T>> make_engine(const device& dev, const sweep_rule& rule, bool by_residual,
                                            const acceleration& accelerate) const override {
    std::string what;
    const independent_rows sets = sets_of(rule, what);
    std::vector<T> factor(static_cast<std::size_t>(A_.rows));
    for (std::size_t k = 0; k < factor.size(); ++k)
      factor[k] = static_cast<T>(rule.omega / static_cast<double>(host_->diagonal(sets.rows[k])));
    if (rule.simultaneous && bytes_of(A_) >= bytes_of_large)
      return make_jacobi_graph<T>(dev, A_, array<T>::from(dev, factor), rule, by_residual,
                                  accelerate.chebyshev);
    const bool reordered = sets.count() > 1;
    sliced_storage_of_rows<T> storage = make_storage<T>(dev, copy_.all(), sets, reordered, what);
    using engine = device_sweeps::engine<T, sliced_storage_of_rows<T>>;
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
  std::unique_ptr<sweepable_matrix<T>> host_;
};

}  // namespace

template <real T>
std::unique_ptr<sweepable_matrix<T>> make_sweepable_cuda(const device& dev, csr_view<const T> A) {
  return std::make_unique<sparse_matrix_on_gpu<T>>(dev, A);
}

template std::unique_ptr<sweepable_matrix<float>> make_sweepable_cuda(const device&, csr_view<const float>);
template std::unique_ptr<sweepable_matrix<double>> make_sweepable_cuda(const device&, csr_view<const double>);

}  // namespace vouch
