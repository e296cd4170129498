#include <limits>

#include <vouch/core/launch.cuh>
#include <vouch/core/scan_and_sort.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;
constexpr std::int32_t no_column = std::numeric_limits<std::int32_t>::max();

// Walks B neighbouring rows of a CSR matrix at once, block column by block column.
template <class T, int B>
struct block_row_walk {
  csr_view<const T> A;
  std::int64_t at[B];
  std::int64_t end[B];

  __device__ block_row_walk(csr_view<const T> matrix, std::int64_t block_row) : A(matrix) {
    for (int r = 0; r < B; ++r) {
      at[r] = A.row_ptr[block_row * B + r];
      end[r] = A.row_ptr[block_row * B + r + 1];
    }
  }
  /// The leftmost block column that has entries left, or no_column.
  __device__ std::int32_t column() const {
    std::int32_t least = no_column;
    for (int r = 0; r < B; ++r)
      if (at[r] < end[r]) least = min(least, A.col[at[r]] / B);
    return least;
  }
  /// Passes the entries of that block column, giving each to visit(r, c, value).
  template <class Visit>
  __device__ void pass(std::int32_t block_column, Visit visit) {
    for (int r = 0; r < B; ++r)
      for (; at[r] < end[r] && A.col[at[r]] / B == block_column; ++at[r])
        visit(r, A.col[at[r]] % B, A.val[at[r]]);
  }
};

struct block_row_facts {
  std::int32_t blocks;
  std::int32_t first;  // block columns
  std::int32_t last;
};

// A thread takes a block row.
template <class T, int B>
__global__ void __launch_bounds__(block) count_blocks(csr_view<const T> A, block_row_facts* facts) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= A.rows / B) return;
  block_row_walk<T, B> walk(A, i);
  block_row_facts mine{0, no_column, -1};
  for (std::int32_t j = walk.column(); j != no_column; j = walk.column()) {
    mine.first = min(mine.first, j);
    mine.last = j;
    ++mine.blocks;
    walk.pass(j, [](int, int, T) {});
  }
  facts[i] = mine;
}

struct totals {
  unsigned long long blocks;
  unsigned too_long;  // block rows with more blocks than a slot can say
  unsigned wide;      // slices whose columns span 2^16 or more
};

// A thread takes two neighbouring rows, and leaves once another has met a block that is not [a -b; b a].
template <class T>
__global__ void __launch_bounds__(block) find_other_block(csr_view<const T> A, int* found) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= A.rows / 2 || *static_cast<const volatile int*>(found) != 0) return;
  block_row_walk<T, 2> walk(A, i);
  bool all = true;
  for (std::int32_t j = walk.column(); j != no_column && all; j = walk.column()) {
    T entry[2][2] = {};
    walk.pass(j, [&](int r, int c, T value) {
      if (r == 0 && c == 0) entry[0][0] = value;
      if (r == 0 && c == 1) entry[0][1] = value;
      if (r == 1 && c == 0) entry[1][0] = value;
      if (r == 1 && c == 1) entry[1][1] = value;
    });
    all = entry[0][0] == entry[1][1] && entry[0][1] == -entry[1][0];
  }
  if (!all) *found = 1;
}

// A block orders a window: falling number of blocks, equal ones as they come. Thread k counts who stands before
// block row k; then thread s takes slice s.
template <int slice_rows>
__global__ void __launch_bounds__(512)
    order_windows(const block_row_facts* facts, std::int64_t block_rows, std::uint32_t* order,
                  slice_place* slices, std::int64_t* widths, totals* sums) {
  constexpr int slices_a_window = sliced_layout<double>::slices_a_window;
  constexpr int size = slice_rows * slices_a_window;
  __shared__ std::int32_t length[size];
  __shared__ int standing[size];
  const int k = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * size;
  if (k < size) length[k] = first + k < block_rows ? facts[first + k].blocks : -1;
  __syncthreads();
  if (k < size) {
    int before = 0;
    for (int other = 0; other < size; ++other)
      before += length[other] > length[k] || (length[other] == length[k] && other < k);
    standing[before] = k;
    const bool present = length[k] >= 0;
    order[first + before] = present
                                ? static_cast<std::uint32_t>(length[k]) << 16 | static_cast<std::uint32_t>(k)
                                : sliced_layout<double>::absent;
    if (length[k] > sliced_layout<double>::longest) atomicAdd(&sums->too_long, 1u);
  }
  const unsigned blocks = __reduce_add_sync(~0u, k < size ? static_cast<unsigned>(max(0, length[k])) : 0u);
  if (k % 32 == 0 && blocks > 0) atomicAdd(&sums->blocks, static_cast<unsigned long long>(blocks));
  __syncthreads();
  if (k >= slices_a_window) return;
  std::int32_t low = no_column, high = -1;
  for (int l = k * slice_rows; l < (k + 1) * slice_rows; ++l) {
    if (length[standing[l]] <= 0) continue;
    low = min(low, facts[first + standing[l]].first);
    high = max(high, facts[first + standing[l]].last);
  }
  if (high >= 0 && high - low > 0xffff) atomicAdd(&sums->wide, 1u);
  const std::int32_t width = max(0, length[standing[k * slice_rows]]);
  const std::int64_t slice = std::int64_t{blockIdx.x} * slices_a_window + k;
  slices[slice] = {0, high >= 0 ? low : 0, width};
  widths[slice] = width;
}

// With 32-bit indices the base is not used.
__global__ void __launch_bounds__(block)
    place_slices(const std::int64_t* starts, std::int64_t count, bool short_index, slice_place* slices) {
  const std::int64_t s = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (s >= count) return;
  slices[s].start = starts[s];
  if (!short_index) slices[s].base = 0;
}

// A thread takes a slot, whose places nobody else writes. Of complex blocks the first column is kept.
template <class T, int B, bool Complex, class Index>
__global__ void __launch_bounds__(block)
    fill_slots(csr_view<const T> A, sliced_layout<T> shape, Index* index, T* val) {
  constexpr int slice_rows = Complex ? 32 : 32 / B, lanes = slice_rows * B;
  constexpr int window_rows = slice_rows * sliced_layout<T>::slices_a_window;
  const std::int64_t slot = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (slot >= shape.windows * window_rows) return;
  const std::uint32_t local = shape.order[slot] & 0xffff;
  if (local == sliced_layout<T>::absent) return;
  const slice_place place = shape.slices[slot / slice_rows];
  const std::int64_t l = slot % slice_rows;
  block_row_walk<T, B> walk(A, slot / window_rows * window_rows + local);
  std::int64_t step = place.start;
  for (std::int32_t j = walk.column(); j != no_column; j = walk.column(), ++step) {
    index[step * slice_rows + l] = static_cast<Index>(j - place.base);
    T* const here = val + step * (Complex ? lanes : B * lanes) + l * B;
    walk.pass(j, [here](int r, int c, T value) {
      if (!Complex)
        here[r * lanes + c] = value;
      else if (c == 0)
        here[r] = value;
    });
  }
}

template <int B, int slice_rows, class T>
void order_slices(const device& dev, csr_view<const T> A, sliced_storage<T>& storage,
                  array<std::int64_t>& widths, array<totals>& sums) {
  const std::int64_t block_rows = A.rows / B;
  array<block_row_facts> facts(dev, block_rows);
  launch(dev, "count_blocks", {ceil_div(block_rows, std::int64_t{block}), block}, count_blocks<T, B>, A,
         facts.data());
  launch(dev, "order_windows", {storage.shape.windows, 512}, order_windows<slice_rows>,
         static_cast<const block_row_facts*>(facts.data()), block_rows, storage.order.data(),
         storage.slices.data(), widths.data(), sums.data());
  dev.synchronize();  // facts goes
}

template <class T, int B, bool Complex = false>
void fill(const device& dev, csr_view<const T> A, sliced_storage<T>& storage) {
  const std::int64_t slots = storage.order.size();
  const launch_shape shape{ceil_div(slots, std::int64_t{block}), block};
  if (storage.shape.short_index)
    launch(dev, "fill_slots", shape, fill_slots<T, B, Complex, std::uint16_t>, A, storage.shape,
           storage.short_index.data(), storage.val.data());
  else
    launch(dev, "fill_slots", shape, fill_slots<T, B, Complex, std::int32_t>, A, storage.shape,
           storage.long_index.data(), storage.val.data());
}

}  // namespace

template <real T>
std::int64_t sliced_storage<T>::bytes() const {
  const auto index_size =
      static_cast<std::int64_t>(shape.short_index ? sizeof(std::uint16_t) : sizeof(std::int32_t));
  return blocks * (shape.values() * static_cast<std::int64_t>(sizeof(T)) + index_size) + order.size() * 4 +
         slices.size() * static_cast<std::int64_t>(sizeof(slice_place));
}

template <real T>
std::int64_t sliced_storage<T>::held_bytes() const {
  const std::int64_t places = shape.steps * shape.slice_rows();
  return places * (shape.values() * static_cast<std::int64_t>(sizeof(T)) + (shape.short_index ? 2 : 4));
}

template <real T>
std::optional<sliced_storage<T>> plan_slices_cuda(const device& dev, csr_view<const T> A, int b, bool complex) {
  if (A.rows % b != 0 || A.cols % b != 0) return {};
  sliced_storage<T> storage;
  sliced_layout<T>& shape = storage.shape;
  shape.rows = A.rows;
  shape.cols = A.cols;
  shape.b = b;
  shape.complex = complex;
  shape.windows = ceil_div(A.rows, std::int64_t{shape.window_rows()});
  if (shape.windows == 0) return storage;
  const std::int64_t slices = shape.windows * sliced_layout<T>::slices_a_window;
  storage.slices = array<slice_place>(dev, slices);
  storage.order = array<std::uint32_t>(dev, slices * shape.slice_rows());
  array<std::int64_t> widths(dev, slices), starts(dev, slices);
  auto sums = array<totals>::zeros(dev, 1);
  if (b == 1) order_slices<1, 32>(dev, A, storage, widths, sums);
  if (b == 2 && !complex) order_slices<2, 16>(dev, A, storage, widths, sums);
  if (b == 2 && complex) order_slices<2, 32>(dev, A, storage, widths, sums);
  if (b == 3) order_slices<3, 10>(dev, A, storage, widths, sums);
  const totals found = sums.to_vector()[0];
  if (found.too_long > 0) return {};
  storage.blocks = static_cast<std::int64_t>(found.blocks);
  shape.short_index = found.wide == 0;
  exclusive_scan(dev, widths.data(), starts.data(), widths.size());
  launch(dev, "place_slices", {ceil_div(slices, std::int64_t{block}), block}, place_slices,
         static_cast<const std::int64_t*>(starts.data()), slices, shape.short_index, storage.slices.data());
  slice_place last;
  copy_bytes(&last, device::cpu(1), storage.slices.data() + slices - 1, dev, sizeof last);
  shape.steps = last.start + last.width;
  shape.slices = storage.slices.data();
  shape.order = storage.order.data();
  return storage;
}

template <real T>
void fill_slices_cuda(const device& dev, csr_view<const T> A, sliced_storage<T>& storage) {
  sliced_layout<T>& shape = storage.shape;
  const std::int64_t places = shape.steps * shape.slice_rows();
  if (shape.short_index)
    storage.short_index = array<std::uint16_t>::zeros(dev, places);
  else
    storage.long_index = array<std::int32_t>::zeros(dev, places);
  storage.val = array<T>::zeros(dev, places * shape.values());
  shape.index = shape.short_index ? static_cast<const void*>(storage.short_index.data())
                                  : static_cast<const void*>(storage.long_index.data());
  shape.val = storage.val.data();
  if (shape.b == 1) fill<T, 1>(dev, A, storage);
  if (shape.b == 2 && !shape.complex) fill<T, 2>(dev, A, storage);
  if (shape.b == 2 && shape.complex) fill<T, 2, true>(dev, A, storage);
  if (shape.b == 3) fill<T, 3>(dev, A, storage);
  dev.synchronize();
}

template <real T>
bool holds_complex_numbers_cuda(const device& dev, csr_view<const T> A) {
  auto found = array<int>::zeros(dev, 1);
  if (A.rows > 0)
    launch(dev, "find_other_block", {ceil_div(A.rows / 2, std::int64_t{block}), block}, find_other_block<T>, A,
           found.data());
  return found.to_vector()[0] == 0;
}

template bool holds_complex_numbers_cuda(const device&, csr_view<const float>);
template bool holds_complex_numbers_cuda(const device&, csr_view<const double>);
template struct sliced_storage<float>;
template struct sliced_storage<double>;
template std::optional<sliced_storage<float>> plan_slices_cuda(const device&, csr_view<const float>, int, bool);
template std::optional<sliced_storage<double>> plan_slices_cuda(const device&, csr_view<const double>, int,
                                                                bool);
template void fill_slices_cuda(const device&, csr_view<const float>, sliced_storage<float>&);
template void fill_slices_cuda(const device&, csr_view<const double>, sliced_storage<double>&);

}  // namespace vouch::detail
