#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/blas/columns_product.hpp>
#include <vouch/dense/blas/entries.cuh>
#include <vouch/dense/blas/lanes.cuh>

namespace vouch::detail {
namespace {

constexpr unsigned rows_a_block = 128;   // threads of kernels with a row for each
constexpr unsigned lanes_a_block = 256;  // threads of kernels with lanes for each column
constexpr int batch = 8;                 // entries that a thread has under way

// sum + entries of row i times x for the columns given, one after the other.
template <class R, class A, class Elements>
__device__ R add_some(const columns<const A>& a, std::int64_t i, range cols, std::int64_t first, Elements& x,
                      R sum) {
  for (std::int64_t j = cols.first; j < cols.last; ++j) {
    const range rows = a.stored(j);
    if (i >= rows.first && i < rows.last) sum = multiply_add(x[j - first], load_entry(&a(i, j)), sum);
  }
  return sum;
}

// The same for columns that all store this row; x_finite: so are the elements of x.
template <class R, class A, class Elements>
__device__ R add_all(const columns<const A>& a, std::int64_t i, range cols, std::int64_t first, Elements& x,
                     bool x_finite, R sum) {
  std::int64_t j = cols.first;
  for (; j + batch <= cols.last; j += batch) {
    A entry[batch];
    unsigned largest = 0;
#pragma unroll
    for (int c = 0; c < batch; ++c) entry[c] = load_entry(&a(i, j + c));
#pragma unroll
    for (int c = 0; c < batch; ++c) largest = ::max(largest, magnitude_bits(entry[c]));
    if (x_finite && largest < infinite_bits<A>) {
#pragma unroll
      for (int c = 0; c < batch; ++c) sum = multiply_add_finite(entry[c], R{x[j + c - first]}, sum);
    } else {
      for (int c = 0; c < batch; ++c) sum = multiply_add(x[j + c - first], load_entry(&a(i, j + c)), sum);
    }
  }
  return add_some(a, i, {j, cols.last}, first, x, sum);
}

// sum + row i of a times x for the columns given. A warp goes over the columns that its rows touch; where some
// do not store all of its rows it looks at each.
template <class R, class A, class Elements>
__device__ R add_row(const columns<const A>& a, std::int64_t i, range cols, Elements& x, bool x_finite, R sum) {
  const std::int64_t top = i - threadIdx.x % 32, end = ::min(a.rows, top + 32);
  const range mine = a.touching({top, end}).clipped(cols);
  const std::int64_t full_first =
      ::min(::max(mine.first, (end - 1) / a.group - a.below), ::max(mine.first, mine.last));
  const std::int64_t full_last = ::max(full_first, ::min(mine.last, top / a.group + a.above + 1));
  sum = add_some(a, i, {mine.first, full_first}, cols.first, x, sum);
  sum = add_all(a, i, {full_first, full_last}, cols.first, x, x_finite, sum);
  return add_some(a, i, {full_last, mine.last}, cols.first, x, sum);
}

// Brings elements of x to shared memory as elements of R; whether all are finite. For all threads of a block.
template <class R, class X, class Elements>
__device__ bool bring(view<const X> x, range which, Elements& to) {
  bool all_finite = true;
  for (std::int64_t j = which.first + threadIdx.x; j < which.last; j += blockDim.x) {
    const R element{x[j]};
    to[j - which.first] = element;
    all_finite = all_finite && finite(element);
  }
  return __syncthreads_and(all_finite) != 0;
}

// A thread sums up one row's entries in 256 of the columns that its block of 512 rows touches: neighbouring
// threads read neighbours in a column. partial holds a value for every row and part. Bound by memory.
template <class R, class A, class X>
__global__ void __launch_bounds__(rows_a_block)
    product_parts(columns<const A> a, view<const X> x, std::int64_t groups, R* partial) {
  __shared__ shared_elements<R, column_block> elements;
  const std::int64_t group = blockIdx.x % groups, part = blockIdx.x / groups;
  const std::int64_t first_row = group * rows_a_block, block = first_row / row_block * row_block;
  const range touching = a.touching({block, ::min(a.rows, block + row_block)});
  const std::int64_t first = touching.first + part * column_block;
  const range cols{first, ::min(touching.last, first + column_block)};
  const bool x_finite = bring<R>(x, cols, elements);
  const std::int64_t i = first_row + threadIdx.x;
  if (i >= a.rows) return;
  partial[part * a.rows + i] = add_row(a, i, cols, elements, x_finite, R{});
}

// The inner product of a piece of a column with x, by lane_count<R> threads as dot_piece does it: lane l takes
// entries l, l + lanes, ... Column j's part p is partial[p * cols.size() + j - cols.first]. Bound by memory.
template <class R, class A, class X>
__global__ void __launch_bounds__(lanes_a_block)
    transposed_parts(columns<const A> a, range cols, range rows, view<const X> x, std::int64_t parts,
                     R* partial) {
  constexpr int lanes = lane_count<R>, in_flight = 4;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t task = std::int64_t{blockIdx.x} * (lanes_a_block / lanes) + threadIdx.x / lanes;
  const std::int64_t part = task / cols.size(), j = cols.first + task % cols.size();
  R sum{};
  if (part < parts) {
    const range all = a.stored(j).clipped(rows);
    const std::int64_t first = all.first + part * piece_size, last = ::min(first + piece_size, all.last);
    std::int64_t i = first + lane;
    for (; i + (in_flight - 1) * lanes < last; i += in_flight * lanes) {
      A entry[in_flight];
      X element[in_flight];
      unsigned largest = 0;
#pragma unroll
      for (int c = 0; c < in_flight; ++c) {
        entry[c] = load_entry(&a(i + c * lanes, j));
        element[c] = load_entry(&x[i + c * lanes]);
      }
#pragma unroll
      for (int c = 0; c < in_flight; ++c)
        largest = ::max(largest, ::max(magnitude_bits(entry[c]), magnitude_bits(element[c])));
      if (largest < infinite_bits<A>) {
#pragma unroll
        for (int c = 0; c < in_flight; ++c) sum = multiply_add_finite(entry[c], R{element[c]}, sum);
      } else {
        for (int c = 0; c < in_flight; ++c)
          sum = multiply_add(load_entry(&a(i + c * lanes, j)), load_entry(&x[i + c * lanes]), sum);
      }
    }
    for (; i < last; i += lanes) sum = multiply_add(load_entry(&a(i, j)), load_entry(&x[i]), sum);
  }
  sum = sum_of_lanes<lanes_a_block>(sum);
  if (lane == 0 && part < parts) partial[task] = sum;
}

template <class R>
struct parts_of_sum {
  const R* partial = nullptr;
  std::int64_t count = 0;

  __device__ R add(std::int64_t i, std::int64_t size, R sum) const {
    for (std::int64_t p = 0; p < count; ++p) sum = multiply_add(R{bound_of<R>{1}}, partial[p * size + i], sum);
    return sum;
  }
};

// y := alpha (first + second + x where unit) + beta y, sums in this order. A thread has an element.
template <class R, class X>
__global__ void __launch_bounds__(lanes_a_block)
    finish_product(parts_of_sum<R> first, parts_of_sum<R> second, bool unit, view<const X> x, R alpha, R beta,
                   view<R> y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * lanes_a_block + threadIdx.x;
  if (i >= y.size()) return;
  R value{};
  if (!is_zero(beta)) value = is_one(beta) ? y[i] : multiply_add(beta, y[i], R{});
  if (!is_zero(alpha)) {
    R sum = second.add(i, y.size(), first.add(i, y.size(), R{}));
    if (unit) sum = multiply_add(R{bound_of<R>{1}}, x[i], sum);
    value = multiply_add(alpha, sum, value);
  }
  y[i] = value;
}

template <class R>
struct scratch_sums {
  scratch<R> values;
  std::int64_t count = 0;
  parts_of_sum<R> all() const { return {values.data(), count}; }
};

// a x in parts.
template <scalar R, scalar A, scalar X>
scratch_sums<R> parts_of_product(const device& dev, columns<const A> a, view<const X> x) {
  std::int64_t parts = 0;
  for (std::int64_t i = 0; i < a.rows; i += row_block)
    parts = std::max(parts, ceil_div(a.touching({i, std::min(a.rows, i + row_block)}).size(), column_block));
  scratch_sums<R> sums{scratch<R>(dev, parts * a.rows), parts};
  const std::int64_t groups = ceil_div<std::int64_t>(a.rows, rows_a_block);
  launch(dev, "product_parts", {groups * parts, rows_a_block}, product_parts<R, A, X>, a, x, groups,
         sums.values.data());
  return sums;
}

// The transpose of the rows and columns given, times x, in parts.
template <scalar R, scalar A, scalar X>
scratch_sums<R> parts_of_transposed(const device& dev, columns<const A> a, range cols, range rows,
                                    view<const X> x) {
  const std::int64_t parts = piece_count(std::min(rows.size(), a.most_stored()));
  scratch_sums<R> sums{scratch<R>(dev, parts * cols.size()), parts};
  constexpr std::int64_t tasks_a_block = lanes_a_block / lane_count<R>;
  launch(dev, "transposed_parts", {ceil_div(parts * cols.size(), tasks_a_block), lanes_a_block},
         transposed_parts<R, A, X>, a, cols, rows, x, parts, sums.values.data());
  return sums;
}

template <scalar R, scalar A, scalar X>
scratch_sums<R> parts_of_any(const device& dev, columns<const A> a, bool transposed, view<const X> x) {
  if (transposed) return parts_of_transposed<R>(dev, a, {0, a.cols}, {0, a.rows}, x);
  return parts_of_product<R>(dev, a, x);
}

// A thread has a row, a block 16 columns: entry (i, j) := x_i (alpha y_j) + entry.
constexpr int columns_a_block = 16;
template <class R, class X, class Y>
__global__ void __launch_bounds__(lanes_a_block)
    update_entries(columns<R> a, R alpha, view<const X> x, view<const Y> y, std::int64_t groups) {
  __shared__ shared_elements<R, columns_a_block> factor;
  const std::int64_t i = blockIdx.x % groups * lanes_a_block + threadIdx.x,
                     first = blockIdx.x / groups * columns_a_block;
  const int count = static_cast<int>(::min(std::int64_t{columns_a_block}, a.cols - first));
  if (static_cast<int>(threadIdx.x) < count)
    factor[threadIdx.x] = multiply_add(alpha, y[first + threadIdx.x], R{});
  __syncthreads();
  if (i >= a.rows) return;
  const X element = x[i];
#pragma unroll 4
  for (int c = 0; c < count; ++c) {
    const range rows = a.stored(first + c);
    if (i < rows.first || i >= rows.last) continue;
    R& entry = a(i, first + c);
    entry = multiply_add(factor[c], element, load_entry(&entry));
  }
}

template <class R, class X>
__global__ void __launch_bounds__(lanes_a_block) update_diagonal(columns<R> a, R alpha, view<const X> x) {
  const std::int64_t j = std::int64_t{blockIdx.x} * lanes_a_block + threadIdx.x;
  if (j < a.cols) a(j, j) = multiply_add(alpha, add_square(R{x[j]}, R{}), a(j, j));
}

}  // namespace

template <scalar R, scalar A, scalar X>
void multiply_columns_cuda(const device& dev, columns<const A> a, bool transposed, meaning means, R alpha,
                           view<const X> x, R beta, view<R> y) {
  const auto strict = a.without_diagonal();
  const bool unit = means == meaning::unit_diagonal;
  scratch_sums<R> first, second;
  if (!is_zero(alpha)) {
    first = parts_of_any<R>(dev, unit ? strict : a, transposed, x);
    if (means == meaning::mirrored) second = parts_of_any<R>(dev, strict, !transposed, x);
  }
  launch(dev, "finish_product", {ceil_div<std::int64_t>(y.size(), lanes_a_block), lanes_a_block},
         finish_product<R, X>, first.all(), second.all(), unit, x, alpha, beta, y);
}

template <scalar R, scalar X, scalar Y>
void update_columns_cuda(const device& dev, columns<R> a, R alpha, view<const X> x, view<const Y> y) {
  if (is_zero(alpha)) return;
  const std::int64_t groups = ceil_div<std::int64_t>(a.rows, lanes_a_block);
  launch(dev, "update_entries", {groups * ceil_div<std::int64_t>(a.cols, columns_a_block), lanes_a_block},
         update_entries<R, X, Y>, a, alpha, x, y, groups);
}

template <scalar R, scalar X>
void update_columns_cuda(const device& dev, columns<R> a, R alpha, view<const X> x) {
  if (is_zero(alpha)) return;
  update_columns_cuda(dev, a.without_diagonal(), alpha, x, x);
  launch(dev, "update_diagonal", {ceil_div<std::int64_t>(a.cols, lanes_a_block), lanes_a_block},
         update_diagonal<R, X>, a, alpha, x);
}

#define VOUCH_THREE(A, X, R)                                                                               \
  template void multiply_columns_cuda(const device&, columns<const A>, bool, meaning, R, view<const X>, R, \
                                      view<R>);                                                            \
  template void update_columns_cuda(const device&, columns<R>, R, view<const A>, view<const X>);
#define VOUCH_TWO(A, R) template void update_columns_cuda(const device&, columns<R>, R, view<const A>);
#define VOUCH_PRECISION(T)                           \
  VOUCH_THREE(T, T, T)                               \
  VOUCH_THREE(T, T, interval<T>)                     \
  VOUCH_THREE(T, interval<T>, interval<T>)           \
  VOUCH_THREE(interval<T>, T, interval<T>)           \
  VOUCH_THREE(interval<T>, interval<T>, interval<T>) \
  VOUCH_TWO(T, T)                                    \
  VOUCH_TWO(T, interval<T>)                          \
  VOUCH_TWO(interval<T>, interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
