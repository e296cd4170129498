#include <vouch/verify/bicgstab.hpp>

#include <cmath>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/blas1.hpp>

namespace vouch::detail {

template <real T>
bool bicgstab(const device& dev, const spmv_plan<T>& A, view<const T> b, view<T> x, double rtol,
              int most_steps) {
  const std::int64_t n = b.size();
  array<T> r(dev, n), shadow, p(dev, n), Ap(dev, n), As(dev, n);
  copy(dev, b, r.all());
  A.multiply(T{-1}, x, T{1}, r);
  std::vector<T> random(static_cast<std::size_t>(n));  // r itself may be orthogonal to what follows
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = static_cast<T>(random_unit(1, i) - 0.5);
  shadow = array<T>::from(dev, random);
  copy<T, T>(dev, r, p);
  const double goal = rtol * nrm2<T>(dev, b);
  T rho = dot<T, T>(dev, shadow, r);
  const cancellation_probe stop;
  for (int step = 0; step < most_steps; ++step) {
    stop.check();
    const double size = nrm2<T>(dev, r);
    if (size <= goal) return true;
    A.multiply(T{1}, p, T{0}, Ap);
    const T alpha = rho / dot<T, T>(dev, shadow, Ap);
    if (!std::isfinite(alpha) || !std::isfinite(size)) return false;
    axpy<T, T>(dev, -alpha, Ap, r);  // now s
    axpy<T, T>(dev, alpha, p, x);
    A.multiply(T{1}, r, T{0}, As);
    const T omega = dot<T, T>(dev, As, r) / dot<T, T>(dev, As, As);
    if (!std::isfinite(omega)) return nrm2<T>(dev, r) <= goal;
    axpy<T, T>(dev, omega, r, x);
    axpy<T, T>(dev, -omega, As, r);
    const T next = dot<T, T>(dev, shadow, r);
    const T beta = next / rho * (alpha / omega);
    rho = next;
    axpy<T, T>(dev, -omega, Ap, p);  // p := r + beta (p - omega A p)
    scal<T>(dev, beta, p);
    axpy<T, T>(dev, T{1}, r, p);
    if (!std::isfinite(beta)) return nrm2<T>(dev, r) <= goal;
  }
  return false;
}

template bool bicgstab(const device&, const spmv_plan<float>&, view<const float>, view<float>, double, int);
template bool bicgstab(const device&, const spmv_plan<double>&, view<const double>, view<double>, double, int);

}  // namespace vouch::detail
