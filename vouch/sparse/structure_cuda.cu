#include <algorithm>
#include <iterator>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/memory.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/sparse/structure_row.hpp>
#include <vouch/sparse/structure_symmetry.hpp>
#include <vouch/sparse/valid_row.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;
constexpr int warp = 32;
constexpr unsigned all_lanes = ~0u;

// Distinct j - i: a bit for each, and how many bits are set. Beyond the cap nobody counts on.
struct diagonal_set {
  unsigned* bits;
  unsigned long long* count;
  std::int64_t rows;

  __device__ bool is_full() const {
    return __ldcg(count) > static_cast<unsigned long long>(structure_facts::diagonals_cap);
  }
  __device__ void insert(std::int64_t offset) const {
    const std::int64_t at = offset + rows - 1;
    const unsigned bit = 1u << (at % 32);
    unsigned* const word = bits + at / 32;
    if ((__ldcg(word) & bit) != 0) return;
    if ((atomicOr(word, bit) & bit) == 0) atomicAdd(count, 1ULL);
  }
};

// `lanes` threads a row, 1 or a warp. Entries are added one after another, as on a CPU: of a warp each lane brings
// one, and all of them add all.
template <int lanes, class T>
__device__ row_sums sum_row(csr_view<const T> A, std::int64_t i) {
  row_sums sums;
  const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
  if constexpr (lanes == 1) {
    for (std::int64_t k = begin; k < end; ++k) sums.add(static_cast<double>(A.val[k]), A.col[k] == i);
  } else {
    for (std::int64_t first = begin; first < end; first += warp) {
      const std::int64_t k = first + threadIdx.x % warp;
      const bool there = k < end;
      const double mine = there ? static_cast<double>(A.val[k]) : 0.0;
      const unsigned on_diagonal = __ballot_sync(all_lanes, there && A.col[k] == i);
      const int count = static_cast<int>(end - first < warp ? end - first : warp);
      for (int lane = 0; lane < count; ++lane)
        sums.add(__shfl_sync(all_lanes, mine, lane), (on_diagonal >> lane & 1u) != 0);
    }
  }
  return sums;
}

// What the rows of a block say. Bound by memory: the matrix once, from the caches where a thread has a row.
template <int lanes, class T>
__global__ void __launch_bounds__(block)
    scan_rows(csr_view<const T> A, diagonal_set diagonals, row_scan* of_block) {
  row_scan mine;
  const int lane = static_cast<int>(threadIdx.x % lanes);
  for (std::int64_t i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / lanes; i < A.rows;
       i += std::int64_t{gridDim.x} * (block / lanes)) {
    const row_sums sums = sum_row<lanes>(A, i);
    if (lane == 0) {
      scan_sums<T>(mine, i, sums, A.rows == A.cols);
      scan_extent(mine, A, i);
    }
    if (diagonals.is_full()) continue;
    for (std::int64_t k = A.row_ptr[i] + lane; k < A.row_ptr[i + 1]; k += lanes) diagonals.insert(A.col[k] - i);
  }
  __shared__ alignas(row_scan) unsigned char room[block * sizeof(row_scan)];
  auto* const all = reinterpret_cast<row_scan*>(room);
  all[threadIdx.x] = mine;
  for (unsigned half = block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x].merge(all[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) of_block[blockIdx.x] = all[0];
}

// A thread looks at a block row.
template <class T>
__global__ void __launch_bounds__(block) look_at_block_rows(csr_view<const T> A, int size, int* broken) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= A.rows / size || __ldcg(broken) != 0) return;
  if (!is_block_row(A, i * size, size)) *broken = 1;
}

struct mirror_report {
  int unequal;                 // some entry above the diagonal has no equal below
  int unmatched;               // some place is stored without its image
  unsigned long long surplus;  // entries above less entries below, modulo 2^64
  unsigned long long first;    // the first entry that differs from its image
};

// Whether every entry above the diagonal has its equal below, and as many stand there. Bound by the searches.
template <int lanes, class T>
__global__ void __launch_bounds__(block) compare_upper(csr_view<const T> A, mirror_report* report) {
  long long surplus = 0;
  bool equal = true;
  for (std::int64_t i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / lanes;
       i < A.rows && __ldcg(&report->unequal) == 0; i += std::int64_t{gridDim.x} * (block / lanes))
    for (std::int64_t k = A.row_ptr[i] + threadIdx.x % lanes; k < A.row_ptr[i + 1]; k += lanes) {
      const std::int64_t j = A.col[k];
      surplus += (j > i) - (j < i);
      if (j <= i) continue;
      const std::int64_t mirror = find_entry(A, j, i);
      equal = equal && mirror != no_entry && A.val[mirror] == A.val[k];
    }
  if (!equal) report->unequal = 1;
  __syncwarp();
  for (int d = warp / 2; d > 0; d /= 2) surplus += __shfl_down_sync(all_lanes, surplus, d);
  if (threadIdx.x % warp == 0) atomicAdd(&report->surplus, static_cast<unsigned long long>(surplus));
}

// Compares every entry with its image.
template <int lanes, class T>
__global__ void __launch_bounds__(block) compare_all(csr_view<const T> A, mirror_report* report) {
  constexpr unsigned long long none = ~0ULL;
  unsigned long long first = none;
  bool matched = true;
  for (std::int64_t i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / lanes; i < A.rows;
       i += std::int64_t{gridDim.x} * (block / lanes))
    for (std::int64_t k = A.row_ptr[i] + threadIdx.x % lanes; k < A.row_ptr[i + 1]; k += lanes) {
      const std::int64_t mirror = find_entry(A, A.col[k], i);
      matched = matched && mirror != no_entry;
      const T image = mirror == no_entry ? T{0} : A.val[mirror];
      if (A.val[k] != image && static_cast<unsigned long long>(k) < first)
        first = static_cast<unsigned long long>(k);
    }
  if (!matched) report->unmatched = 1;
  if (first != none) atomicMin(&report->first, first);
}

// One thread says where entry `place` stands, and what its image is.
template <class T>
__global__ void describe_entry(csr_view<const T> A, std::int64_t place, unsymmetric_entry* entry) {
  std::int64_t row = 0, behind = A.rows;  // row_ptr[row] <= place < row_ptr[behind]
  while (behind - row > 1) {
    const std::int64_t middle = row + (behind - row) / 2;
    (A.row_ptr[middle] <= place ? row : behind) = middle;
  }
  const std::int64_t mirror = find_entry(A, A.col[place], row);
  entry->row = row;
  entry->col = A.col[place];
  entry->value = static_cast<double>(A.val[place]);
  entry->mirrored = mirror == no_entry ? 0.0 : static_cast<double>(A.val[mirror]);
}

template <class T>
std::vector<T> fetched(const device& dev, const scratch<T>& from) {
  std::vector<T> here(static_cast<std::size_t>(from.size()));
  copy_bytes(here.data(), device::cpu(1), from.data(), dev, here.size() * sizeof(T));
  return here;
}

template <class T>
scratch<T> zeros(const device& dev, std::int64_t size) {
  scratch<T> cleared(dev, size);
  zero_bytes(dev, cleared.data(), static_cast<std::size_t>(size) * sizeof(T));
  return cleared;
}

// Blocks that take rows by turns, with `lanes` threads a row.
launch_shape over_rows(const device& dev, std::int64_t rows, int lanes) {
  return {std::min<std::int64_t>(ceil_div<std::int64_t>(rows, block / lanes), 4 * dev.processors()), block};
}

template <int lanes, class T>
structure_facts scan(const device& dev, csr_view<const T> A) {
  const scratch<unsigned> bits = zeros<unsigned>(dev, ceil_div<std::int64_t>(A.rows + A.cols, 32));
  const scratch<unsigned long long> count = zeros<unsigned long long>(dev, 1);
  const launch_shape shape = over_rows(dev, A.rows, lanes);
  const scratch<row_scan> of_block(dev, shape.blocks);
  launch(dev, "scan_rows", shape, scan_rows<lanes, T>, A, diagonal_set{bits.data(), count.data(), A.rows},
         of_block.data());
  row_scan all;
  for (const row_scan& one : fetched(dev, of_block)) all.merge(one);
  const auto diagonals = static_cast<std::int64_t>(fetched(dev, count)[0]);
  return facts_of(A.rows, A.cols, A.nonzeros, all, std::min(diagonals, structure_facts::diagonals_cap + 1));
}

template <class T>
int block_size(const device& dev, csr_view<const T> A) {
  constexpr int sizes[] = {6, 3, 2};
  const auto fits = [&](int size) { return A.nonzeros > 0 && A.rows % size == 0 && A.cols % size == 0; };
  const scratch<int> broken = zeros<int>(dev, std::ssize(sizes));
  for (std::size_t s = 0; s < std::size(sizes); ++s)
    if (fits(sizes[s]))
      launch(dev, "look_at_block_rows", {ceil_div<std::int64_t>(A.rows / sizes[s], block), block},
             look_at_block_rows<T>, A, sizes[s], broken.data() + s);
  const std::vector<int> found = fetched(dev, broken);
  for (std::size_t s = 0; s < std::size(sizes); ++s)
    if (fits(sizes[s]) && found[s] == 0) return sizes[s];
  return 1;
}

template <int lanes, class T>
symmetry_facts compare(const device& dev, csr_view<const T> A) {
  const launch_shape shape = over_rows(dev, A.rows, lanes);
  const scratch<mirror_report> report = zeros<mirror_report>(dev, 1);
  launch(dev, "compare_upper", shape, compare_upper<lanes, T>, A, report.data());
  const mirror_report upper = fetched(dev, report)[0];
  if (upper.unequal == 0 && upper.surplus == 0) return {true, {}};
  constexpr unsigned long long none = ~0ULL;
  const mirror_report nothing{0, 0, 0, none};
  copy_bytes(report.data(), dev, &nothing, device::cpu(1), sizeof nothing);
  launch(dev, "compare_all", shape, compare_all<lanes, T>, A, report.data());
  const mirror_report all = fetched(dev, report)[0];
  if (all.first == none) return {all.unmatched == 0, {}};
  const scratch<unsymmetric_entry> entry(dev, 1);
  launch(dev, "describe_entry", {1, 1}, describe_entry<T>, A, static_cast<std::int64_t>(all.first),
         entry.data());
  return {all.unmatched == 0, fetched(dev, entry)[0]};
}

template <int lanes, class T>
structure_facts find_structure(const device& dev, csr_view<const T> A) {
  structure_facts facts = scan<lanes>(dev, A);
  facts.block_size = block_size(dev, A);
  if (facts.square) {
    const symmetry_facts found = compare<lanes>(dev, A);
    facts.pattern_symmetric = found.pattern_symmetric;
    facts.symmetric = !found.first;
    facts.first_unsymmetric = found.first;
    facts.complex_symmetric = !facts.symmetric && is_complex_symmetric(dev, A);
  }
  return facts;
}

}  // namespace

template <real T>
structure_facts structure_cuda(const device& dev, csr_view<const T> A) {
  constexpr std::int64_t long_row = 24;  // entries from which on a warp reads a row faster than a thread
  return A.nonzeros > long_row * A.rows ? find_structure<warp>(dev, A) : find_structure<1>(dev, A);
}

template structure_facts structure_cuda(const device&, csr_view<const float>);
template structure_facts structure_cuda(const device&, csr_view<const double>);

// ---- whether it is a matrix at all ----

namespace {

// `lanes` threads a row, each every lanes-th entry. Bound by memory: offsets and columns once.
template <int lanes>
__global__ void __launch_bounds__(block) look_at_rows(csr_pattern A, unsigned long long* first) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / lanes;
  if (i >= A.rows) return;
  bool valid = has_valid_offsets(A, i);
  if (valid) {
    const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
    for (std::int64_t k = begin + threadIdx.x % lanes; k < end; k += lanes)
      valid &= has_valid_column(A, begin, k);
  }
  if (!valid) atomicMin(first, static_cast<unsigned long long>(i));
}

template <int lanes>
void look(const device& dev, const csr_pattern& A, unsigned long long* first) {
  launch(dev, "look_at_rows", {ceil_div<std::int64_t>(A.rows * lanes, block), block}, look_at_rows<lanes>, A,
         first);
}

}  // namespace

std::int64_t first_invalid_row_cuda(const device& dev, const csr_pattern& A) {
  auto first = array<unsigned long long>::from(dev, std::vector{static_cast<unsigned long long>(A.rows)});
  if (A.nonzeros <= 12 * A.rows)
    look<2>(dev, A, first.data());
  else if (A.nonzeros <= 96 * A.rows)
    look<8>(dev, A, first.data());
  else
    look<32>(dev, A, first.data());
  unsigned long long row;
  copy_bytes(&row, device::cpu(1), first.data(), dev, sizeof row);
  return static_cast<std::int64_t>(row);
}

template <real T>
std::int64_t first_not_finite_cuda(const device& dev, const T* values, std::int64_t count) {
  auto first = array<unsigned long long>::from(dev, std::vector{static_cast<unsigned long long>(count)});
  parallel_for(dev, "first_not_finite", count, [values, first = first.data()] __device__(std::int64_t k) {
    if (!isfinite(values[k])) atomicMin(first, static_cast<unsigned long long>(k));
  });
  unsigned long long found;
  copy_bytes(&found, device::cpu(1), first.data(), dev, sizeof found);
  return static_cast<std::int64_t>(found);
}

template std::int64_t first_not_finite_cuda(const device&, const float*, std::int64_t);
template std::int64_t first_not_finite_cuda(const device&, const double*, std::int64_t);

}  // namespace vouch::detail
