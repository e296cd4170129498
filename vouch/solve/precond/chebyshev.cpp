#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/chebyshev.hpp>
#include <vouch/solve/precond/chebyshev_kernels.hpp>
#include <vouch/solve/precond/chebyshev_recurrence.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>
#include <vouch/solve/precond/shared_polynomial.hpp>
#include <vouch/sparse/spmv_plan.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 512;  // rows whose product is still in cache when the sweep needs it

template <real T>
class chebyshev final : public preconditioner<T>, public shared_polynomial<T> {
 public:
  chebyshev(const device& dev, spmv_plan<T> plan, array<T> inverse, double bound, std::int64_t degree)
      : plan_(std::move(plan)),
        inverse_(std::move(inverse)),
        other_(dev, plan_.rows()),
        product_(dev, plan_.rows()),
        recurrence_(bound, degree) {}

  std::string name() const override { return recurrence_.name(); }
  const chebyshev_recurrence& recurrence() const override { return recurrence_; }
  const T* inverse() const override { return inverse_.data(); }

  std::int64_t rows() const override { return plan_.rows(); }

  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    // The iterates alternate between two vectors, so that the last one comes to stand in z.
    const bool even = recurrence_.degree() % 2 == 0;
    T *now = even ? z.data() : other_.data(), *previous = even ? other_.data() : z.data();
    first_iterate(dev, static_cast<T>(recurrence_.first_factor()), r.data(), now);
    recurrence_.for_each_step([&](double keep, double momentum, double along) {
      step(dev, {static_cast<T>(keep), static_cast<T>(momentum), static_cast<T>(along), r.data(),
                 product_.data(), inverse_.data(), now, previous});
      std::swap(now, previous);
    });
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
  chebyshev_recurrence recurrence_;
};

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_chebyshev(const device& dev, csr_view<const T> A, std::int64_t degree) {
  const ieee_environment here;
  require_chebyshev_degree(degree);
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
