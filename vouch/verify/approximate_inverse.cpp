#include <vouch/verify/approximate_inverse.hpp>

#include <cmath>
#include <utility>

#include <vouch/core/config.hpp>
#include <vouch/dense/approximate_factors.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/cusolver.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/pass.hpp>

namespace vouch::detail {
namespace {

bool all_finite(const device& dev, const matrix<double>& R) {
  return std::isfinite(largest(dev, R.rows() * R.cols(), size_body{R.data()}));
}

bool invert_on_cpu(const device& cpu, matrix<double> A, matrix<double>& R) {
  const std::int64_t n = A.rows();
  const approximate_lu lu = factorise(cpu, std::move(A));
  if (lu.singular) return false;
  R = matrix<double>::zeros(cpu, n, n);
  for (std::int64_t k = 0; k < n; ++k) {
    if (lu.factors(k, k) == 0) return false;
    R(k, lu.rows[static_cast<std::size_t>(k)]) = 1;
  }
  trsm<double, double>(cpu, side::left, triangle::lower, transpose::no, diagonal::unit, 1, lu.factors, R);
  trsm<double, double>(cpu, side::left, triangle::upper, transpose::no, diagonal::general, 1, lu.factors, R);
  return all_finite(cpu, R);
}

bool invert_on_gpu(const device& dev, matrix<double> A, matrix<double>& R) {
  const std::int64_t n = A.rows();
  R = matrix<double>::zeros(dev, n, n);
  for_elements(dev, n, unit_diagonal_body{n, R.data()});
  cusolver::factors<double> factors(dev, cusolver::kind::lu, std::move(A));
  if (factors.failed() > 0) return false;
  factors.solve(false, n, R.data());
  return all_finite(dev, R);
}

}  // namespace

bool invert_approximately(const device& dev, matrix<double> A, matrix<double>& R, std::string& remark) {
  if (A.rows() == 0) return true;
  if (!dev.is_cuda()) return invert_on_cpu(dev, std::move(A), R);
  if constexpr (built_with_cuda)
    if (cusolver::present()) return invert_on_gpu(dev, std::move(A), R);
  remark = "there is no cuSOLVER: the inverse was made on the CPU";
  const device cpu = device::cpu();
  matrix<double> here;
  if (!invert_on_cpu(cpu, A.to(cpu), here)) return false;
  R = here.to(dev);
  return true;
}

}  // namespace vouch::detail
