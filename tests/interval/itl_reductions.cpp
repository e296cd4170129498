// The ITF1788 operations on vectors of numbers.
#include <gtest/gtest.h>

#include <vouch/core/array.hpp>
#include <vouch/dense/rounded_sums.hpp>

#include "interval/itl_run.hpp"

namespace vouch::testing {
namespace {

using vector = view<const double>;
using reduction = rounded<double> (*)(const device&, vector, vector);

const std::map<std::string, reduction> reductions{
    {"sum_nearest", [](const device& dev, vector x, vector) { return rounded_sum(dev, x); }},
    {"sum_abs_nearest", [](const device& dev, vector x, vector) { return rounded_sum_abs(dev, x); }},
    {"sum_sqr_nearest", [](const device& dev, vector x, vector) { return rounded_sum_square(dev, x); }},
    {"dot_nearest", [](const device& dev, vector x, vector y) { return rounded_dot(dev, x, y); }}};

}  // namespace

itl_counts check_reductions(const device& dev, const std::vector<itl_assertion>& assertions) {
  itl_counts counts;
  for (const itl_assertion& a : assertions) {
    const auto found = reductions.find(a.operation);
    if (found == reductions.end()) continue;
    const auto x = array<double>::from(dev, a.operands.front().array);
    const auto y = array<double>::from(dev, a.operands.back().array);
    const itl_value ours = found->second(dev, x, y).nearest;
    const bool passed = itl_same(ours, a.results.front());
    ++(passed ? counts[a.operation].passed : counts[a.operation].failed);
    EXPECT_TRUE(passed) << a.place << ": " << a.operation << " =" << itl_show(a.results) << ", ours"
                        << itl_show({ours});
  }
  return counts;
}

}  // namespace vouch::testing
