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

// to := from, rounded to F.
template <real F, real T>
void put(const device& dev, F* to, const T* from, std::int64_t count) {
  if constexpr (sizeof(T) == sizeof(F))
    copy_bytes(to, dev, from, dev, static_cast<std::size_t>(count) * sizeof(T));
  else
    convert<F, T>(dev, to, from, count);
}

}  // namespace

// For one solve.
template <real T, real F>
class gpu_factors<T, F>::adapter final : public factorisation<T> {
 public:
  explicit adapter(gpu_factors& all) : all_(all) {}
  std::int64_t failed() const override { return all_.factors_ ? all_.factors_->failed() : 0; }
  bool orders_rows() const override { return true; }
  bool needs_definite() const override { return all_.kind_ == cudss::kind::cholesky; }
  void solve(T* x) override { all_.apply(x, 1); }
  void solve_columns(T* x, std::int64_t, std::int64_t columns) override { all_.apply(x, columns); }
  // Ten deterministic solves take as long as the factorisation.
  double inverse_norm() override { return std::numeric_limits<double>::quiet_NaN(); }
  std::string name() const override { return all_.name(); }
  std::string backend() const override { return cudss::backend_name; }
  bool reproducible() const override { return repeats(); }
  bool repeats() const override { return !all_.factors_ || all_.factors_->repeats(); }
  std::optional<inertia> signs() const override { return all_.signs(); }

 private:
  gpu_factors& all_;
};

template <real T, real F>
gpu_factors<T, F>::gpu_factors(const device& dev, cudss::kind which, csr_view<const T> A,
                               const cudss::working& how)
    : dev_(dev), kind_(which), how_(how), rows_(A.rows) {
  const ieee_environment here;
  if (rows_ > 0) make(A, find_complex_form(dev, A));
}

template <real T, real F>
void gpu_factors<T, F>::check_overflow(csr_view<const T> A) const {
  if constexpr (sizeof(T) != sizeof(F))
    if (const double most = largest_magnitude<T>(dev_, {A.val, A.nonzeros});
        most > std::numeric_limits<F>::max())
      throw value_error(string_printf("%.9g overflows single precision", most), "take --precision double");
}

template <real T, real F>
void gpu_factors<T, F>::make(csr_view<const T> A, std::optional<number_matrix<T>> form) {
  check_overflow(A);
  number_matrix<F> numbers;
  if (form) {
    numbers = {form->rows, true, std::move(form->row_ptr), std::move(form->col),
               array<F>(dev_, form->val.size())};
    put<F, T>(dev_, numbers.val.data(), form->val.data(), form->val.size());
    form.reset();
  } else {
    numbers = {A.rows, false, array<std::int64_t>(dev_, A.rows + 1), array<std::int32_t>(dev_, A.nonzeros),
               array<F>(dev_, A.nonzeros)};
    copy_bytes(numbers.row_ptr.data(), dev_, A.row_ptr, dev_, static_cast<std::size_t>(A.rows + 1) * 8);
    copy_bytes(numbers.col.data(), dev_, A.col, dev_, static_cast<std::size_t>(A.nonzeros) * 4);
    put<F, T>(dev_, numbers.val.data(), A.val, A.nonzeros);
  }
  factors_.reset();
  factors_.emplace(dev_, kind_, std::move(numbers), how_);
}

template <real T, real F>
void gpu_factors<T, F>::factorise(csr_view<const T> A) {
  const ieee_environment here;
  if (rows_ == 0) return;
  std::optional<number_matrix<T>> form = find_complex_form(dev_, A);
  if (!factors_ || form.has_value() != factors_->matrix().complex) return make(A, std::move(form));
  check_overflow(A);
  put<F, T>(dev_, factors_->values(), form ? form->val.data() : A.val, form ? form->val.size() : A.nonzeros);
  factors_->refactorise();
}

// x := A^-1 x, about.
template <real T, real F>
void gpu_factors<T, F>::apply(T* x, std::int64_t columns) {
  if (!factors_) return;
  const std::int64_t all = columns * rows_;
  if (rhs_.size() < all) rhs_ = array<F>(dev_, all);
  if constexpr (sizeof(T) == sizeof(F)) {
    copy_bytes(rhs_.data(), dev_, x, dev_, static_cast<std::size_t>(all) * sizeof(T));
    factors_->solve(columns, rhs_.data(), x);
  } else {
    if (solution_.size() < all) solution_ = array<F>(dev_, all);
    std::vector<int> exponents;
    for (std::int64_t j = 0; j < columns; ++j) {
      exponents.push_back(exponent_of<T>(dev_, {x + j * rows_, rows_}));
      scale<T>(dev_, x + j * rows_, std::ldexp(T{1}, -exponents.back()), rows_);
    }
    convert<F, T>(dev_, rhs_.data(), x, all);
    factors_->solve(columns, rhs_.data(), solution_.data());
    convert<T, F>(dev_, x, solution_.data(), all);
    for (std::int64_t j = 0; j < columns; ++j)
      scale<T>(dev_, x + j * rows_, std::ldexp(T{1}, exponents[static_cast<std::size_t>(j)]), rows_);
  }
}

template <real T, real F>
std::string gpu_factors<T, F>::name() const {
  if (!factors_) return cudss::name();
  const cudss::statistics& found = factors_->found();
  std::string text = cudss::name();
  if (factors_->matrix().complex) text += ", complex numbers";
  text += string_printf(", %.4g entries in the factors", found.entries);
  if (found.flops > 0) text += string_printf(", %.3g operations", found.flops);
  if (found.perturbed > 0)
    text += string_printf(", %lld pivots perturbed", static_cast<long long>(found.perturbed));
  if (factors_->in_host_memory()) text += ", in part in host memory";
  return text;
}

// Of the real form, which has every eigenvalue of a Hermitian matrix twice.
template <real T, real F>
std::optional<inertia> gpu_factors<T, F>::signs() const {
  if (!factors_ || !factors_->found().signs || !factors_->matrix().complex)
    return factors_ ? factors_->found().signs : std::nullopt;
  const auto [positive, negative, zero] = *factors_->found().signs;
  return inertia{2 * positive, 2 * negative, 2 * zero};
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
