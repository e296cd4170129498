// Compiled twice, with and without VOUCH_BENCH_UNASKED.
#if defined(VOUCH_BENCH_UNASKED)
// By names of their own, so that a linker confuses them with no others.
#include <vouch/core/types.hpp>
#undef VOUCH_SIDE
#define VOUCH_SIDE __attribute__((abi_tag("unasked")))
#include <vouch/core/ieee_environment.hpp>
#undef VOUCH_IN_IEEE_UNLESS
#define VOUCH_IN_IEEE_UNLESS(immune, call)
#endif

#include "scalar_loops.hpp"

#include <vouch/interval/functions.hpp>
#include <vouch/price/closed_form.hpp>

namespace vouch::bench {

#if defined(VOUCH_BENCH_UNASKED)
scalar_loops unasking_loops() {
#else
scalar_loops asking_loops() {
#endif
  return {{{"x + y",
            [](scalar_operands& o) {
              for (std::size_t k = 0; k < o.x.size(); ++k) o.result[k] = o.x[k] + o.y[k];
            }},
           {"x * y",
            [](scalar_operands& o) {
              for (std::size_t k = 0; k < o.x.size(); ++k) o.result[k] = o.x[k] * o.y[k];
            }},
           {"y / x",
            [](scalar_operands& o) {
              for (std::size_t k = 0; k < o.x.size(); ++k) o.result[k] = o.y[k] / o.x[k];
            }},
           {"sqrt(x)",
            [](scalar_operands& o) {
              for (std::size_t k = 0; k < o.x.size(); ++k) o.result[k] = sqrt(o.x[k]);
            }},
           {"closed_form", [](scalar_operands& o) {
              for (std::size_t k = 0; k < o.options.size(); ++k) o.prices[k] = closed_form(o.options[k]).price;
            }}}};
}

}  // namespace vouch::bench
