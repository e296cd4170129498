#include <cuda_runtime.h>

#include <limits>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/solve/row_quotients.hpp>

namespace vouch {
namespace {

constexpr int threads = 1024;

// The larger quotient, of equal ones the first row's; the first row that is refused.
__device__ void merge(row_dominance& mine, const row_dominance& other) {
  if (other.ratio > mine.ratio || (other.ratio == mine.ratio && other.row < mine.row)) {
    mine.ratio = other.ratio;
    mine.row = other.row;
  }
  if (other.refused < 0 || (mine.refused >= 0 && mine.refused < other.refused)) return;
  mine.refused = other.refused;
  mine.diagonal = other.diagonal;
  mine.others = other.others;
}

// One block, a thread every 1024th row.
template <class T>
__global__ void __launch_bounds__(threads)
    judge_rows(std::int64_t n, const T* __restrict__ diagonal, const double* __restrict__ sums, double scale,
               double least, double largest, double unit_roundoff, row_dominance* __restrict__ result) {
  __shared__ alignas(row_dominance) unsigned char raw[threads * sizeof(row_dominance)];
  auto* const all = reinterpret_cast<row_dominance*>(raw);
  row_dominance mine;
  mine.row = n;
  for (std::int64_t i = threadIdx.x; i < n; i += threads) {
    const double d = fabs(static_cast<double>(diagonal[i])),
                 others = __dadd_rn(__dmul_rn(sums[i], scale), least);
    row_dominance row;
    row.row = i;
    if (is_divisor(d, others, largest, unit_roundoff)) {
      row.ratio = __ddiv_ru(others, d);
    } else {
      row.refused = i;
      row.diagonal = d;
      row.others = others;
    }
    merge(mine, row);
  }
  all[threadIdx.x] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) merge(all[threadIdx.x], all[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *result = all[0];
}

template <class T>
__global__ void __launch_bounds__(threads)
    largest_of_quotients(std::int64_t n, const double* __restrict__ a, const T* __restrict__ diagonal,
                         double* __restrict__ result) {
  __shared__ double all[threads];
  double largest = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += threads) {
    const double quotient = __ddiv_ru(a[i], fabs(static_cast<double>(diagonal[i])));
    if (!(quotient <= largest)) largest = quotient == quotient ? quotient : 1.0 / 0.0;
  }
  all[threadIdx.x] = largest;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half)
      all[threadIdx.x] = fmax(all[threadIdx.x], all[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *result = all[0];
}

template <class Number>
Number fetch(const device& dev, const array<Number>& from) {
  Number value;
  copy_bytes(&value, device::cpu(1), from.data(), dev, sizeof value);
  return value;
}

}  // namespace

template <real T>
row_dominance dominance_of_rows(const device& dev, std::int64_t n, const T* diagonal, const double* sums,
                                double scale, double least) {
  if (n == 0) return {};
  array<row_dominance> result(dev, 1);
  launch(dev, "judge_rows", {1, threads}, judge_rows<T>, n, diagonal, sums, scale, least,
         static_cast<double>(std::numeric_limits<T>::max()),
         static_cast<double>(std::numeric_limits<T>::epsilon() / 2), result.data());
  return fetch(dev, result);
}

template <real T>
double largest_quotient(const device& dev, std::int64_t n, const double* a, const T* diagonal) {
  if (n == 0) return 0;
  array<double> result(dev, 1);
  launch(dev, "largest_of_quotients", {1, threads}, largest_of_quotients<T>, n, a, diagonal, result.data());
  return fetch(dev, result);
}

template row_dominance dominance_of_rows(const device&, std::int64_t, const float*, const double*, double,
                                         double);
template row_dominance dominance_of_rows(const device&, std::int64_t, const double*, const double*, double,
                                         double);
template double largest_quotient(const device&, std::int64_t, const double*, const float*);
template double largest_quotient(const device&, std::int64_t, const double*, const double*);

}  // namespace vouch
