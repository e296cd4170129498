#include <string>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/stationary/dominance.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>
#include <vouch/solve/stationary/sweeps.hpp>

namespace vouch {
namespace {

const device& on_cpu(const device& dev) {
  if (dev.is_cuda())
    throw value_error("sweeps as an operator are for the CPU",
                      "on a GPU take jacobi(), gauss_seidel() or sor() with a number of fixed_iterations");
  return dev;
}

}  // namespace

template <real T>
sweeps<T>::sweeps(const device& dev, const iteration_matrix<T>& A, const sweep_options& options)
    : residual_(dev, A.rows()) {
  const ieee_environment here;
  if (!(options.omega > 0 && options.omega < 2))
    throw value_error(string_printf("omega is %.9g, it must lie between 0 and 2", options.omega),
                      "outside of it no start converges");
  check_diagonal(dev, A);
  iteration_ = A.make_sweeps(dev, {options.simultaneous, options.order, options.omega, options.ordering});
}

template <real T>
sweeps<T>::sweeps(const device& dev, csr_view<const T> A, const sweep_options& options)
    : sweeps(dev, *make_iteration_matrix(on_cpu(dev), A), options) {}

template <real T>
sweeps<T>::sweeps(const device& dev, transpose op, matrix_view<const T> A, const sweep_options& options)
    : sweeps(dev, *make_iteration_matrix(on_cpu(dev), op, A), options) {}

template <real T>
sweeps<T>::~sweeps() = default;
template <real T>
sweeps<T>::sweeps(sweeps&&) noexcept = default;
template <real T>
sweeps<T>& sweeps<T>::operator=(sweeps&&) noexcept = default;

template <real T>
void sweeps<T>::apply(view<const T> b, view<T> x, std::int64_t count) {
  const ieee_environment here;
  detail::require_contiguous("sweeps", "b", b, rows());
  detail::require_contiguous("sweeps", "x", x, rows());
  if (count < 0)
    throw value_error("the number of sweeps is " + std::to_string(count) + ", and should not be negative");
  const cancellation_probe stop;
  iteration_->start(b.data());
  if (count > 0 && iteration_->keeps_residual()) iteration_->residual(x.data(), residual_.data());
  for (std::int64_t k = 0; k < count; ++k) {
    stop.check();
    iteration_->sweep(x.data());
  }
}

template <real T>
std::string sweeps<T>::name() const {
  return iteration_->name();
}

template class VOUCH_PUBLIC sweeps<float>;
template class VOUCH_PUBLIC sweeps<double>;

}  // namespace vouch
