#include <algorithm>

#include <vouch/core/launch.cuh>
#include <vouch/core/parallel_for.cuh>
#include <vouch/sparse/csr32_cuda.hpp>
#include <vouch/sparse/spmv_convert.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;
constexpr unsigned lanes = 8;  // threads that share a row

std::int64_t blocks_for(std::int64_t rows) { return ceil_div(rows, std::int64_t{block / lanes}); }

__device__ std::int64_t row_of_thread() {
  return std::int64_t{blockIdx.x} * (block / lanes) + threadIdx.x / lanes;
}

__device__ int now(const int* flag) { return *static_cast<const volatile int*>(flag); }

// The diagonal of an entry, of its block where blocks are [a -b; b a].
__device__ std::int64_t offset_of(std::int64_t row, std::int64_t col, bool complex) {
  return complex ? col / 2 - row / 2 : col - row;
}

// Eight lanes a row, rows that are a grid apart one after another. The first to raise the flag of a diagonal writes its
// offset down; in which order is chance, so the host sorts the list. Once it is full, nobody looks further. A lane
// remembers what it met in the row before, which on a grid of points it meets again: flags are in one place of the
// second-level cache for all.
template <class T>
__global__ void list_diagonals(csr_view<const T> A, bool complex, int* seen, int limit, int* count,
                               std::int64_t* list) {
  constexpr int remembered = 4;
  std::int64_t known[remembered];
  for (std::int64_t& offset : known) offset = A.cols;  // none has it
  const std::int64_t rows_at_once = std::int64_t{gridDim.x} * (block / lanes);
  for (std::int64_t i = row_of_thread(); i < A.rows; i += rows_at_once) {
    const std::int64_t first = A.row_ptr[i] + threadIdx.x % lanes, end = A.row_ptr[i + 1];
    const auto look = [&](std::int64_t k) {
      const std::int64_t offset = offset_of(i, A.col[k], complex);
      int* const flag = seen + offset + A.rows - 1;
      if (now(flag) != 0) return true;
      if (now(count) >= limit) return false;
      if (atomicExch(flag, 1) != 0) return true;
      const int place = atomicAdd(count, 1);
      if (place < limit) list[place] = offset;
      return true;
    };
#pragma unroll
    for (int m = 0; m < remembered; ++m) {
      const std::int64_t k = first + m * static_cast<std::int64_t>(lanes);
      if (k >= end || offset_of(i, A.col[k], complex) == known[m]) continue;
      if (!look(k)) return;
      known[m] = offset_of(i, A.col[k], complex);
    }
    for (std::int64_t k = first + remembered * static_cast<std::int64_t>(lanes); k < end; k += lanes)
      if (!look(k)) return;
  }
}

template <class T>
__device__ int diagonal_of(const dia_layout<T>& shape, std::int64_t offset) {
  int k = 0;
  for (int step = dia_layout<T>::max_diagonals / 2; step > 0; step /= 2)
    if (k + step < shape.count && shape.offset[k + step] <= offset) k += step;
  return k;
}

// The place of an entry in the values of its diagonal d; -1 for the second column of a block, which is not kept.
template <class T>
__device__ std::int64_t place_of(const dia_layout<T>& shape, int d, std::int64_t row, std::int64_t col) {
  if (!shape.complex) return shape.start[d] + row;
  return col % 2 == 0 ? 2 * (shape.start[d] + row / 2) + row % 2 : -1;
}

// Eight lanes a row; every entry has one place, so the order does not matter.
template <class T>
__global__ void scatter_to_diagonals(csr_view<const T> A, __grid_constant__ const dia_layout<T> shape,
                                     std::int64_t lowest, T* val) {
  const std::int64_t i = row_of_thread();
  if (i >= A.rows) return;
  for (std::int64_t k = A.row_ptr[i] + threadIdx.x % lanes; k < A.row_ptr[i + 1]; k += lanes) {
    const std::int64_t offset = offset_of(i, A.col[k], shape.complex);
    if (offset < lowest) continue;
    const std::int64_t place = place_of(shape, diagonal_of(shape, offset), i, A.col[k]);
    if (place >= 0) val[place] = A.val[k];
  }
}

// Eight lanes a row; facts[0] counts entries without their equal above, facts[1] those without their conjugate there,
// facts[2] non-zeros below minus above.
template <class T>
__global__ void compare_halves(csr_view<const T> A, __grid_constant__ const dia_layout<T> shape, const T* val,
                               unsigned long long* facts) {
  const std::int64_t i = row_of_thread();
  long long unequal = 0, unconjugated = 0, balance = 0;
  if (i < A.rows)
    for (std::int64_t k = A.row_ptr[i] + threadIdx.x % lanes; k < A.row_ptr[i + 1]; k += lanes) {
      const std::int64_t offset = offset_of(i, A.col[k], shape.complex);
      const std::int64_t place = offset == 0 ? -1 : place_of(shape, diagonal_of(shape, offset), i, A.col[k]);
      if (place < 0) continue;
      if (offset < 0) {
        const T image = val[place];
        unequal += A.val[k] != image;
        unconjugated += A.val[k] != (place % 2 == 0 ? image : -image);
      }
      if (A.val[k] != T{}) balance += offset < 0 ? 1 : -1;
    }
  for (int d = 16; d > 0; d /= 2) {
    unequal += __shfl_xor_sync(~0u, unequal, d);
    unconjugated += __shfl_xor_sync(~0u, unconjugated, d);
    balance += __shfl_xor_sync(~0u, balance, d);
  }
  if (threadIdx.x % 32 != 0) return;
  if (unequal != 0) atomicAdd(facts, static_cast<unsigned long long>(unequal));
  if (unconjugated != 0) atomicAdd(facts + 1, static_cast<unsigned long long>(unconjugated));
  if (balance != 0) atomicAdd(facts + 2, static_cast<unsigned long long>(balance));  // modulo 2^64, so exact
}

// A thread a row.
template <class T>
__global__ void mark_tiles(csr_layout<T> shape, std::int64_t* tile, std::uint32_t* row_end) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= shape.A.rows) return;
  const std::int64_t first = i / shape.tile_rows() * shape.tile_rows(), start = shape.A.row_ptr[first],
                     end = shape.A.row_ptr[i + 1];
  row_end[i] = static_cast<std::uint32_t>(end - start);
  if (i == first) tile[i / shape.tile_rows()] = start;
  if (i + 1 == shape.A.rows) tile[i / shape.tile_rows() + 1] = end;
}

}  // namespace

template <real T>
void mark_tiles_cuda(const device& dev, const csr_layout<T>& shape, std::int64_t* tile,
                     std::uint32_t* row_end) {
  launch(dev, "mark_tiles", {ceil_div(shape.A.rows, std::int64_t{block}), block}, mark_tiles<T>, shape, tile,
         row_end);
}

template <real T>
std::vector<std::int64_t> occupied_diagonals_cuda(const device& dev, csr_view<const T> A, bool complex) {
  constexpr int limit = dia_layout<T>::max_diagonals + 1;
  if (A.nonzeros == 0) return {};
  auto seen = array<int>::zeros(dev, A.rows + A.cols - 1);
  auto count = array<int>::zeros(dev, 1);
  auto list = array<std::int64_t>::zeros(dev, limit);
  const std::int64_t blocks = std::min<std::int64_t>(blocks_for(A.rows), 16 * dev.processors());
  launch(dev, "list_diagonals", {blocks, block}, list_diagonals<T>, A, complex, seen.data(), limit,
         count.data(), list.data());
  std::vector<std::int64_t> offsets = list.to_vector();
  offsets.resize(static_cast<std::size_t>(std::min(count.to_vector()[0], limit)));
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

template <real T>
void fill_diagonals_cuda(const device& dev, csr_view<const T> A, const dia_layout<T>& shape,
                         std::int64_t lowest, T* val) {
  launch(dev, "scatter_to_diagonals", {blocks_for(A.rows), block}, scatter_to_diagonals<T>, A, shape, lowest,
         val);
}

template <real T>
mirrored mirrors_upper_half_cuda(const device& dev, csr_view<const T> A, const dia_layout<T>& shape,
                                 const T* val) {
  auto facts = array<unsigned long long>::zeros(dev, 3);
  launch(dev, "compare_halves", {blocks_for(A.rows), block}, compare_halves<T>, A, shape, val, facts.data());
  const auto found = facts.to_vector();
  if (found[2] != 0) return mirrored::no;
  if (found[0] == 0) return mirrored::yes;
  return shape.complex && found[1] == 0 ? mirrored::conjugated : mirrored::no;
}

template void mark_tiles_cuda(const device&, const csr_layout<float>&, std::int64_t*, std::uint32_t*);
template void mark_tiles_cuda(const device&, const csr_layout<double>&, std::int64_t*, std::uint32_t*);
template std::vector<std::int64_t> occupied_diagonals_cuda(const device&, csr_view<const float>, bool);
template std::vector<std::int64_t> occupied_diagonals_cuda(const device&, csr_view<const double>, bool);
template void fill_diagonals_cuda(const device&, csr_view<const float>, const dia_layout<float>&, std::int64_t,
                                  float*);
template void fill_diagonals_cuda(const device&, csr_view<const double>, const dia_layout<double>&,
                                  std::int64_t, double*);
template mirrored mirrors_upper_half_cuda(const device&, csr_view<const float>, const dia_layout<float>&,
                                          const float*);
template mirrored mirrors_upper_half_cuda(const device&, csr_view<const double>, const dia_layout<double>&,
                                          const double*);

void widen_cuda(const device& dev, const std::int32_t* from, std::int64_t count, std::int64_t* to) {
  parallel_for(dev, "widen", count, [=] __device__(std::int64_t i) { to[i] = from[i]; });
}

}  // namespace vouch::detail
