// bench/scalar_loops.hpp -- functions that headers define, one call after another: as any program has them, and without
// the question about the floating-point environment that each call begins with.
#pragma once
#include <array>
#include <vector>

#include <vouch/interval/interval.hpp>
#include <vouch/price/types.hpp>

namespace vouch::bench {

struct scalar_operands {
  std::vector<interval<double>> x, y, result;  // x positive
  std::vector<plain_option> options;
  std::vector<double> prices;
};

/// Once through all elements.
struct scalar_loop {
  const char* name;
  void (*run)(scalar_operands&);
};
using scalar_loops = std::array<scalar_loop, 5>;

scalar_loops asking_loops();
scalar_loops unasking_loops();

}  // namespace vouch::bench
