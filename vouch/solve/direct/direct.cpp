#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/solve/direct/direct.hpp>
#include <vouch/solve/direct/factored_solve.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>
#include <vouch/sparse/inverse_norm.hpp>

namespace vouch {
namespace {

enum class factors { lu, cholesky };

// Powers of two that bring the largest magnitude of each row near 1, so that pivoting compares like with like;
// none where they are within 2^3 of one another, or something is not finite.
template <real T>
std::vector<T> row_scale(matrix_view<const T> A) {
  std::vector<T> scale(static_cast<std::size_t>(A.rows), T{});
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      T& most = scale[static_cast<std::size_t>(i)];
      most = std::max(most, std::fabs(A(i, j)));
    }
  constexpr int reach = sizeof(T) == 4 ? 120 : 1000;  // exponents of numbers with an inverse
  int least = reach, largest = -reach;
  for (T& value : scale) {
    if (!(value > 0) || !std::isfinite(value)) return {};
    const int exponent = std::clamp(-std::ilogb(value), -reach, reach);
    least = std::min(least, exponent);
    largest = std::max(largest, exponent);
    value = std::ldexp(T{1}, exponent);
  }
  constexpr int alike = 3;
  return largest - least <= alike ? std::vector<T>{} : scale;
}

template <real T>
class lapack_factors final : public factorisation<T> {
 public:
  lapack_factors(const device& dev, factors kind, bool transposed, matrix_view<const T> A)
      : dev_(dev), kind_(kind), transposed_(transposed), factors_(dev, A.rows, A.cols) {
    for (std::int64_t j = 0; j < A.cols; ++j)
      std::copy(A.data + j * A.ld, A.data + j * A.ld + A.rows, factors_.data() + j * A.rows);
    if (A.rows == 0) return;
    if (kind == factors::lu) {
      scale_ = row_scale(A);
      for (std::int64_t j = 0; j < A.cols && !scale_.empty(); ++j) apply_scale(factors_.data() + j * A.rows);
      pivots_.resize(static_cast<std::size_t>(A.rows));
      failed_ = lapack::getrf(dev, A.rows, factors_.data(), A.rows, pivots_.data());
    } else {
      failed_ = lapack::potrf(dev, A.rows, factors_.data(), A.rows);
    }
  }

  std::int64_t failed() const override { return failed_; }
  std::string name() const override {
    if (!lapack::chooses_threads()) return lapack::name();
    const int threads = lapack::threads_for(dev_, factors_.rows());
    return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + lapack::name();
  }
  bool needs_definite() const override { return kind_ == factors::cholesky; }
  bool reproducible() const override {
    return lapack::chooses_threads() && factors_.rows() <= lapack::rows_for_one_thread;
  }
  void solve(T* x) override { solve(transposed_, x); }
  double inverse_norm() override {
    return estimate_inverse_norm<T>(
        factors_.rows(), [this](T* x) { solve(transposed_, x); }, [this](T* x) { solve(!transposed_, x); });
  }

 private:
  void solve(bool transposed, T* x) {
    const std::int64_t n = factors_.rows();
    if (n == 0) return;
    if (kind_ == factors::cholesky) return lapack::potrs(dev_, n, factors_.data(), n, x);
    if (!transposed) apply_scale(x);
    lapack::getrs(dev_, transposed, n, factors_.data(), n, pivots_.data(), x);
    if (transposed) apply_scale(x);
  }
  void apply_scale(T* x) const {
    for (std::size_t i = 0; i < scale_.size(); ++i) x[i] *= scale_[i];
  }

  device dev_;
  factors kind_;
  bool transposed_;
  matrix<T> factors_;
  std::vector<T> scale_;  // of the rows of A, before LU; empty: none
  std::vector<int> pivots_;
  std::int64_t failed_ = 0;
};

template <real T>
class cusolver_factors final : public factorisation<T> {
 public:
  cusolver_factors(const device& dev, factors kind, bool transposed, matrix_view<const T> A)
      : dev_(dev),
        kind_(kind),
        n_(A.rows),
        transposed_(transposed),
        factors_(dev, kind == factors::lu ? cusolver::kind::lu : cusolver::kind::cholesky, packed(dev, A)) {}

  std::int64_t failed() const override { return factors_.failed(); }
  bool needs_definite() const override { return kind_ == factors::cholesky; }
  std::string name() const override { return cusolver::name(); }
  void solve(T* x) override { factors_.solve(transposed_, 1, x); }
  double inverse_norm() override {
    return estimate_inverse_norm<T>(
        n_, [this](T* x) { solve_here(transposed_, x); }, [this](T* x) { solve_here(!transposed_, x); });
  }

 private:
  // For a vector on the CPU.
  void solve_here(bool transposed, T* x) {
    const device cpu = device::cpu(1);
    const auto bytes = static_cast<std::size_t>(n_) * sizeof(T);
    array<T> there(dev_, n_);
    copy_bytes(there.data(), dev_, x, cpu, bytes);
    factors_.solve(transposed, 1, there.data());
    copy_bytes(x, cpu, there.data(), dev_, bytes);
  }
  static matrix<T> packed(const device& dev, matrix_view<const T> A) {
    matrix<T> copy(dev, A.rows, A.cols);
    const auto column = static_cast<std::size_t>(A.rows) * sizeof(T);
    if (A.ld == A.rows)
      copy_bytes(copy.data(), dev, A.data, dev, column * static_cast<std::size_t>(A.cols));
    else
      for (std::int64_t j = 0; j < A.cols; ++j)
        copy_bytes(copy.data() + j * A.rows, dev, A.data + j * A.ld, dev, column);
    return copy;
  }

  device dev_;
  factors kind_;
  std::int64_t n_;
  bool transposed_;
  cusolver::factors<T> factors_;
};

template <real T>
std::unique_ptr<factorisation<T>> factorise(const device& dev, factors kind, bool transposed,
                                            matrix_view<const T> A) {
  if (dev.is_cuda()) return std::make_unique<cusolver_factors<T>>(dev, kind, transposed, A);
  return std::make_unique<lapack_factors<T>>(dev, kind, transposed, A);
}

// Residuals in twice the precision; what they need of a matrix on a GPU goes with them.
template <real T>
residual_function<T> residuals_of(const device& dev, transpose op, matrix_view<const T> A, view<const T> b) {
  if (!dev.is_cuda())
    return [=, &dev](const T* at, const T* at_low, T* r) {
      return residual<T>(dev, op, A, b, {at, A.rows}, at_low, {r, A.rows});
    };
  const std::shared_ptr<const iteration_matrix<T>> rows = make_iteration_matrix<T>(dev, op, A);
  return [=, &dev](const T* at, const T* at_low, T* r) { return rows->residual(dev, b, at, at_low, r); };
}

template <real T>
solve_report solve_directly(const device& given, factors kind, transpose op, matrix_view<const T> A,
                            view<const T> b, view<T> x, const stopping_criterion& goal) {
  detail::make_square(op, A);
  check_direct_request(A.rows, b.size(), x.size(), goal);
  const device dev = A.rows > 0 ? given : device::cpu(1);
  const stopwatch setup;
  return factored_solve<T>(
      {dev, A.rows, residuals_of(dev, op, A, b)}, kind == factors::lu ? "lu" : "cholesky", setup,
      [&] { return factorise<T>(dev, kind, op != transpose::no, A); }, x, goal);
}

}  // namespace

template <real T>
solve_report lu(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                const stopping_criterion& goal) {
  const ieee_environment here;
  return solve_directly(dev, factors::lu, op, A, b, x, goal);
}

template <real T>
solve_report cholesky(const device& dev, matrix_view<const T> A, view<const T> b, view<T> x,
                      const stopping_criterion& goal) {
  const ieee_environment here;
  return solve_directly(dev, factors::cholesky, transpose::no, A, b, x, goal);
}

#define VOUCH_INSTANTIATE(T)                                                                               \
  template VOUCH_PUBLIC solve_report lu(const device&, transpose, matrix_view<const T>, view<const T>,     \
                                        view<T>, const stopping_criterion&);                               \
  template VOUCH_PUBLIC solve_report cholesky(const device&, matrix_view<const T>, view<const T>, view<T>, \
                                              const stopping_criterion&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
