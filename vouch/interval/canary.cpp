#include <vouch/interval/canary.hpp>

#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/canary_cases.hpp>

namespace vouch {
namespace {

unsigned failures_on(const device& dev) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return rounding::canary_failures_cuda(dev);
  const volatile rounding::canary_operands<float> singles;
  const volatile rounding::canary_operands<double> doubles;
  return rounding::canary_failures(singles) | rounding::canary_failures(doubles);
}

}  // namespace

void check_directed_rounding(const device& dev) {
  const ieee_environment here;
  const unsigned failed = failures_on(dev);
  for (unsigned k = 0; k < std::size(rounding::canary_names); ++k)
    if (failed >> k & 1)
      throw value_error("interval arithmetic: directed rounding does not hold on " + dev.name() + ": " +
                        rounding::canary_names[k]);
}

}  // namespace vouch
