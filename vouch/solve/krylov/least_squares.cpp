#include <vouch/solve/krylov/least_squares.hpp>

#include <memory>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/krylov/golub_kahan.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/loop/least_squares_loop.hpp>
#include <vouch/solve/loop/plan_operator.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

void check_shapes(const char* title, std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x) {
  if (b == rows && x == cols) return;
  throw shape_error(string_printf(
      "%s: the matrix is %lld by %lld, so b has %lld elements and x %lld, not %lld and "
      "%lld",
      title, static_cast<long long>(rows), static_cast<long long>(cols), static_cast<long long>(rows),
      static_cast<long long>(cols), static_cast<long long>(b), static_cast<long long>(x)));
}

template <real T, class Iterate>
solve_report solve(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                   const least_squares_options& options) {
  const valid_csr valid(Iterate::name, dev, A);
  if (options.must_fit) {
    constexpr krylov_method method{.name = Iterate::name, .title = Iterate::title};
    const csr<T> transposed = transpose<T>(dev, A);
    return solve_by_krylov<T>(method, dev, A, b, x, options, nullptr,
                              [&](const linear_operator<T>& by_A, const preconditioner<T>*, bool) {
                                return std::make_unique<golub_kahan_engine<T, Iterate>>(dev, by_A,
                                                                                        transposed.all(), 0.0);
                              });
  }
  check_shapes(Iterate::title, A.rows, A.cols, b.size(), x.size());
  check_krylov_stopping(Iterate::title, options);
  if (!options.by_residual())
    throw value_error(
        std::string(Iterate::title) + " for least squares stops by the true residual and its gradient",
        "set must_fit for other rules");
  const stopwatch clock;
  solve_report report = new_krylov_report<T>(nullptr);
  report.method = Iterate::name;
  if (A.rows != A.cols) report.problem = "least-squares";
  const csr<T> transposed = transpose<T>(dev, A);
  const auto plan = spmv_plan<T>::make(dev, A);
  const plan_operator<T> by_A(plan);
  golub_kahan_engine<T, Iterate> engine(dev, by_A, transposed.all(), options.rtol.value_or(default_rtol<T>));
  dev.synchronize();
  report.setup_seconds = clock.seconds();
  least_squares_solve<T>({dev, A, transposed.all(), b}, engine, x, options, report);
  return report;
}

}  // namespace

template <real T>
solve_report lsqr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                  const least_squares_options& options) {
  const ieee_environment here;
  return solve<T, lsqr_iterate<T>>(dev, A, b, x, options);
}

template <real T>
solve_report lsmr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                  const least_squares_options& options) {
  const ieee_environment here;
  return solve<T, lsmr_iterate<T>>(dev, A, b, x, options);
}

#define VOUCH_LEAST_SQUARES(T)                                                                      \
  template VOUCH_PUBLIC solve_report lsqr(const device&, csr_view<const T>, view<const T>, view<T>, \
                                          const least_squares_options&);                            \
  template VOUCH_PUBLIC solve_report lsmr(const device&, csr_view<const T>, view<const T>, view<T>, \
                                          const least_squares_options&);
VOUCH_LEAST_SQUARES(float)
VOUCH_LEAST_SQUARES(double)
#undef VOUCH_LEAST_SQUARES

}  // namespace vouch
