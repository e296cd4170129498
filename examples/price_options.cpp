// price_options -- one put priced four ways: by formula, by its exercise boundary, and on grids with dividends
// and with a barrier.
#include <cstdio>

#include <vouch/core/error.hpp>
#include <vouch/price/price.hpp>

namespace {

void show(const char* what, const vouch::contract& c) {
  vouch::pricing_options options;
  options.finite_difference.tolerance = 1e-4;  // of the price, where steps on a grid are needed
  const vouch::pricing p = vouch::price(c, options);
  std::printf("%-32s %10.6f  error about %.0e  delta %9.6f  by %s\n", what, p.value.price, p.error_estimate,
              p.value.delta, name(p.method));
}

}  // namespace

int main() {
  try {
    vouch::contract c;
    c.plain = {.type = vouch::option_type::put,
               .spot = 100,
               .strike = 105,
               .rate = 0.04,
               .volatility = 0.25,
               .expiry = 1};
    show("European put", c);
    c.exercise = vouch::exercise_style::american;
    show("American put", c);
    c.dividends = {{0.5, 3.0}};  // 3 in half a year
    show("American put, a cash dividend", c);
    c.dividends.clear();
    c.plain.barrier = vouch::barrier_kind::up_and_out;
    c.plain.barrier_level = 120;
    show("American put, out at 120", c);
    return 0;
  } catch (const vouch::error& e) {
    std::fprintf(stderr, "%s\n%s\n", e.what(), e.hint().c_str());
    return 1;
  }
}
