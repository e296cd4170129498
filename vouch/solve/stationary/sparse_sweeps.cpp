// Sweeps over a CSR matrix. Gauss-Seidel takes the rows in their order; where there are enough of them that do
// not refer to each other, a team of threads takes these side by side. A row's sum is the same either way.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/solve/stationary/independent_rows.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>
#include <vouch/solve/stationary/sweep_engine.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/spmv_plan.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
T diagonal_of(csr_view<const T> A, std::int64_t i) {
  const std::int32_t *begin = A.col + A.row_ptr[i], *end = A.col + A.row_ptr[i + 1];
  const std::int32_t* found = std::lower_bound(begin, end, static_cast<std::int32_t>(i));
  return found != end && *found == i ? A.val[found - A.col] : T{};
}

template <real T>
array<T> relaxation_factors(const device& dev, csr_view<const T> A, double omega) {
  array<T> factors(dev, A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i)
    factors[i] = static_cast<T>(omega / static_cast<double>(diagonal_of(A, i)));
  return factors;
}

template <real T>
double sparse_residual(int threads, const spmv_plan<T>& A, const T* d, const T* r, T* s) {
  std::copy(r, r + A.rows(), s);
  A.multiply(T{-1}, {d, A.rows()}, T{1}, {s, A.rows()});
  return detail::sum_of_squares(threads, A.rows(), s);
}

std::string plan_name(const device& dev, const std::string& format) {
  return std::to_string(dev.threads()) + (dev.threads() == 1 ? " thread, " : " threads, ") + format;
}

template <real T>
class sparse_jacobi final : public stationary_iteration<T> {
 public:
  sparse_jacobi(const device& dev, csr_view<const T> A, double omega)
      : dev_(dev),
        A_(spmv_plan<T>::make(dev, A)),
        factor_(relaxation_factors(dev, A, omega)),
        s_(dev, A.rows) {}

  void start(const T* r) override { r_ = r; }
  double sweep(T* d) override {
    std::copy(r_, r_ + A_.rows(), s_.data());
    A_.multiply(T{-1}, {d, A_.rows()}, T{1}, s_);
    return detail::relax(dev_.threads(), A_.rows(), factor_.data(), s_.data(), d);
  }
  double residual(const T* d, T* s) override { return sparse_residual(dev_.threads(), A_, d, r_, s); }
  std::string name() const override { return plan_name(dev_, A_.format()); }

 private:
  device dev_;
  spmv_plan<T> A_;
  array<T> factor_;
  array<T> s_;
  const T* r_ = nullptr;
};

// Entries of an independent set, on average, from which a barrier (a few microseconds) is worth it.
constexpr std::int64_t entries_for_a_team = 8192;

template <real T>
class sparse_successive final : public stationary_iteration<T> {
 public:
  sparse_successive(const device& dev, csr_view<const T> A, const sweep_rule& rule)
      : dev_(dev),
        A_(A),
        order_(rule.order),
        plan_(spmv_plan<T>::make(dev, A)),
        factor_(relaxation_factors(dev, A, rule.omega)),
        met_(dev, A.rows) {
    if (rule.ordering == sweep_ordering::multicolor) {
      sets_ = colour_rows(dev, A);
      kind_ = "colours";
      return;
    }
    if (dev.threads() == 1 || A.nonzeros < 2 * entries_for_a_team) return;
    sets_ = find_independent_rows(A);
    if (A.nonzeros / sets_.count() < entries_for_a_team) sets_ = {};
  }

  void start(const T* r) override { r_ = r; }
  double sweep(T* d) override {
    if (order_ != sweep_order::symmetric) return one_way(d, order_ == sweep_order::forward);
    const double met = one_way(d, true);
    one_way(d, false);
    return met;
  }
  double residual(const T* d, T* s) override { return sparse_residual(dev_.threads(), plan_, d, r_, s); }
  std::string name() const override {
    if (sets_.start.empty()) return "1 thread, csr";
    return plan_name(dev_, "csr, " + std::to_string(sets_.count()) + ' ' + kind_);
  }

 private:
  double one_way(T* d, bool forward) {
    if (sets_.start.empty())
      for (std::int64_t i = 0; i < A_.rows; ++i) sweep_row(d, forward ? i : A_.rows - 1 - i);
    else
      by_sets(d, forward);
    return detail::sum_of_squares(dev_.threads(), A_.rows, met_.data());
  }

  void by_sets(T* d, bool forward) {
    const std::int64_t count = sets_.count();
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev_, A_.nonzeros))
    for (std::int64_t k = 0; k < count; ++k) {
      const auto set = static_cast<std::size_t>(forward ? k : count - 1 - k);
      const std::int64_t begin = sets_.start[set], end = sets_.start[set + 1];
#pragma omp for schedule(static)
      for (std::int64_t p = begin; p < end; ++p) sweep_row(d, sets_.rows[static_cast<std::size_t>(p)]);
    }
  }

  // Four running sums hide the latency of the addition; their order is fixed.
  void sweep_row(T* d, std::int64_t i) {
    const std::int64_t end = A_.row_ptr[i + 1];
    std::int64_t k = A_.row_ptr[i];
    T s0{}, s1{}, s2{}, s3{};
    for (; k + 4 <= end; k += 4) {
      s0 += A_.val[k] * d[A_.col[k]];
      s1 += A_.val[k + 1] * d[A_.col[k + 1]];
      s2 += A_.val[k + 2] * d[A_.col[k + 2]];
      s3 += A_.val[k + 3] * d[A_.col[k + 3]];
    }
    for (; k < end; ++k) s0 += A_.val[k] * d[A_.col[k]];
    met_[i] = r_[i] - ((s0 + s1) + (s2 + s3));
    d[i] += factor_[i] * met_[i];
  }

  device dev_;
  csr_view<const T> A_;
  sweep_order order_;
  spmv_plan<T> plan_;
  array<T> factor_;
  array<T> met_;
  independent_rows sets_;  // empty: one row after the other
  const char* kind_ = "sets of independent rows";
  const T* r_ = nullptr;
};

// Threads take rows in pieces, in whatever order; d is read and written element by element.
template <real T>
class sparse_chaotic final : public stationary_iteration<T> {
 public:
  sparse_chaotic(const device& dev, csr_view<const T> A, double omega)
      : dev_(dev),
        A_(A),
        plan_(spmv_plan<T>::make(dev, A)),
        factor_(relaxation_factors(dev, A, omega)),
        met_(dev, A.rows) {}

  void start(const T* r) override { r_ = r; }
  double sweep(T* d) override {
#pragma omp parallel for firstprivate(ieee) num_threads(dev_.threads()) schedule(dynamic, 512)
    for (std::int64_t i = 0; i < A_.rows; ++i) {
      T sum{};
      for (std::int64_t k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k)
        sum += A_.val[k] * std::atomic_ref<T>(d[A_.col[k]]).load(std::memory_order_relaxed);
      met_[i] = r_[i] - sum;
      const std::atomic_ref<T> own(d[i]);
      own.store(own.load(std::memory_order_relaxed) + factor_[i] * met_[i], std::memory_order_relaxed);
    }
    return detail::sum_of_squares(dev_.threads(), A_.rows, met_.data());
  }
  double residual(const T* d, T* s) override { return sparse_residual(dev_.threads(), plan_, d, r_, s); }
  std::string name() const override { return plan_name(dev_, "csr, asynchronous"); }

 private:
  device dev_;
  csr_view<const T> A_;
  spmv_plan<T> plan_;
  array<T> factor_;
  array<T> met_;
  const T* r_ = nullptr;
};

template <real T>
class sparse_matrix final : public iteration_matrix<T> {
 public:
  explicit sparse_matrix(csr_view<const T> A) : A_(A) {
    if (A.rows != A.cols)
      throw shape_error("a stationary iteration needs a square matrix, this one is " +
                        shape_text(A.rows, A.cols));
  }

  std::int64_t rows() const override { return A_.rows; }
  T diagonal(std::int64_t i) const override { return diagonal_of(A_, i); }

  void off_diagonal_sums(const device& dev, const double* v, double* sums) const override {
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (A_.rows >= 8192)
    for (std::int64_t i = 0; i < A_.rows; ++i) {
      double sum = 0;
      for (std::int64_t k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k)
        if (A_.col[k] != i) sum += std::fabs(double{A_.val[k]}) * (v != nullptr ? v[A_.col[k]] : 1.0);
      sums[i] = upwards(sum, A_.row_ptr[i + 1] - A_.row_ptr[i], v != nullptr);
    }
  }
  void off_diagonal_column_sums(const device&, double* sums) const override {
    std::fill(sums, sums + A_.rows, 0.0);
    for (std::int64_t i = 0; i < A_.rows; ++i)
      for (std::int64_t k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k)
        if (A_.col[k] != i) sums[A_.col[k]] += std::fabs(double{A_.val[k]});
    for (std::int64_t j = 0; j < A_.rows; ++j) sums[j] = upwards(sums[j], A_.rows, false);
  }
  residual_facts residual(const device& dev, view<const T> b, const T* x, const T* x_lo, T* r) const override {
    return vouch::residual<T>(dev, A_, b, {x, A_.rows}, x_lo, {r, A_.rows});
  }
  void residual_bound(const device& dev, view<const T> b, view<const T> x, view<double> bound) const override {
    vouch::residual_bound<T>(dev, A_, b, x, bound);
  }
  std::unique_ptr<stationary_iteration<T>> make_sweeps(const device& dev,
                                                       const sweep_rule& rule) const override {
    if (rule.asynchronous) return std::make_unique<sparse_chaotic<T>>(dev, A_, rule.omega);
    if (rule.simultaneous) return std::make_unique<sparse_jacobi<T>>(dev, A_, rule.omega);
    return std::make_unique<sparse_successive<T>>(dev, A_, rule);
  }
  std::unique_ptr<inner_solver<T>> make_engine(const device& dev, const sweep_rule& rule, bool by_residual,
                                               const acceleration& accelerate) const override {
    return std::make_unique<sweep_engine<T>>(dev, A_.rows, make_sweeps(dev, rule), by_residual, accelerate,
                                             rule);
  }

 private:
  // A sum of so many numbers that are not negative errs by at most as many units of the last place; products
  // with weights may underflow besides.
  static double upwards(double sum, std::int64_t terms, bool weighted) {
    return sum * (1 + static_cast<double>(terms + 8) * 0x1p-51) + (weighted ? 0x1p-1000 : 0.0);
  }

  csr_view<const T> A_;
};

}  // namespace

template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(csr_view<const T> A) {
  return std::make_unique<sparse_matrix<T>>(A);
}

template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(const device& dev, csr_view<const T> A) {
  const valid_csr valid("make_iteration_matrix", dev, A);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return make_iteration_matrix_cuda<T>(dev, A);
  return make_iteration_matrix(A);
}

#define VOUCH_INSTANTIATE(T)                                                                           \
  template VOUCH_PUBLIC std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(csr_view<const T>); \
  template VOUCH_PUBLIC std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(const device&,      \
                                                                                   csr_view<const T>);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
