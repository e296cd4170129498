#include <dlfcn.h>

#include <limits>
#include <type_traits>
#include <vector>

#include <vouch/core/random.hpp>

#include "interval_peers.hpp"
#include "timing.hpp"

namespace vouch::bench {
namespace {

// The C interface of BLAS, as every implementation has it with 32-bit sizes.
constexpr int column_major = 102;
constexpr int no_transpose = 111;

template <class T>
struct blas {
  void (*axpy)(int, T, const T*, int, T*, int);
  T (*dot)(int, const T*, int, const T*, int);
  void (*gemv)(int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  void (*gemm)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
};

// Loaded once and not linked: a start of the tool does not pay for it.
class openblas {
 public:
  openblas() {
    for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
      if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    find(double_.axpy, "cblas_daxpy");
    find(double_.dot, "cblas_ddot");
    find(double_.gemv, "cblas_dgemv");
    find(double_.gemm, "cblas_dgemm");
    find(float_.axpy, "cblas_saxpy");
    find(float_.dot, "cblas_sdot");
    find(float_.gemv, "cblas_sgemv");
    find(float_.gemm, "cblas_sgemm");
    find(set_threads_, "openblas_set_num_threads");
  }
  bool complete() const { return complete_; }
  template <class T>
  const blas<T>& calls(int threads) const {
    set_threads_(threads);
    if constexpr (std::is_same_v<T, float>)
      return float_;
    else
      return double_;
  }

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle_, name));
    complete_ = complete_ && function != nullptr;
  }
  void* handle_ = nullptr;
  bool complete_ = true;
  blas<double> double_{};
  blas<float> float_{};
  void (*set_threads_)(int) = nullptr;
};

template <class T>
std::vector<T> numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<T> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    all[static_cast<std::size_t>(i)] =
        static_cast<T>(random_unit(seed, static_cast<std::uint64_t>(i) % 4096) - 0.5);
  return all;
}

}  // namespace

template <real T>
std::optional<double> openblas_seconds(blas_routine routine, std::int64_t n, int threads) {
  static const openblas library;
  if (!library.complete() || n > std::numeric_limits<int>::max()) return std::nullopt;
  const blas<T>& calls = library.calls<T>(threads);
  const bool matrices = routine == blas_routine::gemm;
  const int order = static_cast<int>(n);
  const std::vector<T> a = numbers<T>(matrices || routine == blas_routine::gemv ? n * n : 0, 1);
  const std::vector<T> x = numbers<T>(matrices ? n * n : n, 2);
  std::vector<T> y = numbers<T>(matrices ? n * n : n, 3);
  volatile T seen = 0;
  constexpr double budget = 0.1;
  constexpr T one = 1;
  return best_seconds(
      budget,
      [&] {
        if (routine == blas_routine::axpy) calls.axpy(order, T(0.5), x.data(), 1, y.data(), 1);
        if (routine == blas_routine::dot) seen = calls.dot(order, x.data(), 1, y.data(), 1);
        if (routine == blas_routine::gemv)
          calls.gemv(column_major, no_transpose, order, order, one, a.data(), order, x.data(), 1, one, y.data(),
                     1);
        if (matrices)
          calls.gemm(column_major, no_transpose, no_transpose, order, order, order, one, a.data(), order,
                     x.data(), order, one, y.data(), order);
      },
      [] {});
}

template std::optional<double> openblas_seconds<float>(blas_routine, std::int64_t, int);
template std::optional<double> openblas_seconds<double>(blas_routine, std::int64_t, int);

}  // namespace vouch::bench
