// Products of sparse matrices on a GPU: a warp a row, with a hash table in shared memory for up to 768 entries, dense
// sums in memory for longer rows. Lanes take the products of a row side by side, in the order in which they are to be
// summed; what meets in one sum is added entry by entry of A's row, so that sums have one order.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scan_and_sort.hpp>
#include <vouch/core/scratch.cuh>
#include <vouch/sparse/trusted.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

// How a row is made: with a table of one of three sizes, or in memory.
enum kind : std::uint8_t { small, medium, large, dense, kinds };
template <kind K>
constexpr int places = K == small    ? 64
                       : K == medium ? 256
                                     : 1024;

// For a row with so many entries: a table stays a quarter empty.
VOUCH_HOST_DEVICE kind kind_of_entries(std::int64_t entries) {
  if (4 * entries <= 3 * places<small>) return small;
  if (4 * entries <= 3 * places<medium>) return medium;
  return 4 * entries <= 3 * places<large> ? large : dense;
}

// For a row that is the sum of so many products, a guess: several products meet in an entry. Who finds the table full
// tries the next kind.
VOUCH_HOST_DEVICE kind guess_kind(std::int64_t products) {
  if (products <= 16 * places<small>) return small;
  if (products <= 16 * places<medium>) return medium;
  return products <= 16 * places<large> ? large : dense;
}

template <class T>
struct factors {
  csr_view<const T> A, B;
};

template <class T>
__device__ std::int64_t count_products(const factors<T>& f, std::int64_t i) {
  std::int64_t sum = 0;
  for (std::int64_t k = f.A.row_ptr[i]; k < f.A.row_ptr[i + 1]; ++k)
    sum += f.B.row_ptr[f.A.col[k] + 1] - f.B.row_ptr[f.A.col[k]];
  return sum;
}

// The rows of one kind; nullptr: all.
struct row_list {
  const std::int32_t* rows = nullptr;
  std::int64_t count = 0;
};

template <int Places, bool with_sums>
struct table {
  std::int32_t key[Places];
  double sum[with_sums ? Places : 1];
  std::uint16_t used[with_sums ? Places : 1];
  int count;
};

constexpr std::int32_t none = -1;

// Where the column stands in the table, and whether it is new there; Places where there is no place left.
template <int Places>
__device__ int find_place(std::int32_t* key, std::int32_t col, bool& is_new) {
  unsigned at = (static_cast<unsigned>(col) * 0x9e3779b1u) >> 7;
  for (int tries = 0; tries < Places; ++tries, ++at) {
    at %= Places;
    const std::int32_t there = *static_cast<volatile std::int32_t*>(key + at);
    if (there == col) return static_cast<int>(at);
    if (there != none) continue;
    const std::int32_t before = atomicCAS(key + at, none, col);
    is_new = before == none;
    if (is_new || before == col) return static_cast<int>(at);
  }
  return Places;
}

// A product that a lane has: with the entry of A's row that it comes from, counted within 32 of them.
template <class T>
struct lane_product {
  bool present;
  int entry;
  std::int64_t at;  // in B
  T factor;         // of A
};

// visit(product, first, last) for all products of row i, 32 at a time, first to last the entries of A's row that they
// come from; called by the whole warp.
template <class T, class Visit>
__device__ void for_products(const factors<T>& f, std::int64_t i, int lane, Visit visit) {
  const std::int64_t end_of_row = f.A.row_ptr[i + 1];
  for (std::int64_t begin = f.A.row_ptr[i]; begin < end_of_row; begin += 32) {
    T a{};
    std::int64_t start = 0;
    int length = 0;
    if (begin + lane < end_of_row) {
      a = f.A.val[begin + lane];
      const std::int32_t row = f.A.col[begin + lane];
      start = __ldg(f.B.row_ptr + row);
      length = static_cast<int>(__ldg(f.B.row_ptr + row + 1) - start);
    }
    int end = length;  // of this entry's products among those of all 32
    for (int d = 1; d < 32; d *= 2) {
      const int before = __shfl_up_sync(~0u, end, d);
      if (lane >= d) end += before;
    }
    start -= end - length;
    const int total = __shfl_sync(~0u, end, 31);
    for (int t0 = 0; t0 < total; t0 += 32) {
      const int t = t0 + lane;
      int entry = 0;
#pragma unroll
      for (int step = 16; step > 0; step /= 2)
        if (__shfl_sync(~0u, end, entry + step - 1) <= t) entry += step;
      const lane_product<T> product{t < total, entry, __shfl_sync(~0u, start, entry) + t,
                                    __shfl_sync(~0u, a, entry)};
      visit(product, __shfl_sync(~0u, entry, 0), __shfl_sync(~0u, entry, min(31, total - 1 - t0)));
    }
  }
}

// entries[i] := how many row i has, or -1 where the table is full. Bound by shared memory's atomics and the latency of
// reading B's rows.
template <kind K, class T>
__global__ void __launch_bounds__(block) count_entries(factors<T> f, row_list list, std::int64_t* entries) {
  constexpr int groups = block / 32;
  extern __shared__ __align__(16) char on_chip[];
  auto& own = reinterpret_cast<table<places<K>, false>*>(on_chip)[threadIdx.x / 32];
  const std::int64_t q = std::int64_t{blockIdx.x} * groups + threadIdx.x / 32;
  if (q >= list.count) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t i = list.rows != nullptr ? list.rows[q] : q;
  for (int k = lane; k < places<K>; k += 32) own.key[k] = none;
  __syncwarp();
  int mine = 0;
  bool full = false;
  for_products(f, i, lane, [&](const lane_product<T>& product, int, int) {
    if (full || !product.present) return;
    bool is_new = false;
    full = find_place<places<K>>(own.key, __ldg(f.B.col + product.at), is_new) == places<K>;
    mine += is_new;
  });
  mine = __reduce_add_sync(~0u, mine);
  full = __any_sync(~0u, full);
  if (lane == 0) entries[i] = full ? -1 : mine;
}

// Row i of the product, where row_ptr says.
template <kind K, class T>
__global__ void __launch_bounds__(block)
    fill_entries(factors<T> f, row_list list, const std::int64_t* row_ptr, std::int32_t* col, T* val) {
  constexpr int groups = block / 32;
  extern __shared__ __align__(16) char on_chip[];
  auto& own = reinterpret_cast<table<places<K>, true>*>(on_chip)[threadIdx.x / 32];
  const std::int64_t q = std::int64_t{blockIdx.x} * groups + threadIdx.x / 32;
  if (q >= list.count) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t i = list.rows != nullptr ? list.rows[q] : q;
  for (int k = lane; k < places<K>; k += 32) {
    own.key[k] = none;
    own.sum[k] = 0;
  }
  if (lane == 0) own.count = 0;
  __syncwarp();
  for_products(f, i, lane, [&](const lane_product<T>& product, int first, int last) {
    int at = 0;
    T b{};
    if (product.present) {
      bool is_new = false;
      b = __ldg(f.B.val + product.at);
      at = find_place<places<K>>(own.key, __ldg(f.B.col + product.at), is_new);
    }
    for (int entry = first; entry <= last; ++entry) {
      if (product.present && product.entry == entry) own.sum[at] = plus_product(own.sum[at], product.factor, b);
      __syncwarp();
    }
  });
  for (int k = lane; k < places<K>; k += 32)
    if (own.key[k] != none) own.used[atomicAdd(&own.count, 1)] = static_cast<std::uint16_t>(k);
  __syncwarp();
  const std::int64_t start = row_ptr[i];
  const int count = own.count;
  for (int k = lane; k < count; k += 32) {
    const std::int32_t c = own.key[own.used[k]];
    int before = 0;
    for (int other = 0; other < count; ++other) before += own.key[own.used[other]] < c;
    col[start + before] = c;
    val[start + before] = static_cast<T>(own.sum[own.used[k]]);
  }
}

// Sums over all columns in memory, a block a row; bit j of marks says that column j is in use. Both are zero before
// and after.
struct dense_sums {
  double* sum = nullptr;
  unsigned* marks = nullptr;
  std::int64_t words = 0;  // of marks, a block
  std::int64_t cols = 0;
};

// Both passes: entries where col is nullptr.
template <class T>
__global__ void __launch_bounds__(block)
    dense_rows(factors<T> f, row_list list, dense_sums all, std::int64_t* entries, const std::int64_t* row_ptr,
               std::int32_t* col, T* val) {
  double* const sum = all.sum + blockIdx.x * all.cols;
  unsigned* const marks = all.marks + blockIdx.x * all.words;
  __shared__ std::int64_t before[block + 1];
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t q = blockIdx.x; q < list.count; q += gridDim.x) {
    const std::int64_t i = list.rows != nullptr ? list.rows[q] : q;
    for (std::int64_t k = f.A.row_ptr[i]; k < f.A.row_ptr[i + 1]; ++k) {
      const std::int32_t row = f.A.col[k];
      for (std::int64_t e = f.B.row_ptr[row] + thread; e < f.B.row_ptr[row + 1]; e += block) {
        const std::int32_t c = f.B.col[e];
        atomicOr(marks + c / 32, 1u << (c % 32));
        if (col != nullptr) sum[c] = plus_product(sum[c], f.A.val[k], f.B.val[e]);
      }
      if (col != nullptr) __syncthreads();
    }
    __syncthreads();
    // Each thread takes a range of words; ranges before it tell where its entries begin.
    const std::int64_t part = ceil_div<std::int64_t>(all.words, block);
    const std::int64_t first = min(all.words, thread * part), last = min(all.words, first + part);
    std::int64_t mine = 0;
    for (std::int64_t w = first; w < last; ++w) mine += __popc(__ldcg(marks + w));
    before[thread + 1] = mine;
    if (thread == 0) before[0] = 0;
    __syncthreads();
    if (thread == 0)
      for (unsigned t = 0; t < block; ++t) before[t + 1] += before[t];
    __syncthreads();
    if (col == nullptr && thread == 0) entries[i] = before[block];
    std::int64_t at = before[thread] + (col != nullptr ? row_ptr[i] : 0);
    for (std::int64_t w = first; w < last; ++w) {
      for (unsigned left = __ldcg(marks + w); left != 0 && col != nullptr; left &= left - 1, ++at) {
        const auto c = static_cast<std::int32_t>(32 * w + __ffs(static_cast<int>(left)) - 1);
        col[at] = c;
        val[at] = static_cast<T>(sum[c]);
        sum[c] = 0;
      }
      marks[w] = 0;
    }
    __syncthreads();
  }
}

// The rows of each kind, in any order within a kind.
struct sorted_rows {
  std::int64_t count[kinds] = {};
  scratch<std::int32_t> list[kinds];  // empty where a kind has none or all

  row_list of(kind k) const { return {list[k].data(), count[k]}; }
};

// kind_of[i] is a kind, or kinds for a row that takes no part.
sorted_rows sort_rows(const device& dev, std::int64_t rows, const std::uint8_t* kind_of) {
  sorted_rows sorted;
  auto counts = array<unsigned long long>::zeros(dev, kinds);
  unsigned long long* const count = counts.data();
  parallel_for(dev, "count_kinds", rows, [=] __device__(std::int64_t i) {
    const unsigned k = kind_of[i], same = __match_any_sync(__activemask(), k);
    if (k < kinds && static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(same)) - 1)
      atomicAdd(count + k, static_cast<unsigned long long>(__popc(same)));
  });
  const std::vector<unsigned long long> found = counts.to_vector();
  for (unsigned k = 0; k < kinds; ++k) {
    sorted.count[k] = static_cast<std::int64_t>(found[k]);
    if (sorted.count[k] == 0 || sorted.count[k] == rows) continue;
    sorted.list[k] = scratch<std::int32_t>(dev, sorted.count[k]);
    std::int32_t* const list = sorted.list[k].data();
    zero_bytes(dev, count, sizeof *count);
    parallel_for(dev, "list_rows", rows, [=] __device__(std::int64_t i) {
      const bool member = kind_of[i] == k;
      const unsigned same = __ballot_sync(__activemask(), member);
      if (!member) return;
      const unsigned lane = threadIdx.x % 32;
      const int leader = __ffs(static_cast<int>(same)) - 1;
      unsigned long long start = 0;
      if (static_cast<int>(lane) == leader)
        start = atomicAdd(count, static_cast<unsigned long long>(__popc(same)));
      start = __shfl_sync(same, start, leader);
      list[start + __popc(same & ((1u << lane) - 1))] = static_cast<std::int32_t>(i);
    });
    dev.synchronize();
  }
  return sorted;
}

template <class T>
void guess_kinds(const device& dev, const factors<T>& f, std::uint8_t* kind_of) {
  parallel_for(dev, "guess_kinds", f.A.rows,
               [=] __device__(std::int64_t i) { kind_of[i] = guess_kind(count_products(f, i)); });
}

// Who found a table full is of the kind given.
void mark_full(const device& dev, std::int64_t rows, const std::int64_t* entries, kind next,
               std::uint8_t* kind_of) {
  parallel_for(dev, "mark_full", rows,
               [=] __device__(std::int64_t i) { kind_of[i] = entries[i] < 0 ? next : kinds; });
}

void find_kinds(const device& dev, std::int64_t rows, const std::int64_t* row_ptr, std::uint8_t* kind_of) {
  parallel_for(dev, "find_kinds", rows,
               [=] __device__(std::int64_t i) { kind_of[i] = kind_of_entries(row_ptr[i + 1] - row_ptr[i]); });
}

template <class T>
class multiplication {
 public:
  multiplication(const device& dev, csr_view<const T> A, csr_view<const T> B)
      : dev_(dev), f_{A, B}, kind_of_(dev, A.rows) {}

  csr<T> run() {
    C_ = {f_.A.rows, f_.B.cols, array<std::int64_t>::zeros(dev_, f_.A.rows + 1), {}, {}};
    count();
    check_cancellation();
    inclusive_scan(dev_, C_.row_ptr.data(), f_.A.rows + 1);
    std::int64_t nonzeros = 0;
    copy_bytes(&nonzeros, device::cpu(1), C_.row_ptr.data() + f_.A.rows, dev_, sizeof nonzeros);
    C_.col = array<std::int32_t>(dev_, nonzeros);
    C_.val = array<T>(dev_, nonzeros);
    fill();
    dev_.synchronize();
    return std::move(C_);
  }

 private:
  void count() {
    const std::int64_t rows = f_.A.rows;
    guess_kinds(dev_, f_, kind_of_.data());
    const sorted_rows guessed = sort_rows(dev_, rows, kind_of_.data());
    for (const kind k : {small, medium, large, dense}) count_kind(k, guessed.of(k));
    for (const kind next : {medium, large, dense}) {
      mark_full(dev_, rows, C_.row_ptr.data() + 1, next, kind_of_.data());
      const sorted_rows full = sort_rows(dev_, rows, kind_of_.data());
      if (full.count[next] == 0) break;
      count_kind(next, full.of(next));
    }
  }

  void count_kind(kind k, row_list list) {
    std::int64_t* const entries = C_.row_ptr.data() + 1;
    if (list.count == 0) return;
    if (k == small)
      launch_rows<small, false>("count_entries", list, count_entries<small, T>, f_, list, entries);
    if (k == medium)
      launch_rows<medium, false>("count_entries", list, count_entries<medium, T>, f_, list, entries);
    if (k == large)
      launch_rows<large, false>("count_entries", list, count_entries<large, T>, f_, list, entries);
    if (k == dense) launch_dense(list, entries, nullptr, nullptr);
  }

  void fill() {
    const std::int64_t* const row_ptr = C_.row_ptr.data();
    find_kinds(dev_, f_.A.rows, row_ptr, kind_of_.data());
    const sorted_rows exact = sort_rows(dev_, f_.A.rows, kind_of_.data());
    const auto fill_kind = [&]<kind K>() {
      const row_list list = exact.of(K);
      launch_rows<K, true>("fill_entries", list, fill_entries<K, T>, f_, list, row_ptr, C_.col.data(),
                           C_.val.data());
    };
    fill_kind.template operator()<small>();
    fill_kind.template operator()<medium>();
    fill_kind.template operator()<large>();
    if (exact.of(dense).count > 0) launch_dense(exact.of(dense), nullptr, C_.col.data(), C_.val.data());
  }

  template <kind K, bool with_sums, class... Parameters, class... Arguments>
  void launch_rows(const char* name, row_list list, void (*kernel)(Parameters...), Arguments... arguments) {
    constexpr int groups = block / 32;
    launch(dev_, name,
           {ceil_div<std::int64_t>(list.count, groups), block, groups * sizeof(table<places<K>, with_sums>)},
           kernel, arguments...);
  }

  void launch_dense(row_list list, std::int64_t* entries, std::int32_t* col, T* val) {
    const std::int64_t blocks = std::min<std::int64_t>(list.count, dev_.processors());
    dense_sums all{nullptr, nullptr, ceil_div<std::int64_t>(f_.B.cols, 32), f_.B.cols};
    const array<double> sums = array<double>::zeros(dev_, col != nullptr ? blocks * all.cols : 0);
    const array<unsigned> marks = array<unsigned>::zeros(dev_, blocks * all.words);
    all.sum = const_cast<double*>(sums.data());
    all.marks = const_cast<unsigned*>(marks.data());
    launch(dev_, "dense_rows", {blocks, block}, dense_rows<T>, f_, list, all, entries,
           static_cast<const std::int64_t*>(C_.row_ptr.data()), col, val);
    dev_.synchronize();
  }

  device dev_;
  factors<T> f_;
  scratch<std::uint8_t> kind_of_;
  csr<T> C_;
};

}  // namespace

template <real T>
csr<T> multiply_cuda(const device& dev, csr_view<const T> A, csr_view<const T> B) {
  return multiplication<T>(dev, A, B).run();
}

template csr<float> multiply_cuda(const device&, csr_view<const float>, csr_view<const float>);
template csr<double> multiply_cuda(const device&, csr_view<const double>, csr_view<const double>);

}  // namespace vouch::detail
