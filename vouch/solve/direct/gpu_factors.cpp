#include <vouch/solve/direct/gpu_factors.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/direct/factored_solve.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

// The largest magnitude, NaN passed over.
template <real T>
T largest(const device& dev, view<const T> v) {
  const std::int64_t at = iamax<T>(dev, v);
  T value{};
  if (at >= 0) copy_bytes(&value, device::cpu(1), v.data() + at, dev, sizeof value);
  return std::fabs(value);
}

}  // namespace

// For one solve.
template <real T, real F>
class gpu_factors<T, F>::adapter final : public factorisation<T> {
 public:
  explicit adapter(gpu_factors& all) : all_(all) {}
  std::int64_t failed() const override { return all_.factors_ ? all_.factors_->failed() : 0; }
  bool needs_definite() const override { return all_.kind_ == cudss::kind::cholesky; }
  void solve(T* x) override { all_.apply(x); }
  // Ten deterministic solves take as long as the factorisation.
  double inverse_norm() override { return std::numeric_limits<double>::quiet_NaN(); }
  std::string name() const override { return all_.name(); }
  std::string backend() const override { return "cudss"; }
  bool reproducible() const override { return repeats(); }
  bool repeats() const override { return !all_.factors_ || !all_.factors_->in_host_memory(); }
  std::optional<inertia> signs() const override {
    return all_.factors_ ? all_.factors_->found().signs : std::nullopt;
  }

 private:
  gpu_factors& all_;
};

template <real T, real F>
gpu_factors<T, F>::gpu_factors(const device& dev, cudss::kind which, csr_view<const T> A, int threads)
    : dev_(dev), kind_(which), rows_(A.rows), rhs_(dev, A.rows) {
  const ieee_environment here;
  if (sizeof(T) != sizeof(F)) solution_ = array<F>(dev, A.rows);
  if (A.rows > 0) factors_.emplace(dev, which, in_factor_precision(A), threads);
}

template <real T, real F>
void gpu_factors<T, F>::factorise(csr_view<const T> A) {
  const ieee_environment here;
  if (factors_) factors_->factorise(in_factor_precision(A));
}

template <real T, real F>
csr_view<const F> gpu_factors<T, F>::in_factor_precision(csr_view<const T> A) {
  if constexpr (sizeof(T) == sizeof(F)) {
    return A;
  } else {
    if (const T most = largest<T>(dev_, {A.val, A.nonzeros}); most > std::numeric_limits<F>::max())
      throw value_error(string_printf("%.9g overflows single precision", static_cast<double>(most)),
                        "take --precision double");
    if (values_.size() != A.nonzeros) values_ = array<F>(dev_, A.nonzeros);
    convert<F, T>(dev_, values_.data(), A.val, A.nonzeros);
    return {A.rows, A.cols, A.nonzeros, A.row_ptr, A.col, values_.data()};
  }
}

// x := A^-1 x, about.
template <real T, real F>
void gpu_factors<T, F>::apply(T* x) {
  if (!factors_) return;
  if constexpr (sizeof(T) == sizeof(F)) {
    copy_bytes(rhs_.data(), dev_, x, dev_, static_cast<std::size_t>(rows_) * sizeof(T));
    factors_->solve(rhs_.data(), x);
  } else {
    // Residuals may lie below what F has: by a power of two near 1.
    const T most = largest<T>(dev_, {x, rows_});
    if (!(most > 0) || !std::isfinite(most)) return;
    const int exponent = std::ilogb(most);
    scale<T>(dev_, x, std::ldexp(T{1}, -exponent), rows_);
    convert<F, T>(dev_, rhs_.data(), x, rows_);
    factors_->solve(rhs_.data(), solution_.data());
    convert<T, F>(dev_, x, solution_.data(), rows_);
    scale<T>(dev_, x, std::ldexp(T{1}, exponent), rows_);
  }
}

template <real T, real F>
std::string gpu_factors<T, F>::name() const {
  if (!factors_) return cudss::name();
  const cudss::statistics& found = factors_->found();
  std::string text = cudss::name() + string_printf(", %.4g entries in the factors", found.entries);
  if (found.flops > 0) text += string_printf(", %.3g operations", found.flops);
  if (found.perturbed > 0)
    text += string_printf(", %lld pivots perturbed", static_cast<long long>(found.perturbed));
  if (factors_->in_host_memory()) text += ", in part in host memory";
  return text;
}

template <real T, real F>
std::vector<solve_report> gpu_factors<T, F>::solve(const std::string& method, csr_view<const T> A,
                                                   std::int64_t columns, view<const T> b, view<T> x,
                                                   const stopping_criterion& goal) {
  const ieee_environment here;
  const stopwatch setup;
  const valid_csr valid(method.c_str(), dev_, A);
  check_direct_request(rows_ * columns, b.size(), x.size(), goal);
  std::vector<checked_column<T>> all;
  for (std::int64_t j = 0; j < columns; ++j) {
    const view<const T> rhs(b.data() + j * rows_, rows_);
    all.push_back({{dev_, rows_,
                    [this, A, rhs](const T* hi, const T* lo, T* r) {
                      return residual<T>(dev_, A, rhs, {hi, rows_}, lo, {r, rows_});
                    }},
                   {x.data() + j * rows_, rows_},
                   {}});
  }
  factored_solve<T>(
      all, method, setup, [this] { return std::make_unique<adapter>(*this); }, goal);
  std::vector<solve_report> reports;
  for (checked_column<T>& c : all) {
    if (sizeof(T) != sizeof(F)) c.report.precision = "mixed";
    if (factors_ && factors_->found().perturbed > 0)
      c.report.warnings.push_back(
          string_printf("%lld pivots were nearly zero, and cuDSS took others in their place: the factors are "
                        "those of a matrix "
                        "near this one, which is singular or nearly so",
                        static_cast<long long>(factors_->found().perturbed)));
    reports.push_back(std::move(c.report));
  }
  return reports;
}

template class gpu_factors<float, float>;
template class gpu_factors<double, float>;
template class gpu_factors<double, double>;

}  // namespace vouch
