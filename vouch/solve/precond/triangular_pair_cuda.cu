// The two sweeps on a GPU. Rows are renumbered by level sets, so a set is a range of rows; the matrix's
// numberings of rows and of columns appear only where r is read and z written. A small system is one block whose shared memory holds
// the vector and whose barriers stand between the sets; a large one is a kernel a set.
#include <cuda_runtime.h>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/sliced.cuh>
#include <vouch/solve/precond/triangular_pair.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 256;               // threads of a kernel for one set
constexpr unsigned big_block = 1024;          // threads of the one block
constexpr std::int64_t many_threads = 65536;  // work for all multiprocessors
// A kernel a set costs some 1.5 us more than a barrier in a block; in that time one multiprocessor takes in
// about this many bytes from the second-level cache. Two sweeps: two barriers a set.
constexpr std::int64_t bytes_a_barrier_saves = 144 * 1024;

template <class T>
struct pair_arguments {
  slices<T> lower, upper;
  std::int64_t sets;
  const std::int32_t* source;  // the element of r that belongs to each row
  const std::int32_t* place;   // the element of z
  const T* inverse;
  const T* r;
  T* z;
};

// w := L^-1 r on the rows of one slice; those of the last set are complete with D^-1 and leave as z, because
// nothing of U refers to a later set.
template <class T>
__device__ void forward_slice(const pair_arguments<T>& a, const sweep_set& set, std::int64_t slice, bool last,
                              T* w) {
  const unsigned lanes = static_cast<unsigned>(set.lanes);
  const unsigned lane = threadIdx.x % 32;
  const std::int64_t row = set.first_row + slice * (32 / lanes) + lane / lanes;
  const bool mine = lane % lanes == 0 && row < set.end_row;
  const T right = mine ? a.r[__ldg(a.source + row)] : T{};
  const T sum = row_sum(a.lower, set.first_slice + slice, lanes, w);
  if (!mine) return;
  const T value = last ? (right - sum) * __ldg(a.inverse + row) : right - sum;
  w[row] = value;
  if (last) a.z[__ldg(a.place + row)] = value;
}

// w := U^-1 D^-1 w in place on the rows of one slice, and z: a row reads its own w and those of later sets,
// which are complete.
template <class T>
__device__ void backward_slice(const pair_arguments<T>& a, const sweep_set& set, std::int64_t slice, T* w) {
  const unsigned lanes = static_cast<unsigned>(set.lanes);
  const unsigned lane = threadIdx.x % 32;
  const std::int64_t row = set.first_row + slice * (32 / lanes) + lane / lanes;
  const bool mine = lane % lanes == 0 && row < set.end_row;
  const std::int32_t place = mine ? __ldg(a.place + row) : 0;
  const T right = mine ? w[row] * __ldg(a.inverse + row) : T{};
  const T sum = row_sum(a.upper, set.first_slice + slice, lanes, w);
  if (!mine) return;
  w[row] = right - sum;
  a.z[place] = right - sum;
}

// One warp a slice. Bound by memory where a set is large: 12 bytes an entry, by latency where it is small.
template <class T>
__global__ void __launch_bounds__(block)
    forward_set_kernel(pair_arguments<T> a, sweep_set set, bool last, T* w) {
  const std::int64_t slice = (std::int64_t{blockIdx.x} * block + threadIdx.x) / 32;
  if (slice < set.slices()) forward_slice(a, set, slice, last, w);  // whole warps
}

template <class T>
__global__ void __launch_bounds__(block) backward_set_kernel(pair_arguments<T> a, sweep_set set, T* w) {
  const std::int64_t slice = (std::int64_t{blockIdx.x} * block + threadIdx.x) / 32;
  if (slice < set.slices()) backward_slice(a, set, slice, w);
}

// One block, one warp a slice at a time, w in shared memory. The next set's entry of the table is on its way
// while this set is solved. Bound by latency: some loads from the second-level cache and a barrier a set.
template <class T>
__global__ void __launch_bounds__(big_block) solve_in_one_block_kernel(pair_arguments<T> a) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* w = reinterpret_cast<T*>(memory);
  constexpr unsigned warps = big_block / 32;
  const unsigned warp = threadIdx.x / 32;
  sweep_set next = a.lower.sets[0];
  for (std::int64_t s = 0; s < a.sets; ++s) {
    const sweep_set set = next;
    if (s + 1 < a.sets) next = a.lower.sets[s + 1];
    for (std::int64_t slice = warp; slice < set.slices(); slice += warps)
      forward_slice(a, set, slice, s + 1 == a.sets, w);
    __syncthreads();
  }
  if (a.sets > 1) next = a.upper.sets[a.sets - 2];
  for (std::int64_t s = a.sets - 2; s >= 0; --s) {
    const sweep_set set = next;
    if (s > 0) next = a.upper.sets[s - 1];
    for (std::int64_t slice = warp; slice < set.slices(); slice += warps) backward_slice(a, set, slice, w);
    __syncthreads();
  }
}

int shared_limit(const device& dev) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev.index()),
        "reading the GPU's properties");
  return bytes;
}

// True where one block is faster than a kernel a set and its shared memory holds the vector.
template <class T>
bool one_block_pays(const device& dev, const factored_matrix& F) {
  const auto entry_bytes = static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
  const std::int64_t bytes = F.triangle_entries() * entry_bytes;
  return F.rows() * static_cast<std::int64_t>(sizeof(T)) <= shared_limit(dev) &&
         bytes <= F.levels.count() * bytes_a_barrier_saves;
}

std::vector<std::int32_t> inverse_order(const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    position[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  return position;
}

template <class Element>
std::vector<Element> picked(const std::vector<Element>& all, const std::vector<std::int32_t>& rows) {
  std::vector<Element> result;
  result.reserve(all.size());
  for (const std::int32_t i : rows) result.push_back(all[static_cast<std::size_t>(i)]);
  return result;
}

template <real T>
slices_on_gpu<T> make_side(const device& dev, const sparse_rows& L, const factored_matrix& F, bool one_block) {
  const sparse_rows renamed =
      renumbered(L, F.levels.rows, inverse_order(F.levels.rows), device::cpu().threads());
  return {dev, make_sliced<T>(renamed, F.levels.start, one_block ? big_block : many_threads)};
}

template <real T>
class pair_on_gpu final : public preconditioner<T> {
 public:
  pair_on_gpu(const device& dev, const factored_matrix& F, std::string name)
      : name_(std::move(name)),
        one_block_(one_block_pays<T>(dev, F)),
        rows_(F.rows()),
        source_(array<std::int32_t>::from(
            dev, F.sources.empty() ? std::vector<std::int32_t>{} : picked(F.sources, F.levels.rows))),
        place_(array<std::int32_t>::from(
            dev, F.order.order.empty() ? F.levels.rows : picked(F.order.order, F.levels.rows))),
        inverse_(array<T>::from(dev, picked(inverted<T>(F.factor.pivots), F.levels.rows))),
        lower_(make_side<T>(dev, F.factor.lower, F, one_block_)),
        upper_(make_side<T>(dev, F.factor.upper, F, one_block_)),
        work_(array<T>::zeros(dev, one_block_ ? 0 : rows_)) {
    if (one_block_)  // all of it: the limit is the kernel's, and shared by all that use it
      check(cudaFuncSetAttribute(solve_in_one_block_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 shared_limit(dev)),
            "asking for shared memory");
  }

  std::string name() const override { return name_; }
  std::int64_t rows() const override { return rows_; }

  void apply(const device& dev, view<const T> r, view<T> z) const override {
    this->require_lengths(r, z);
    if (rows_ == 0) return;
    const pair_arguments<T> a{lower_.arguments(),
                              upper_.arguments(),
                              static_cast<std::int64_t>(lower_.sets.size()),
                              source_.size() > 0 ? source_.data() : place_.data(),
                              place_.data(),
                              inverse_.data(),
                              r.data(),
                              z.data()};
    if (one_block_)
      launch(dev, "solve_in_one_block", {1, big_block, vector_bytes()}, solve_in_one_block_kernel<T>, a);
    else
      solve_by_sets(dev, a);
  }

 private:
  unsigned vector_bytes() const { return static_cast<unsigned>(rows_ * static_cast<std::int64_t>(sizeof(T))); }
  static launch_shape shape(const sweep_set& set) {
    return {ceil_div<std::int64_t>(set.slices() * 32, block), block};
  }

  void solve_by_sets(const device& dev, const pair_arguments<T>& a) const {
    for (std::size_t s = 0; s < lower_.sets.size(); ++s)
      launch(dev, "forward_set", shape(lower_.sets[s]), forward_set_kernel<T>, a, lower_.sets[s],
             s + 1 == lower_.sets.size(), work_.data());
    for (std::size_t s = upper_.sets.size() - 1; s-- > 0;)
      launch(dev, "backward_set", shape(upper_.sets[s]), backward_set_kernel<T>, a, upper_.sets[s],
             work_.data());
  }

  std::string name_;
  bool one_block_;
  std::int64_t rows_;
  array<std::int32_t> source_;  // empty: as place_
  array<std::int32_t> place_;
  array<T> inverse_;
  slices_on_gpu<T> lower_, upper_;
  mutable array<T> work_;
};

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> triangular_pair_cuda(const device& dev, const factored_matrix& F,
                                                        std::string name) {
  return std::make_unique<pair_on_gpu<T>>(dev, F, std::move(name));
}

template std::unique_ptr<preconditioner<float>> triangular_pair_cuda(const device&, const factored_matrix&,
                                                                     std::string);
template std::unique_ptr<preconditioner<double>> triangular_pair_cuda(const device&, const factored_matrix&,
                                                                      std::string);

}  // namespace vouch
