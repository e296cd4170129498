// Sweeps over a dense matrix on a GPU, a warp a row: those that Chebyshev's method accelerates, and
// asynchronous ones.
#include <algorithm>
#include <memory>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/device_sweeps.cuh>

namespace vouch {
namespace {

// Rows of 16-byte pieces; the vector has as many elements as a row, those from n on are zero. Bound by memory:
// a warp has eight pieces a lane under way.
template <class T>
struct dense_rows {
  const T* data = nullptr;
  std::int64_t n = 0, padded = 0, ld = 0;

  struct all_rows {};
  __device__ std::int64_t sets() const { return 1; }
  __device__ all_rows set(std::int64_t) const { return {}; }
  __device__ std::int64_t units(all_rows) const { return n; }
  struct beside {
    T right{}, factor{};
  };
  __device__ beside fetch(all_rows, std::int64_t row, const T* r, const T* factor) const {
    return row < n ? beside{r[row], factor[row]} : beside{};
  }
  struct operands {};
  template <class Vector>
  __device__ operands gather(const beside&, const Vector&) const {
    return {};
  }
  template <class Vector>
  __device__ std::int64_t residual(all_rows, std::int64_t row, const beside& b, operands, const Vector& d,
                                   device_sweeps::row_result<T>& found) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const T* const a = data + row * ld;
    T sum[width] = {};
#pragma unroll 8
    for (std::int64_t j = lane * width; j < padded; j += 32 * width) {
      alignas(16) T piece[width], x[width];
      *reinterpret_cast<uint4*>(piece) = __ldcs(reinterpret_cast<const uint4*>(a + j));
      load(d, j, x);
#pragma unroll
      for (int l = 0; l < width; ++l) sum[l] += piece[l] * x[l];
    }
    T all = sum[0];
#pragma unroll
    for (int l = 1; l < width; ++l) all += sum[l];
    for (int k = 16; k > 0; k /= 2) all += __shfl_xor_sync(~0u, all, k);
    found = {b.right - all, d[row], b.factor};
    return lane == 0 ? row : -1;
  }

 private:
  static constexpr int width = 16 / sizeof(T);
  __device__ static void load(const T* d, std::int64_t j, T (&x)[width]) {
    *reinterpret_cast<uint4*>(x) = *reinterpret_cast<const uint4*>(d + j);
  }
  __device__ static void load(const device_sweeps::shifting<T>& d, std::int64_t j, T (&x)[width]) {
    for (int l = 0; l < width; ++l) x[l] = d[j + l];
  }
};

template <real T>
struct dense_storage {
  dense_rows<T> rows;
  array<std::int32_t> place;
  std::int64_t n, padded, bytes, blocks;

  dense_rows<T> arguments() const { return rows; }
  std::string name() const { return "dense by rows, a warp a row"; }
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> dense_plain_sweeps_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                         const sweep_rule& rule, bool by_residual,
                                                         const acceleration& accelerate) {
  if (accelerate.anderson > 0)
    throw value_error("asynchronous sweeps are not mixed by Anderson's method", "take jacobi");
  dense_storage<T> storage{{A.data, A.n, A.padded, A.ld},
                           {},
                           A.n,
                           A.padded,
                           A.n * A.ld * static_cast<std::int64_t>(sizeof(T)),
                           std::min<std::int64_t>(dev.processors(), ceil_div<std::int64_t>(A.n, 4))};
  array<T> factor(dev, A.padded);
  dense_engine::make_relaxation<T>(dev, A, rule.omega, factor.data(), nullptr);
  return std::make_unique<device_sweeps::engine<T, dense_storage<T>>>(
      dev, std::move(storage), std::move(factor), device_sweeps::manner{rule, by_residual, accelerate});
}

#define VOUCH_INSTANTIATE(T)                                         \
  template std::unique_ptr<inner_solver<T>> dense_plain_sweeps_cuda( \
      const device&, const detail::aligned_rows<T>&, const sweep_rule&, bool, const acceleration&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
