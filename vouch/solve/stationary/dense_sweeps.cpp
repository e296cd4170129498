// Sweeps over a dense matrix: every entry is read once, by products at the speed of memory.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/solve/stationary/dense_sweeps.hpp>
#include <vouch/solve/stationary/sweep_engine.hpp>

namespace vouch {
namespace {

using detail::rounded_square;
using detail::square_matrix;

constexpr std::int64_t block = 128;  // rows that an asynchronous sweep takes at once

// From here on a matrix in single precision outgrows the caches, and sweeps are as fast as memory is.
constexpr std::int64_t worth_rounding = 2048;

// A thread pays from some 2^16 entries on.
int useful_threads(const device& dev, std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>(n * n / 65536, 1, dev.threads()));
}

template <real T, class Matrix = square_matrix<T>>
class dense_jacobi final : public stationary_iteration<T> {
 public:
  dense_jacobi(const device& dev, Matrix A, double omega)
      : A_(std::move(A)),
        threads_(useful_threads(dev, A_.n)),
        factor_(detail::relaxation_factors<T>(A_, omega)),
        s_(dev, A_.n) {}

  void start(const T* r) override { r_ = r; }
  double sweep(T* d) override {
    detail::dense_residual(threads_, A_, d, r_, s_.data());
    return detail::relax(threads_, A_.n, factor_.data(), s_.data(), d);
  }
  double residual(const T* d, T* s) override { return detail::dense_residual(threads_, A_, d, r_, s); }
  std::string name() const override { return detail::threads_and_storage(threads_, A_); }

 private:
  Matrix A_;
  int threads_;
  std::vector<T> factor_;
  array<T> s_;
  const T* r_ = nullptr;
};

// Threads take blocks of rows in whatever order, each with the elements of d that it finds.
template <real T>
class dense_chaotic final : public stationary_iteration<T> {
 public:
  dense_chaotic(const device& dev, const square_matrix<T>& A, double omega)
      : A_(A),
        threads_(useful_threads(dev, A.n)),
        factor_(detail::relaxation_factors<T>(A, omega)),
        met_(dev, A.n) {}

  void start(const T* r) override { r_ = r; }
  double sweep(T* d) override {
#pragma omp parallel firstprivate(ieee) num_threads(threads_) if (threads_ > 1)
    {
      std::vector<T> found(static_cast<std::size_t>(A_.n));
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t first = 0; first < A_.n; first += block) {
        const std::int64_t last = std::min(A_.n, first + block);
        for (std::int64_t j = 0; j < A_.n; ++j)
          found[static_cast<std::size_t>(j)] = std::atomic_ref<T>(d[j]).load(std::memory_order_relaxed);
        detail::residual_rows(A_, found.data(), r_, met_.data(), first, last);
        for (std::int64_t i = first; i < last; ++i) {
          const auto at = static_cast<std::size_t>(i);
          std::atomic_ref<T>(d[i]).store(found[at] + factor_[at] * met_[i], std::memory_order_relaxed);
        }
      }
    }
    return detail::sum_of_squares(threads_, A_.n, met_.data());
  }
  double residual(const T* d, T* s) override { return detail::dense_residual(threads_, A_, d, r_, s); }
  std::string name() const override {
    return detail::threads_and_storage(threads_, A_) + ", asynchronous blocks of " + std::to_string(block);
  }

 private:
  square_matrix<T> A_;
  int threads_;
  std::vector<T> factor_;
  array<T> met_;
  const T* r_ = nullptr;
};

// |a[j]| v[j] summed from `first` to `last` in double; v may be nullptr for ones.
template <real T, bool Weighted>
VOUCH_SIMD_INLINE double sum_of_magnitudes(const T* a, std::int64_t first, std::int64_t last, const double* v) {
  constexpr int width = 32;
  double sum[width] = {};
  std::int64_t j = first;
  for (; j + width <= last; j += width)
    for (int l = 0; l < width; ++l) sum[l] += std::fabs(double{a[j + l]}) * (Weighted ? v[j + l] : 1.0);
  for (; j < last; ++j) sum[0] += std::fabs(double{a[j]}) * (Weighted ? v[j] : 1.0);
  double all = 0;
  for (const double part : sum) all += part;
  return all;
}

// sum[i] += |a[i]| weight
template <real T>
VOUCH_SIMD_INLINE void add_magnitudes_of(const T* a, std::int64_t first, std::int64_t last, double weight,
                                         double* sum) {
  for (std::int64_t i = first; i < last; ++i) sum[i] += std::fabs(double{a[i]}) * weight;
}

#define VOUCH_MAGNITUDE_KERNELS(T)                                                                             \
  VOUCH_SIMD_CLONES double magnitude_sum(const T* a, std::int64_t first, std::int64_t last, const double* v) { \
    return v != nullptr ? sum_of_magnitudes<T, true>(a, first, last, v)                                        \
                        : sum_of_magnitudes<T, false>(a, first, last, v);                                      \
  }                                                                                                            \
  VOUCH_SIMD_CLONES void add_magnitudes(const T* a, std::int64_t first, std::int64_t last, double weight,      \
                                        double* sum) {                                                         \
    add_magnitudes_of<T>(a, first, last, weight, sum);                                                         \
  }
VOUCH_MAGNITUDE_KERNELS(float)
VOUCH_MAGNITUDE_KERNELS(double)
#undef VOUCH_MAGNITUDE_KERNELS

template <real T>
class dense_matrix final : public iteration_matrix<T> {
 public:
  dense_matrix(transpose op, matrix_view<const T> A) : op_(op), A_(A), square_(detail::make_square(op, A)) {}

  std::int64_t rows() const override { return A_.rows; }
  T diagonal(std::int64_t i) const override { return *square_.at(i, i); }

  void off_diagonal_sums(const device& dev, const double* v, double* sums) const override {
    square_.by_rows ? sums_along(dev, v, sums) : sums_across(dev, v, sums);
  }
  void off_diagonal_column_sums(const device& dev, double* sums) const override {
    square_.by_rows ? sums_across(dev, nullptr, sums) : sums_along(dev, nullptr, sums);
  }
  residual_facts residual(const device& dev, view<const T> b, const T* x, const T* x_lo, T* r) const override {
    return vouch::residual<T>(dev, op_, A_, b, {x, A_.rows}, x_lo, {r, A_.rows});
  }
  void residual_bound(const device& dev, view<const T> b, view<const T> x, view<double> bound) const override {
    vouch::residual_bound<T>(dev, op_, A_, b, x, bound);
  }
  std::unique_ptr<stationary_iteration<T>> make_sweeps(const device& dev,
                                                       const sweep_rule& rule) const override {
    if (rule.ordering == sweep_ordering::multicolor)
      throw value_error("no two rows of a dense matrix are independent: there is no multicolor ordering",
                        "take the natural one");
    if (rule.asynchronous) return std::make_unique<dense_chaotic<T>>(dev, square_, rule.omega);
    if (rule.simultaneous) return std::make_unique<dense_jacobi<T>>(dev, square_, rule.omega);
    return detail::make_dense_successive<T>(dev, square_, rule);
  }
  std::unique_ptr<inner_solver<T>> make_engine(const device& dev, const sweep_rule& rule, bool by_residual,
                                               const acceleration& accelerate) const override {
    return std::make_unique<sweep_engine<T>>(dev, A_.rows, make_sweeps(dev, rule), by_residual, accelerate,
                                             rule);
  }
  std::unique_ptr<inner_solver<float>> make_rounded_engine(const device& dev, entry_precision precision,
                                                           const sweep_rule& rule,
                                                           const acceleration& accelerate) const override {
    if constexpr (std::same_as<T, double>)
      if (precision == entry_precision::bfloat16 && A_.rows >= worth_rounding && rule.simultaneous)
        return std::make_unique<sweep_engine<float>>(dev, A_.rows,
                                                     std::make_unique<dense_jacobi<float, rounded_square>>(
                                                         dev, detail::round_square(dev, square_), rule.omega),
                                                     true, accelerate, rule);
    return nullptr;
  }

 private:
  // Sums of n numbers that are not negative err by at most n units of the last place, rounded to nearest;
  // products with weights may underflow besides.
  double upwards(double sum, bool weighted) const {
    return sum * (1 + static_cast<double>(A_.rows + 8) * 0x1p-51) + (weighted ? 0x1p-1000 : 0.0);
  }

  // Of the contiguous lines, rows or columns.
  void sums_along(const device& dev, const double* v, double* sums) const {
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (A_.rows >= 512)
    for (std::int64_t k = 0; k < A_.rows; ++k) {
      const T* line = A_.data + k * A_.ld;
      sums[k] = upwards(magnitude_sum(line, 0, k, v) + magnitude_sum(line, k + 1, A_.rows, v), v != nullptr);
    }
  }
  // Across them: all lines go by, each adds to all sums of a piece.
  void sums_across(const device& dev, const double* v, double* sums) const {
    constexpr std::int64_t piece = 2048;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (A_.rows >= 512)
    for (std::int64_t first = 0; first < A_.rows; first += piece) {
      const std::int64_t last = std::min(A_.rows, first + piece);
      std::fill(sums + first, sums + last, 0.0);
      for (std::int64_t k = 0; k < A_.rows; ++k) {
        const T* line = A_.data + k * A_.ld;
        const double weight = v != nullptr ? v[k] : 1.0;
        add_magnitudes(line, first, std::min(last, std::max(first, k)), weight, sums);
        add_magnitudes(line, std::max(first, std::min(last, k + 1)), last, weight, sums);
      }
      for (std::int64_t i = first; i < last; ++i) sums[i] = upwards(sums[i], v != nullptr);
    }
  }

  transpose op_;
  matrix_view<const T> A_;
  square_matrix<T> square_;
};

}  // namespace

template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(const device& dev, transpose op,
                                                           matrix_view<const T> A) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return make_iteration_matrix_cuda<T>(dev, op, A);
  return std::make_unique<dense_matrix<T>>(op, A);
}

template VOUCH_PUBLIC std::unique_ptr<iteration_matrix<float>> make_iteration_matrix(const device&, transpose,
                                                                                     matrix_view<const float>);
template VOUCH_PUBLIC std::unique_ptr<iteration_matrix<double>> make_iteration_matrix(
    const device&, transpose, matrix_view<const double>);

}  // namespace vouch
