#include <sstream>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/chebyshev.hpp>
#include <vouch/solve/precond/chebyshev_kernels.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>
#include <vouch/sparse/spmv_plan.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::int64_t largest_degree = 64;
constexpr std::int64_t chunk = 512;  // rows whose product is still in cache when the sweep needs it

// Chebyshev iteration for A z = r from z = 0, written with the last two iterates alone:
// z_{k+1} = (1 + m) z_k - m z_{k-1} + s (r - A z_k)/D.
template <real T>
class chebyshev final : public preconditioner<T> {
 public:
  chebyshev(const device& dev, spmv_plan<T> plan, array<T> inverse, double bound, std::int64_t degree)
      : plan_(std::move(plan)),
        inverse_(std::move(inverse)),
        other_(dev, plan_.rows()),
        product_(dev, plan_.rows()),
        bound_(bound),
        degree_(degree) {}

  std::string name() const override {
    std::ostringstream text;
    text << "chebyshev (degree " << degree_ << ", eigenvalues to " << bound_ << ")";
    return text.str();
  }

  std::int64_t rows() const override { return plan_.rows(); }

  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    const double low = bound_ / static_cast<double>((degree_ + 1) * (degree_ + 1));
    const double middle = (bound_ + low) / 2, half_width = (bound_ - low) / 2;
    const double sigma = middle / half_width;
    // The iterates alternate between two vectors, so that the last one comes to stand in z.
    T* now = degree_ % 2 == 0 ? z.data() : other_.data();
    T* previous = degree_ % 2 == 0 ? other_.data() : z.data();
    first_iterate(dev, static_cast<T>(1 / middle), r.data(), now);
    double rho = 1 / sigma;
    for (std::int64_t k = 1; k <= degree_; ++k) {
      const double next = 1 / (2 * sigma - rho);
      const double momentum = next * rho;
      // Before the first step there was zero, and D^-1 r / middle is the first.
      step(dev,
           {static_cast<T>(1 + momentum), k == 1 ? T{} : static_cast<T>(-momentum),
            static_cast<T>(2 * next / half_width), r.data(), product_.data(), inverse_.data(), now, previous});
      std::swap(now, previous);
      rho = next;
    }
  }

 private:
  void first_iterate(const device& dev, T factor, const T* r, T* z) const {
    const std::int64_t n = plan_.rows();
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) return first_iterate_cuda(dev, n, factor, inverse_.data(), r, z);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, n)) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) z[i] = factor * (inverse_[i] * r[i]);
  }

  void step(const device& dev, const three_terms<T>& terms) const {
    const std::int64_t n = plan_.rows();
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) {
        plan_.multiply(T{1}, view<const T>(terms.z, n), T{}, product_);
        return three_terms_cuda(dev, n, terms);
      }
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, plan_.bytes() / 16)) schedule(static)
    for (std::int64_t first = 0; first < n; first += chunk) {
      const std::int64_t last = std::min(n, first + chunk);
      plan_.multiply_rows(terms.z, product_.data(), first, last);
      for (std::int64_t i = first; i < last; ++i) terms(i);
    }
  }

  spmv_plan<T> plan_;
  array<T> inverse_;
  mutable array<T> other_, product_;
  double bound_;
  std::int64_t degree_;
};

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_chebyshev(const device& dev, csr_view<const T> A, std::int64_t degree) {
  const ieee_environment here;
  if (degree < 1 || degree > largest_degree)
    throw value_error("chebyshev: degree " + std::to_string(degree),
                      "degrees go from 1 to " + std::to_string(largest_degree));
  const valid_csr valid("chebyshev", dev, A);
  array<T> inverse = inverse_diagonal(dev, A, "chebyshev");
  spmv_plan<T> plan = spmv_plan<T>::make(dev, A);
  const double bound = largest_eigenvalue_bound("chebyshev", dev, A, plan, inverse.data());
  return std::make_unique<chebyshev<T>>(dev, std::move(plan), std::move(inverse), bound, degree);
}

template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_chebyshev(const device&,
                                                                            csr_view<const float>,
                                                                            std::int64_t);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_chebyshev(const device&,
                                                                             csr_view<const double>,
                                                                             std::int64_t);

}  // namespace vouch
