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

// Eight lanes a row. The first to raise the flag of a diagonal writes its offset down; in which order is
// chance, so the host sorts the list. Once it is full, nobody looks further.
template <class T>
__global__ void list_diagonals(csr_view<const T> A, int* seen, int limit, int* count, std::int64_t* list) {
  const std::int64_t i = row_of_thread();
  if (i >= A.rows || now(count) >= limit) return;
  for (std::int64_t k = A.row_ptr[i] + threadIdx.x % lanes; k < A.row_ptr[i + 1]; k += lanes) {
    const std::int64_t offset = A.col[k] - i;
    int* const flag = seen + offset + A.rows - 1;
    if (now(flag) != 0) continue;
    if (now(count) >= limit) return;
    if (atomicExch(flag, 1) != 0) continue;
    const int place = atomicAdd(count, 1);
    if (place < limit) list[place] = offset;
  }
}

template <class T>
__device__ int diagonal_of(const dia_layout<T>& shape, std::int64_t offset) {
  int k = 0;
  for (int step = dia_layout<T>::max_diagonals / 2; step > 0; step /= 2)
    if (k + step < shape.count && shape.offset[k + step] <= offset) k += step;
  return k;
}

// Eight lanes a row; every entry has one place, so the order does not matter.
template <class T>
__global__ void scatter_to_diagonals(csr_view<const T> A, __grid_constant__ const dia_layout<T> shape,
                                     std::int64_t lowest, T* val) {
  const std::int64_t i = row_of_thread();
  if (i >= A.rows) return;
  for (std::int64_t k = A.row_ptr[i] + threadIdx.x % lanes; k < A.row_ptr[i + 1]; k += lanes) {
    const std::int64_t offset = A.col[k] - i;
    if (offset >= lowest) val[shape.start[diagonal_of(shape, offset)] + i] = A.val[k];
  }
}

// Eight lanes a row; facts[0] counts entries without their equal above, facts[1] non-zeros below minus above.
template <class T>
__global__ void compare_halves(csr_view<const T> A, __grid_constant__ const dia_layout<T> shape, const T* val,
                               unsigned long long* facts) {
  const std::int64_t i = row_of_thread();
  long long unequal = 0, balance = 0;
  if (i < A.rows)
    for (std::int64_t k = A.row_ptr[i] + threadIdx.x % lanes; k < A.row_ptr[i + 1]; k += lanes) {
      const std::int64_t offset = A.col[k] - i;
      if (offset < 0 && A.val[k] != val[shape.start[diagonal_of(shape, offset)] + i]) ++unequal;
      if (offset != 0 && A.val[k] != T{}) balance += offset < 0 ? 1 : -1;
    }
  for (int d = 16; d > 0; d /= 2) {
    unequal += __shfl_xor_sync(~0u, unequal, d);
    balance += __shfl_xor_sync(~0u, balance, d);
  }
  if (threadIdx.x % 32 != 0) return;
  if (unequal != 0) atomicAdd(facts, static_cast<unsigned long long>(unequal));
  if (balance != 0) atomicAdd(facts + 1, static_cast<unsigned long long>(balance));  // modulo 2^64, so exact
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
std::vector<std::int64_t> occupied_diagonals_cuda(const device& dev, csr_view<const T> A) {
  constexpr int limit = dia_layout<T>::max_diagonals + 1;
  if (A.nonzeros == 0) return {};
  auto seen = array<int>::zeros(dev, A.rows + A.cols - 1);
  auto count = array<int>::zeros(dev, 1);
  auto list = array<std::int64_t>::zeros(dev, limit);
  launch(dev, "list_diagonals", {blocks_for(A.rows), block}, list_diagonals<T>, A, seen.data(), limit,
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
bool mirrors_upper_half_cuda(const device& dev, csr_view<const T> A, const dia_layout<T>& shape, const T* val) {
  auto facts = array<unsigned long long>::zeros(dev, 2);
  launch(dev, "compare_halves", {blocks_for(A.rows), block}, compare_halves<T>, A, shape, val, facts.data());
  const auto found = facts.to_vector();
  return found[0] == 0 && found[1] == 0;
}

template void mark_tiles_cuda(const device&, const csr_layout<float>&, std::int64_t*, std::uint32_t*);
template void mark_tiles_cuda(const device&, const csr_layout<double>&, std::int64_t*, std::uint32_t*);
template std::vector<std::int64_t> occupied_diagonals_cuda(const device&, csr_view<const float>);
template std::vector<std::int64_t> occupied_diagonals_cuda(const device&, csr_view<const double>);
template void fill_diagonals_cuda(const device&, csr_view<const float>, const dia_layout<float>&, std::int64_t,
                                  float*);
template void fill_diagonals_cuda(const device&, csr_view<const double>, const dia_layout<double>&,
                                  std::int64_t, double*);
template bool mirrors_upper_half_cuda(const device&, csr_view<const float>, const dia_layout<float>&,
                                      const float*);
template bool mirrors_upper_half_cuda(const device&, csr_view<const double>, const dia_layout<double>&,
                                      const double*);

void widen_cuda(const device& dev, const std::int32_t* from, std::int64_t count, std::int64_t* to) {
  parallel_for(dev, "widen", count, [=] __device__(std::int64_t i) { to[i] = from[i]; });
}

}  // namespace vouch::detail
