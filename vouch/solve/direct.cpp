#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/formatted.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/dense/cusolver.hpp>
#include <vouch/dense/lapack.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/direct.hpp>
#include <vouch/solve/sweeper.hpp>
#include <vouch/solve/verified_solve.hpp>

namespace vouch {
namespace {

enum class factors { lu, cholesky };

// A factorised matrix.
template <real T>
class factorisation {
 public:
  virtual ~factorisation() = default;
  /// 0, or the pivot (from 1) at which the factorisation ended.
  virtual std::int64_t failed() const = 0;
  /// x := op(A)^-1 x.
  virtual void solve(T* x) = 0;
  virtual std::string name() const = 0;
  /// Whether bits are the same for any number of threads.
  virtual bool reproducible() const { return true; }
};

template <real T>
class lapack_factors final : public factorisation<T> {
 public:
  lapack_factors(const device& dev, factors kind, bool transposed, matrix_view<const T> A)
      : dev_(dev), kind_(kind), transposed_(transposed), factors_(dev, A.rows, A.cols) {
    for (std::int64_t j = 0; j < A.cols; ++j)
      std::copy(A.data + j * A.ld, A.data + j * A.ld + A.rows, factors_.data() + j * A.rows);
    if (A.rows == 0) return;
    if (kind == factors::lu) {
      pivots_.resize(static_cast<std::size_t>(A.rows));
      failed_ = lapack::getrf(dev, A.rows, factors_.data(), A.rows, pivots_.data());
    } else {
      failed_ = lapack::potrf(dev, A.rows, factors_.data(), A.rows);
    }
  }

  std::int64_t failed() const override { return failed_; }
  std::string name() const override {
    const int threads = lapack::threads_for(dev_, factors_.rows());
    return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + lapack::name();
  }
  bool reproducible() const override { return factors_.rows() <= lapack::rows_for_one_thread; }
  void solve(T* x) override {
    const std::int64_t n = factors_.rows();
    if (n == 0) return;
    if (kind_ == factors::lu)
      lapack::getrs(dev_, transposed_, n, factors_.data(), n, pivots_.data(), x);
    else
      lapack::potrs(dev_, n, factors_.data(), n, x);
  }

 private:
  device dev_;
  factors kind_;
  bool transposed_;
  matrix<T> factors_;
  std::vector<int> pivots_;
  std::int64_t failed_ = 0;
};

template <real T>
class cusolver_factors final : public factorisation<T> {
 public:
  cusolver_factors(const device& dev, factors kind, bool transposed, matrix_view<const T> A)
      : transposed_(transposed),
        factors_(dev, kind == factors::lu ? cusolver::kind::lu : cusolver::kind::cholesky, packed(dev, A)) {}

  std::int64_t failed() const override { return factors_.failed(); }
  std::string name() const override { return cusolver::name(); }
  void solve(T* x) override { factors_.solve(transposed_, 1, x); }

 private:
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

  bool transposed_;
  cusolver::factors<T> factors_;
};

template <real T>
std::unique_ptr<factorisation<T>> factorise(const device& dev, factors kind, bool transposed,
                                            matrix_view<const T> A) {
  if (dev.is_cuda()) return std::make_unique<cusolver_factors<T>>(dev, kind, transposed, A);
  return std::make_unique<lapack_factors<T>>(dev, kind, transposed, A);
}

// A run is one solve.
template <real T>
class direct_engine final : public cg_engine<T> {
 public:
  direct_engine(const device& dev, std::int64_t n, factorisation<T>& A) : dev_(dev), n_(n), A_(A) {}
  std::string name() const override { return A_.name(); }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log&) override {
    if (rule.limit <= 0) return {cg_event::limit, 0, 0};
    copy_bytes(d, dev_, r, dev_, static_cast<std::size_t>(n_) * sizeof(T));
    A_.solve(d);
    return {cg_event::reached, 1, 0};
  }

 private:
  device dev_;
  std::int64_t n_;
  factorisation<T>& A_;
};

void check_request(std::int64_t n, std::int64_t b, std::int64_t x, const solve_goal& goal) {
  check_lengths(n, b, x);
  if (!goal.by_residual()) throw value_error("a direct method ends by the residual alone");
}

// Residuals in twice the precision; what they need of a matrix on a GPU goes with them.
template <real T>
residual_function<T> residuals_of(const device& dev, transpose op, matrix_view<const T> A, view<const T> b) {
  if (!dev.is_cuda())
    return [=, &dev](const T* at, const T* at_low, T* r) {
      return residual<T>(dev, op, A, b, {at, A.rows}, at_low, {r, A.rows});
    };
  const std::shared_ptr<const sweepable_matrix<T>> rows = make_sweepable<T>(dev, op, A);
  return [=, &dev](const T* at, const T* at_low, T* r) { return rows->residual(dev, b, at, at_low, r); };
}

template <real T>
solve_report solve_directly(const device& given, factors kind, transpose op, matrix_view<const T> A,
                            view<const T> b, view<T> x, const solve_goal& goal) {
  detail::make_square(op, A);
  check_request(A.rows, b.size(), x.size(), goal);
  const device dev = A.rows > 0 ? given : device::cpu(1);
  const stopwatch clock;
  solve_report report;
  report.method = kind == factors::lu ? "lu" : "cholesky";
  report.precision = sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = "none";
  verified_problem<T> problem{dev, A.rows, residuals_of(dev, op, A, b)};
  problem.advice = "take more precision";
  // What is not finite LAPACK would call singular.
  array<T> r(dev, A.rows);
  const residual_facts start = problem.residual_of(x.data(), nullptr, r.data());
  if (!std::isfinite(start.norm2))
    throw value_error(
        "the matrix, the right-hand side or the start holds a NaN or an infinity, or A x overflows");
  const auto factorised = factorise<T>(dev, kind, op != transpose::no, A);
  direct_engine<T> engine(dev, A.rows, *factorised);
  report.engine = engine.name();
  report.reproducible = factorised->reproducible();
  report.setup_seconds = clock.seconds();
  if (factorised->failed() > 0 && start.rhs_norm2 > 0) {
    report.status = kind == factors::lu ? solve_status::breakdown : solve_status::not_spd;
    report.reason = formatted(kind == factors::lu
                                  ? "pivot %lld is exactly zero: the matrix is singular to working precision"
                                  : "the leading part of %lld rows is not positive definite",
                              static_cast<long long>(factorised->failed()));
    report.rhs_norm = start.rhs_norm2;
    report.true_residual = report.recurrence_residual = start.norm2;
    report.backward_error = start.backward_error();
    return report;
  }
  verified_solve(problem, engine, x, goal, report);
  return report;
}

}  // namespace

template <real T>
solve_report lu(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                const solve_goal& goal) {
  return solve_directly(dev, factors::lu, op, A, b, x, goal);
}

template <real T>
solve_report cholesky(const device& dev, matrix_view<const T> A, view<const T> b, view<T> x,
                      const solve_goal& goal) {
  return solve_directly(dev, factors::cholesky, transpose::no, A, b, x, goal);
}

#define VOUCH_INSTANTIATE(T)                                                                       \
  template solve_report lu(const device&, transpose, matrix_view<const T>, view<const T>, view<T>, \
                           const solve_goal&);                                                     \
  template solve_report cholesky(const device&, matrix_view<const T>, view<const T>, view<T>,      \
                                 const solve_goal&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
