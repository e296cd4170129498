#include <vouch/interval/canary.hpp>

#include <cfenv>
#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
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

void rounding::throw_harmful_environment() {
  const bool mode = std::fegetround() != FE_TONEAREST;
  throw value_error(
      mode ? "interval arithmetic: the calling thread does not round to nearest"
           : "interval arithmetic: the calling thread flushes subnormal numbers to zero",
      mode ? "call std::fesetround(FE_TONEAREST) first"
           : "a library built with -ffast-math may have set this; clear FTZ and DAZ in MXCSR first");
}

void check_directed_rounding(const device& dev) {
  if (!dev.is_cuda()) require_ieee_environment();
  const unsigned failed = failures_on(dev);
  for (unsigned k = 0; k < std::size(rounding::canary_names); ++k)
    if (failed >> k & 1)
      throw value_error("interval arithmetic: directed rounding does not hold on " + dev.name() + ": " +
                        rounding::canary_names[k]);
}

}  // namespace vouch
