#include <vouch/verify/sparse/comparison.hpp>

#include <vouch/verify/elements.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch::detail {

comparison::comparison(const device& dev, const matrix_rows& A, const uncertainty& within)
    : device_(dev), A_(A), within_(within), n_(row_count(A)), v_(dev, n_), d_(dev, n_), image_(dev, n_) {
  for_elements(dev, n_, fill_body<double>{1.0, v_.data()});
}

bool comparison::holds() {
  for_rows(device_, A_, comparison_body{v_.data(), d_.data(), image_.data(), within_});
  return largest(device_, n_, refutes_body{v_.data(), image_.data()}) == 0;
}

void comparison::improve_v(double stretch) {
  array<double> others(device_, n_);
  for_rows(device_, A_, off_diagonal_body{v_.data(), others.data(), within_});
  for_elements(device_, n_, jacobi_weight_body{others.data(), d_.data(), stretch, v_.data()});
}

double comparison::inverse_norm() const {
  array<double> ones(device_, n_);
  for_elements(device_, n_, fill_body<double>{1.0, ones.data()});
  return mul_up(largest(device_, n_, quotient_body{ones.data(), image_.data()}),
                largest(device_, n_, size_body{v_.data()}));
}

void comparison::bound(view<const interval<double>> r, int steps, view<double> radius) const {
  if (steps == 0) {
    bound_widened(r, nullptr, radius);
    return;
  }
  array<double> c(device_, n_), t(device_, n_), sum = array<double>::zeros(device_, n_);
  for_elements(device_, n_, magnitude_body{r.data(), c.data()});
  for (int m = 0; m < steps; ++m) {
    for_elements(device_, n_, jacobi_body{c.data(), d_.data(), t.data(), sum.data()});
    for_rows(device_, A_, off_diagonal_body{t.data(), c.data(), within_});
  }
  const double factor = largest(device_, n_, quotient_body{c.data(), image_.data()});
  for_elements(device_, n_, radius_body{sum.data(), v_.data(), factor, radius.data()});
}

double comparison::bound_widened(view<const interval<double>> r, const double* lo, view<double> radius) const {
  const double factor = largest(device_, n_, interval_quotient_body{r.data(), image_.data()});
  return largest(device_, n_, widen_multiple_body{lo, v_.data(), factor, radius.data()});
}

}  // namespace vouch::detail
