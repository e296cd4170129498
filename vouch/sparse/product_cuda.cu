// Products of sparse matrices on a GPU: hash tables in shared memory for rows of up to 768 entries, dense sums in
// memory for longer ones. Short rows are made by a thread each, longer ones by a group of lanes that goes through its
// row of A in order and shares the entries of a row of B: their columns differ, so that no two lanes add to one sum at
// a time and sums have one order.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scan.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/sparse/trusted.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

// How a row is made: by a thread, by lanes with tables of different sizes, in memory.
enum kind : std::uint8_t { tiny, small, medium, large, dense, kinds };
template <kind K>
constexpr int lanes = K == tiny    ? 1
                      : K == small ? 8
                                   : 32;
template <kind K>
constexpr int places = K == tiny     ? 32
                       : K == small  ? 64
                       : K == medium ? 256
                                     : 1024;

// For a row with so many entries: a table stays a quarter empty.
VOUCH_HOST_DEVICE kind kind_of_entries(std::int64_t entries) {
  if (4 * entries <= 3 * places<tiny>) return tiny;
  if (4 * entries <= 3 * places<small>) return small;
  if (4 * entries <= 3 * places<medium>) return medium;
  return 4 * entries <= 3 * places<large> ? large : dense;
}

// For a row that is the sum of so many products, a guess: several products meet in an entry. Who finds the table full
// tries the next kind.
VOUCH_HOST_DEVICE kind guess_kind(std::int64_t products) {
  if (products <= 3 * places<tiny>) return tiny;
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

// visit(column, a, b) for all products of row i, lanes side by side within a row of B; after each row sync().
template <int Lanes, class T, class Visit>
__device__ void for_products(const factors<T>& f, std::int64_t i, unsigned mask, int lane, Visit visit) {
  const std::int64_t last = f.A.row_ptr[i + 1];
  for (std::int64_t first = f.A.row_ptr[i]; first < last; first += Lanes) {
    T a{};
    std::int64_t begin = 0;
    std::int32_t length = 0;
    if (first + lane < last) {
      a = f.A.val[first + lane];
      const std::int32_t row = f.A.col[first + lane];
      begin = __ldg(f.B.row_ptr + row);
      length = static_cast<std::int32_t>(__ldg(f.B.row_ptr + row + 1) - begin);
    }
    const int steps = static_cast<int>(min(std::int64_t{Lanes}, last - first));
    for (int s = 0; s < steps; ++s) {
      const T factor = __shfl_sync(mask, a, s, Lanes);
      const std::int64_t from = __shfl_sync(mask, begin, s, Lanes);
      const std::int32_t count = __shfl_sync(mask, length, s, Lanes);
      for (std::int32_t e = lane; e < count; e += Lanes)
        visit(__ldg(f.B.col + from + e), factor, __ldg(f.B.val + from + e));
      __syncwarp(mask);
    }
  }
}

template <int Lanes>
__device__ unsigned group_mask() {
  return (~0u >> (32 - Lanes)) << (threadIdx.x % 32 / Lanes * Lanes);
}

// entries[i] := how many row i has, or -1 where the table is full. Bound by shared memory's atomics and the latency of
// reading B's rows.
template <kind K, class T>
__global__ void __launch_bounds__(block) count_entries(factors<T> f, row_list list, std::int64_t* entries) {
  constexpr int L = lanes<K>, groups = block / L;
  extern __shared__ __align__(16) char on_chip[];
  auto& own = reinterpret_cast<table<places<K>, false>*>(on_chip)[threadIdx.x / L];
  const std::int64_t q = std::int64_t{blockIdx.x} * groups + threadIdx.x / L;
  if (q >= list.count) return;
  const unsigned mask = group_mask<L>();
  const int lane = static_cast<int>(threadIdx.x) % L;
  const std::int64_t i = list.rows != nullptr ? list.rows[q] : q;
  for (int k = lane; k < places<K>; k += L) own.key[k] = none;
  __syncwarp(mask);
  int mine = 0;
  bool full = false;
  for_products<L>(f, i, mask, lane, [&](std::int32_t col, T, T) {
    if (full) return;
    bool is_new = false;
    full = find_place<places<K>>(own.key, col, is_new) == places<K>;
    mine += is_new;
  });
  for (int d = L / 2; d > 0; d /= 2) mine += __shfl_xor_sync(mask, mine, d, L);
  full = __any_sync(mask, full);
  if (lane == 0) entries[i] = full ? -1 : mine;
}

// Row i of the product, where row_ptr says.
template <kind K, class T>
__global__ void __launch_bounds__(block)
    fill_entries(factors<T> f, row_list list, const std::int64_t* row_ptr, std::int32_t* col, T* val) {
  constexpr int L = lanes<K>, groups = block / L;
  extern __shared__ __align__(16) char on_chip[];
  auto& own = reinterpret_cast<table<places<K>, true>*>(on_chip)[threadIdx.x / L];
  const std::int64_t q = std::int64_t{blockIdx.x} * groups + threadIdx.x / L;
  if (q >= list.count) return;
  const unsigned mask = group_mask<L>();
  const int lane = static_cast<int>(threadIdx.x) % L;
  const std::int64_t i = list.rows != nullptr ? list.rows[q] : q;
  for (int k = lane; k < places<K>; k += L) own.key[k] = none;
  if (lane == 0) own.count = 0;
  __syncwarp(mask);
  for_products<L>(f, i, mask, lane, [&](std::int32_t c, T a, T b) {
    bool is_new = false;
    const int at = find_place<places<K>>(own.key, c, is_new);
    own.sum[at] = plus_product(is_new ? 0.0 : own.sum[at], a, b);
  });
  for (int k = lane; k < places<K>; k += L)
    if (own.key[k] != none) own.used[atomicAdd(&own.count, 1)] = static_cast<std::uint16_t>(k);
  __syncwarp(mask);
  const std::int64_t start = row_ptr[i];
  const int count = own.count;
  for (int k = lane; k < count; k += L) {
    const std::int32_t c = own.key[own.used[k]];
    int before = 0;
    for (int other = 0; other < count; ++other) before += own.key[own.used[other]] < c;
    col[start + before] = c;
    val[start + before] = static_cast<T>(own.sum[own.used[k]]);
  }
}

constexpr unsigned tiny_block = 128;

// A thread a row, its table in a column of shared memory: no two threads of a warp meet in a bank. Both passes: counts
// where col is nullptr. Bound by the latency of reading B's rows.
template <bool filling, class T>
__global__ void __launch_bounds__(tiny_block)
    rows_by_threads(factors<T> f, row_list list, std::int64_t* entries, const std::int64_t* row_ptr,
                    std::int32_t* col, T* val) {
  constexpr int size = places<tiny>;
  __shared__ std::int32_t keys[size][tiny_block];
  __shared__ double sums[filling ? size : 1][tiny_block];
  const unsigned thread = threadIdx.x;
  const std::int64_t q = std::int64_t{blockIdx.x} * tiny_block + thread;
  if (q >= list.count) return;
  const std::int64_t i = list.rows != nullptr ? list.rows[q] : q;
#pragma unroll
  for (int k = 0; k < size; ++k) keys[k][thread] = none;
  int count = 0;
  bool full = false;
  const std::int64_t last = f.A.row_ptr[i + 1];
  for (std::int64_t k = f.A.row_ptr[i]; k < last; ++k) {
    const std::int32_t row = f.A.col[k];
    const T a = f.A.val[k];
    const std::int64_t end = __ldg(f.B.row_ptr + row + 1);
    for (std::int64_t e = __ldg(f.B.row_ptr + row); e < end; ++e) {
      const std::int32_t c = __ldg(f.B.col + e);
      int at = static_cast<int>((static_cast<unsigned>(c) * 0x9e3779b1u) >> 27), tries = 0;
      while (keys[at][thread] != c && keys[at][thread] != none && ++tries < size) at = (at + 1) % size;
      if (tries == size) {
        full = true;
        continue;
      }
      const bool is_new = keys[at][thread] == none;
      if (is_new) {
        keys[at][thread] = c;
        ++count;
      }
      if constexpr (filling)
        sums[at][thread] = plus_product(is_new ? 0.0 : sums[at][thread], a, __ldg(f.B.val + e));
    }
  }
  if constexpr (!filling) {
    entries[i] = full ? -1 : count;
    return;
  }
  const std::int64_t start = row_ptr[i];
  for (int k = 0; k < size; ++k) {
    const std::int32_t c = keys[k][thread];
    if (c == none) continue;
    int before = 0;
#pragma unroll
    for (int other = 0; other < size; ++other)
      before += static_cast<unsigned>(keys[other][thread]) < static_cast<unsigned>(c);  // none is the largest
    col[start + before] = c;
    val[start + before] = static_cast<T>(sums[k][thread]);
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
    for (const kind k : {tiny, small, medium, large, dense}) count_kind(k, guessed.of(k));
    for (const kind next : {small, medium, large, dense}) {
      mark_full(dev_, rows, C_.row_ptr.data() + 1, next, kind_of_.data());
      const sorted_rows full = sort_rows(dev_, rows, kind_of_.data());
      if (full.count[next] == 0) break;
      count_kind(next, full.of(next));
    }
  }

  void count_kind(kind k, row_list list) {
    std::int64_t* const entries = C_.row_ptr.data() + 1;
    if (list.count == 0) return;
    if (k == tiny) launch_tiny<false>(list, entries, nullptr, nullptr);
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
    launch_tiny<true>(exact.of(tiny), nullptr, C_.col.data(), C_.val.data());
    fill_kind.template operator()<small>();
    fill_kind.template operator()<medium>();
    fill_kind.template operator()<large>();
    if (exact.of(dense).count > 0) launch_dense(exact.of(dense), nullptr, C_.col.data(), C_.val.data());
  }

  template <kind K, bool with_sums, class... Parameters, class... Arguments>
  void launch_rows(const char* name, row_list list, void (*kernel)(Parameters...), Arguments... arguments) {
    constexpr int groups = block / lanes<K>;
    launch(dev_, name,
           {ceil_div<std::int64_t>(list.count, groups), block, groups * sizeof(table<places<K>, with_sums>)},
           kernel, arguments...);
  }

  template <bool filling>
  void launch_tiny(row_list list, std::int64_t* entries, std::int32_t* col, T* val) {
    launch(dev_, "rows_by_threads", {ceil_div<std::int64_t>(list.count, tiny_block), tiny_block},
           rows_by_threads<filling, T>, f_, list, entries, static_cast<const std::int64_t*>(C_.row_ptr.data()),
           col, val);
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
