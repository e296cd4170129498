// Sweeps over a dense matrix: every entry is read once, by products at the speed of memory.
//
// Gauss-Seidel takes blocks of 128 rows. By rows, the residual of a block is formed from the newest iterate,
// then the block itself is swept row after row. By columns, the residual of all rows is kept: a block is swept,
// then its columns' share is taken off the others. Both do what the sequential algorithm does, summed in
// another order that does not depend on the threads.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/rounded_square.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/solve/sweep_engine.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch {
namespace {

using detail::rounded_square;
using detail::square_matrix;

constexpr std::int64_t block = 128;  // rows of a Gauss-Seidel block

// From here on a matrix in single precision outgrows the caches, and sweeps are as fast as memory is.
constexpr std::int64_t worth_rounding = 2048;

// A thread pays from some 2^16 entries on; in the sweeps with two barriers a block, from n = 1024.
int useful_threads(const device& dev, std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>(n * n / 65536, 1, dev.threads()));
}
int useful_threads_in_blocks(const device& dev, std::int64_t n) { return n < 1024 ? 1 : dev.threads(); }

// Of both kinds of Matrix: square_matrix<T> and, for T float, rounded_square.
template <real T>
T diagonal_entry(const square_matrix<T>& A, std::int64_t i) {
  return *A.at(i, i);
}
float diagonal_entry(const rounded_square& A, std::int64_t i) { return A.diagonal[i]; }

template <real T, class Matrix>
std::vector<T> relaxation_factors(const Matrix& A, double omega) {
  std::vector<T> factors(static_cast<std::size_t>(A.n));
  for (std::int64_t i = 0; i < A.n; ++i)
    factors[static_cast<std::size_t>(i)] = static_cast<T>(omega / static_cast<double>(diagonal_entry(A, i)));
  return factors;
}

template <class Matrix>
std::string stored_as(const Matrix& A) {
  return A.by_rows ? "dense by rows" : "dense by columns";
}

template <real T, class Matrix>
double dense_residual(int threads, const Matrix& A, const T* d, const T* r, T* s) {
  const std::int64_t rows = detail::rows_of_a_thread(A.n, threads);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (std::int64_t first = 0; first < A.n; first += rows)
    detail::residual_rows(A, d, r, s, first, std::min(A.n, first + rows));
  return detail::sum_of_squares(threads, A.n, s);
}

template <real T, class Matrix = square_matrix<T>>
class dense_jacobi final : public sweeper<T> {
 public:
  dense_jacobi(const device& dev, Matrix A, double omega)
      : A_(std::move(A)),
        threads_(useful_threads(dev, A_.n)),
        factor_(relaxation_factors<T>(A_, omega)),
        s_(dev, A_.n) {}

  void start(const T* r) override { r_ = r; }
  double sweep(T* d) override {
    dense_residual(threads_, A_, d, r_, s_.data());
    return detail::relax(threads_, A_.n, factor_.data(), s_.data(), d);
  }
  double residual(const T* d, T* s) override { return dense_residual(threads_, A_, d, r_, s); }
  std::string name() const override {
    return std::to_string(threads_) + (threads_ == 1 ? " thread, " : " threads, ") + stored_as(A_);
  }

 private:
  Matrix A_;
  int threads_;
  std::vector<T> factor_;
  array<T> s_;
  const T* r_ = nullptr;
};

// One block's rows one after the other: a[k*block + i] couples column k with row i. t is the residual at its
// start, and each element's value when its turn comes at the end; delta what its unknowns change by.
template <real T>
VOUCH_SIMD_INLINE void sweep_block(bool forward, const T* a, std::int64_t size, const T* factor, T* t,
                                   T* delta) {
  for (std::int64_t step = 0; step < size; ++step) {
    const std::int64_t k = forward ? step : size - 1 - step;
    const T change = factor[k] * t[k];
    delta[k] = change;
    const std::int64_t begin = forward ? k + 1 : 0, end = forward ? size : k;
    const T* column = a + k * block;
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) t[i] -= column[i] * change;
  }
}

#define VOUCH_BLOCK_KERNEL(T)                                                                             \
  VOUCH_SIMD_CLONES void block_kernel(bool forward, const T* a, std::int64_t size, const T* factor, T* t, \
                                      T* delta) {                                                         \
    sweep_block<T>(forward, a, size, factor, t, delta);                                                   \
  }
VOUCH_BLOCK_KERNEL(float)
VOUCH_BLOCK_KERNEL(double)
#undef VOUCH_BLOCK_KERNEL

template <real T>
class dense_successive final : public sweeper<T> {
 public:
  dense_successive(const device& dev, const square_matrix<T>& A, const sweep_rule& rule)
      : A_(A),
        order_(rule.order),
        threads_(useful_threads_in_blocks(dev, A_.n)),
        factor_(relaxation_factors<T>(A_, rule.omega)),
        diagonal_(static_cast<std::size_t>(ceil_div(A_.n, block) * block * block)),
        s_(dev, A_.n),
        met_(dev, A_.n) {
    for (std::int64_t j = 0; j < A_.n; ++j) {
      const std::int64_t first = j / block * block;
      for (std::int64_t i = first; i < std::min(A_.n, first + block); ++i)
        diagonal_[static_cast<std::size_t>(j * block + i - first)] = *A_.at(i, j);
    }
  }

  void start(const T* r) override {
    r_ = r;
    std::copy(r, r + A_.n, s_.data());
  }
  double sweep(T* d) override {
    if (order_ != sweep_order::symmetric) return one_way(d, order_ == sweep_order::forward);
    const double met = one_way(d, true);
    one_way(d, false);
    return met;
  }
  double residual(const T* d, T* s) override {
    const double squares = dense_residual(threads_, A_, d, r_, s);
    if (keeps_residual()) std::copy(s, s + A_.n, s_.data());
    return squares;
  }
  bool keeps_residual() const override { return !A_.by_rows; }
  std::string name() const override {
    return std::to_string(threads_) + (threads_ == 1 ? " thread, " : " threads, ") + stored_as(A_) +
           ", blocks of " + std::to_string(block);
  }

 private:
  double one_way(T* d, bool forward) {
    if (threads_ == 1)
      sweep_all(d, forward, 0, 1, [] {});
    else {
#pragma omp parallel num_threads(threads_)
      sweep_all(d, forward, omp_get_thread_num(), omp_get_num_threads(), [] {
#pragma omp barrier
      });
    }
    return detail::sum_of_squares(threads_, A_.n, met_.data());
  }

  // What thread `me` of `team` does. The block is swept by the first one while the others wait.
  template <class Barrier>
  void sweep_all(T* d, bool forward, int me, int team, Barrier barrier) {
    const std::int64_t blocks = ceil_div(A_.n, block);
    const std::int64_t mine = detail::rows_of_a_thread(A_.n, team);
    const std::int64_t my_first = std::min(A_.n, me * mine), my_last = std::min(A_.n, my_first + mine);
    const std::int64_t share = ceil_div(block, std::int64_t{4} * team) * 4;  // rows of a block
    for (std::int64_t k = 0; k < blocks; ++k) {
      const std::int64_t first = (forward ? k : blocks - 1 - k) * block, last = std::min(A_.n, first + block);
      if (A_.by_rows) {
        detail::residual_rows(A_, d, r_, met_.data(), std::min(last, first + me * share),
                              std::min(last, first + (me + 1) * share));
        barrier();
      }
      if (me == 0) sweep_one(d, forward, first, last - first);
      barrier();
      if (!A_.by_rows) {
        detail::subtract_panel(A_, first, last - first, delta_, s_.data(), my_first, my_last);
        barrier();
      }
    }
  }

  void sweep_one(T* d, bool forward, std::int64_t first, std::int64_t size) {
    T* t = met_.data() + first;
    if (!A_.by_rows) std::copy(s_.data() + first, s_.data() + first + size, t);
    block_kernel(forward, diagonal_.data() + first * block, size, factor_.data() + first, t, delta_);
    for (std::int64_t i = 0; i < size; ++i) d[first + i] += delta_[i];
  }

  square_matrix<T> A_;
  sweep_order order_;
  int threads_;
  std::vector<T> factor_;
  std::vector<T> diagonal_;  // block after block, each by columns of `block` elements
  array<T> s_;               // by columns: r - A d
  array<T> met_;
  T delta_[block] = {};
  const T* r_ = nullptr;
};

// Threads take blocks of rows in whatever order, each with the elements of d that it finds.
template <real T>
class dense_chaotic final : public sweeper<T> {
 public:
  dense_chaotic(const device& dev, const square_matrix<T>& A, double omega)
      : A_(A), threads_(useful_threads(dev, A.n)), factor_(relaxation_factors<T>(A, omega)), met_(dev, A.n) {}

  void start(const T* r) override { r_ = r; }
  double sweep(T* d) override {
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
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
  double residual(const T* d, T* s) override { return dense_residual(threads_, A_, d, r_, s); }
  std::string name() const override {
    return std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads") +
           ", dense, asynchronous blocks of " + std::to_string(block);
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
class dense_matrix final : public sweepable_matrix<T> {
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
  std::unique_ptr<cg_engine<T>> make_engine(const device& dev, const sweep_rule& rule, bool by_residual,
                                            const acceleration& accelerate) const override {
    return std::make_unique<sweep_engine<T>>(dev, A_.rows, make_sweeper(dev, rule), by_residual, accelerate,
                                             rule);
  }
  std::unique_ptr<cg_engine<float>> make_rounded_engine(const device& dev, entry_precision precision,
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
  std::unique_ptr<sweeper<T>> make_sweeper(const device& dev, const sweep_rule& rule) const {
    if (rule.ordering == sweep_ordering::multicolor)
      throw value_error("no two rows of a dense matrix are independent: there is no multicolor ordering",
                        "take the natural one");
    if (rule.asynchronous) return std::make_unique<dense_chaotic<T>>(dev, square_, rule.omega);
    if (rule.simultaneous) return std::make_unique<dense_jacobi<T>>(dev, square_, rule.omega);
    return std::make_unique<dense_successive<T>>(dev, square_, rule);
  }

  // Sums of n numbers that are not negative err by at most n units of the last place, rounded to nearest;
  // products with weights may underflow besides.
  double upwards(double sum, bool weighted) const {
    return sum * (1 + static_cast<double>(A_.rows + 8) * 0x1p-51) + (weighted ? 0x1p-1000 : 0.0);
  }

  // Of the contiguous lines, rows or columns.
  void sums_along(const device& dev, const double* v, double* sums) const {
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (A_.rows >= 512)
    for (std::int64_t k = 0; k < A_.rows; ++k) {
      const T* line = A_.data + k * A_.ld;
      sums[k] = upwards(magnitude_sum(line, 0, k, v) + magnitude_sum(line, k + 1, A_.rows, v), v != nullptr);
    }
  }
  // Across them: all lines go by, each adds to all sums of a piece.
  void sums_across(const device& dev, const double* v, double* sums) const {
    constexpr std::int64_t piece = 2048;
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (A_.rows >= 512)
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
std::unique_ptr<sweepable_matrix<T>> make_sweepable(const device& dev, transpose op, matrix_view<const T> A) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return make_sweepable_cuda<T>(dev, op, A);
  return std::make_unique<dense_matrix<T>>(op, A);
}

template std::unique_ptr<sweepable_matrix<float>> make_sweepable(const device&, transpose,
                                                                 matrix_view<const float>);
template std::unique_ptr<sweepable_matrix<double>> make_sweepable(const device&, transpose,
                                                                  matrix_view<const double>);

}  // namespace vouch
