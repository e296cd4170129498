// The largest eigenvalue of D^-1 A by Lanczos's recurrence in the inner product of D, where D^-1 A is
// symmetric.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/chebyshev_kernels.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>
#include <vouch/solve/precond/scale_factor.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {
namespace {

// Bounds the spectral radius by the infinity norm of D^-1 A.
template <real T>
double largest_row_sum(const device& dev, csr_view<const T> A, const T* inverse) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      array<double> most = array<double>::zeros(dev, 1);
      largest_row_sum_cuda(dev, A, inverse, most.data());
      return most.to_vector().front();
    }
  double most = 0;
  bool finite = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.rows)) schedule(static) \
    reduction(max : most) reduction(&& : finite)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const double sum = relative_row_sum(A, inverse, i);
    most = std::max(most, sum);
    finite = finite && std::isfinite(sum);
  }
  return finite ? most : std::nan("");
}

// Random in the scaled variables D^{1/2} x: rows may differ by orders of magnitude.
template <real T>
array<T> start_vector(const device& dev, const T* inverse, std::int64_t n) {
  array<T> start(dev, n);
  fill_hashed<T>(dev, lanczos_stream, start);
  if (inverse == nullptr) return start;
  array<T> factor(dev, n);
  copy_bytes(factor.data(), dev, inverse, dev, static_cast<std::size_t>(n) * sizeof(T));
  scale_factors(dev, scale_rounding::nearest, factor);
  multiply_elements(dev, static_cast<const T*>(factor.data()), view<const T>(start), view<T>(start));
  return start;
}

template <real T>
class lanczos {
 public:
  using multiplication = std::function<void(const array<T>&, array<T>&)>;

  lanczos(const device& dev, std::int64_t n, const multiplication& multiply, const T* inverse)
      : dev_(dev),
        n_(n),
        multiply_(multiply),
        ones_(dev, inverse == nullptr ? n : 0),
        inverse_(inverse != nullptr ? inverse : ones_.data()),
        u_(start_vector(dev, inverse, n)),
        previous_(dev, n),
        w_(dev, n),
        terms_(dev, inverse == nullptr ? 0 : n) {
    if (is_identity()) fill(dev, ones_.data(), T{1}, n);
  }

  double norm() { return std::sqrt(inner(u_, u_, inverse_)); }
  double product() {
    stop_.check();
    multiply_(u_, w_);
    return inner(u_, w_, nullptr);
  }
  void advance(double keep, double momentum, double step) {
    make_next(keep, momentum, step);
    std::swap(u_, previous_);
  }

 private:
  bool is_identity() const { return ones_.size() > 0; }

  void make_next(double keep, double momentum, double step) {
    const three_terms<T> terms{static_cast<T>(keep),
                               static_cast<T>(momentum),
                               static_cast<T>(step),
                               nullptr,
                               w_.data(),
                               inverse_,
                               u_.data(),
                               previous_.data()};
    if constexpr (built_with_cuda)
      if (dev_.is_cuda()) return three_terms_cuda(dev_, n_, terms);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev_, n_)) schedule(static)
    for (std::int64_t i = 0; i < n_; ++i) terms(i);
  }

  // The sum of x y, or with 1/D given of x y D.
  double inner(const array<T>& x, const array<T>& y, const T* inverse) {
    if (is_identity()) return static_cast<double>(dot<T, T>(dev_, x, y));
    multiply_terms(x.data(), y.data(), inverse);
    return sum_elements(dev_, static_cast<const T*>(terms_.data()), n_);
  }

  void multiply_terms(const T* x, const T* y, const T* inverse) {
    if constexpr (built_with_cuda)
      if (dev_.is_cuda()) return products_cuda(dev_, n_, x, y, inverse, terms_.data());
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev_, n_)) schedule(static)
    for (std::int64_t i = 0; i < n_; ++i)
      terms_[i] = inverse != nullptr ? x[i] * y[i] / inverse[i] : x[i] * y[i];
  }

  const device& dev_;
  std::int64_t n_;
  multiplication multiply_;
  array<T> ones_;  // where D is the identity
  const T* inverse_;
  array<T> u_, previous_, w_, terms_;
  const cancellation_probe stop_;
};

// Sturm's count: is some eigenvalue of the tridiagonal matrix larger than x?
bool some_eigenvalue_above(const std::vector<double>& diagonal, const std::vector<double>& beside, double x) {
  double pivot = 1;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    const double coupling = k > 0 ? beside[k - 1] : 0;
    pivot = diagonal[k] - x - coupling * coupling / pivot;
    if (!(pivot < 0)) return true;
  }
  return false;
}

}  // namespace

double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  double low = 0, high = 0;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    const double left = k > 0 ? std::abs(beside[k - 1]) : 0;
    const double right = k + 1 < diagonal.size() ? std::abs(beside[k]) : 0;
    high = std::max(high, std::abs(diagonal[k]) + left + right);
  }
  low = -high;
  for (int bisections = 0; bisections < 60; ++bisections) {
    const double middle = (low + high) / 2;
    (some_eigenvalue_above(diagonal, beside, middle) ? low : high) = middle;
  }
  return high;
}

template <real T>
double largest_eigenvalue_bound(const char* who, const device& dev, csr_view<const T> A,
                                const spmv_plan<T>& plan, const T* inverse) {
  const double certain = largest_row_sum(dev, A, inverse);
  if (!std::isfinite(certain))
    throw value_error(std::string(who) + ": the matrix holds an entry that is NaN or infinite");
  if (A.rows == 0) return certain;
  const auto multiply = [&](const array<T>& x, array<T>& y) { plan.multiply(T{1}, x, T{}, y); };
  lanczos<T> state(dev, A.rows, multiply, inverse);
  return std::min(certain, lanczos_safety * ritz_value_by_lanczos(state, A.rows));
}

template <real T>
double largest_ritz_value(const device& dev, std::int64_t n,
                          const std::function<void(const array<T>&, array<T>&)>& multiply) {
  lanczos<T> state(dev, n, multiply, nullptr);
  return lanczos_safety * ritz_value_by_lanczos(state, n);
}

template double largest_eigenvalue_bound(const char*, const device&, csr_view<const float>,
                                         const spmv_plan<float>&, const float*);
template double largest_eigenvalue_bound(const char*, const device&, csr_view<const double>,
                                         const spmv_plan<double>&, const double*);
template double largest_ritz_value(const device&, std::int64_t,
                                   const std::function<void(const array<float>&, array<float>&)>&);

}  // namespace vouch
