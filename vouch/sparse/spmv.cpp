#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/spmv.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

template <real T>
void spmv(const device& dev, T alpha, csr_view<const T> A, view<const T> x, T beta, view<T> y) {
  const ieee_environment here;
  spmv_plan<T>::make(dev, A, false, layout::csr).multiply(alpha, x, beta, y);
}

template void spmv(const device&, float, csr_view<const float>, view<const float>, float, view<float>);
template void spmv(const device&, double, csr_view<const double>, view<const double>, double, view<double>);

}  // namespace vouch
