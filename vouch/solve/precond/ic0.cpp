#include <cmath>
#include <sstream>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/ic0.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

struct candidate {
  factored_matrix matrix;
  double shift = 0;
};

template <real T>
candidate factorise(const host_matrix<T>& A, elimination order, double shift) {
  candidate result;
  const int threads = A.cpu().threads();
  lower_part part = take_lower(A.all(), order, threads, "ic0");
  result.matrix.order = std::move(order);
  result.matrix.levels = find_levels(part.lower);
  shifted_factor found = incomplete_cholesky(std::move(part), result.matrix.levels, shift, threads);
  result.matrix.factor = std::move(found.factor);
  result.shift = found.shift;
  return result;
}

std::string describe(const candidate& c, bool on_gpu) {
  std::ostringstream text;
  text << "ic0";
  const std::string order = describe_order(c.matrix, on_gpu);
  if (c.shift > 0) text << " (shift " << c.shift << (order.empty() ? "" : ", ") << order << ")";
  if (c.shift == 0 && !order.empty()) text << " (" << order << ")";
  return text.str();
}

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_ic0(const device& dev, csr_view<const T> A, double shift) {
  const ieee_environment here;
  if (!(shift >= 0 && std::isfinite(shift))) throw value_error("ic0: the shift must be a number from 0 on");
  const valid_csr valid("ic0", dev, A);
  check_square("ic0", A.rows, A.cols);
  const host_matrix<T> host(dev, A);
  candidate chosen = factorise(host, dev.is_cuda() ? order_for_gpu(host.all()) : elimination{}, shift);
  if (!dev.is_cuda() && chosen.shift > shift) {
    candidate other = factorise(host, coloured(host.all()), shift);
    if (other.shift == shift) chosen = std::move(other);
  }
  return make_triangular_pair<T>(dev, chosen.matrix, describe(chosen, dev.is_cuda()));
}

template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_ic0(const device&, csr_view<const float>,
                                                                      double);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_ic0(const device&, csr_view<const double>,
                                                                       double);

}  // namespace vouch
