#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/lapack.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/direct.hpp>
#include <vouch/solve/verified_solve.hpp>

namespace vouch {
namespace {

using clock = std::chrono::steady_clock;

enum class factors { lu, cholesky };

// A factorised matrix; a run of it is one solve.
template <real T>
class direct_engine final : public cg_engine<T> {
 public:
  direct_engine(const device& dev, factors kind, bool transposed, matrix_view<const T> A)
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

  /// 0, or the pivot (from 1) at which the factorisation ended.
  std::int64_t failed() const { return failed_; }
  std::string name() const override {
    return std::to_string(dev_.threads()) + (dev_.threads() == 1 ? " thread, " : " threads, ") + lapack::name();
  }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log&) override {
    const std::int64_t n = factors_.rows();
    if (rule.limit <= 0) return {cg_event::limit, 0, 0};
    std::copy(r, r + n, d);
    if (kind_ == factors::lu)
      lapack::getrs(dev_, transposed_, n, factors_.data(), n, pivots_.data(), d);
    else
      lapack::potrs(dev_, n, factors_.data(), n, d);
    return {cg_event::reached, 1, 0};
  }

 private:
  device dev_;
  factors kind_;
  bool transposed_;
  matrix<T> factors_;
  std::vector<int> pivots_;
  std::int64_t failed_ = 0;
};

void check_request(const device& dev, std::int64_t n, std::int64_t b, std::int64_t x, const solve_goal& goal) {
  if (dev.is_cuda())
    throw value_error("direct solutions of dense systems run on the CPU",
                      "take --device cpu, or device::cpu()");
  if (b != n || x != n)
    throw shape_error("the matrix has " + std::to_string(n) + " rows, but b has " + std::to_string(b) +
                      " elements and x " + std::to_string(x));
  if (!goal.by_residual()) throw value_error("a direct method ends by the residual alone");
}

template <real T>
solve_report solve_directly(const device& dev, factors kind, transpose op, matrix_view<const T> A,
                            view<const T> b, view<T> x, const solve_goal& goal) {
  detail::make_square(op, A);
  check_request(dev, A.rows, b.size(), x.size(), goal);
  const auto begin = clock::now();
  solve_report report;
  report.method = kind == factors::lu ? "lu" : "cholesky";
  report.precision = sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = "none";
  verified_problem<T> problem{dev, A.rows, [&](const T* at, const T* at_low, T* r) {
                                return residual<T>(dev, op, A, b, {at, A.rows}, at_low, {r, A.rows});
                              }};
  problem.advice = "take more precision";
  // What is not finite LAPACK would call singular.
  array<T> r(dev, A.rows);
  const residual_facts start = problem.residual_of(x.data(), nullptr, r.data());
  if (!std::isfinite(start.norm2))
    throw value_error(
        "the matrix, the right-hand side or the start holds a NaN or an infinity, or A x overflows");
  direct_engine<T> engine(dev, kind, op != transpose::no, A);
  report.engine = engine.name();
  report.setup_seconds = std::chrono::duration<double>(clock::now() - begin).count();
  if (engine.failed() > 0) {
    char line[160];
    std::snprintf(line, sizeof line,
                  kind == factors::lu ? "pivot %lld is exactly zero: the matrix is singular"
                                      : "the leading part of %lld rows is not positive definite",
                  static_cast<long long>(engine.failed()));
    report.status = kind == factors::lu ? solve_status::breakdown : solve_status::not_spd;
    report.reason = line;
    report.rhs_norm = start.rhs_norm2;
    report.true_residual = report.recurrence_residual = start.norm2;
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
