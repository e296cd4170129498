#include <sstream>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/ssor.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {

template <real T>
std::unique_ptr<preconditioner<T>> make_ssor(const device& dev, csr_view<const T> A, double omega) {
  const ieee_environment here;
  if (!(omega > 0 && omega < 2)) throw value_error("ssor: omega must lie between 0 and 2");
  const valid_csr valid("ssor", dev, A);
  check_square("ssor", A.rows, A.cols);
  const host_matrix<T> host(dev, A);
  factored_matrix F;
  if (dev.is_cuda()) F.order = order_for_gpu(host.all());
  lower_part part = take_lower(host.all(), F.order, host.cpu().threads(), "ssor");
  F.levels = find_levels(part.lower);
  F.factor = symmetric_sor(std::move(part), omega);
  std::ostringstream name;
  const std::string order = describe_order(F, dev.is_cuda());
  name << "ssor (omega " << omega << (order.empty() ? "" : ", ") << order << ")";
  return make_triangular_pair<T>(dev, F, name.str());
}

template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_ssor(const device&, csr_view<const float>,
                                                                       double);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_ssor(const device&, csr_view<const double>,
                                                                        double);

}  // namespace vouch
