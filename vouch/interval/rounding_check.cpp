#include <vouch/interval/rounding_check.hpp>

#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/rounding_check_cases.hpp>

namespace vouch {
namespace {

unsigned failures_on(const device& dev) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return rounding::wrong_operations_cuda(dev);
  const volatile rounding::check_operands<float> singles;
  const volatile rounding::check_operands<double> doubles;
  return rounding::wrong_operations(singles) | rounding::wrong_operations(doubles);
}

}  // namespace

void check_directed_rounding(const device& dev) {
  const ieee_environment here;
  const unsigned failed = failures_on(dev);
  for (unsigned k = 0; k < std::size(rounding::checked_operations); ++k)
    if (failed >> k & 1)
      throw value_error("interval arithmetic: directed rounding does not hold on " + dev.name() + ": " +
                        rounding::checked_operations[k]);
}

}  // namespace vouch
