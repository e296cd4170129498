#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include <vouch/core/config.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "interval/itl_run.hpp"

namespace vouch::testing {
namespace {

template <class Interval>
std::vector<itl_outcome<Interval>> evaluate_here(const std::vector<itl_case<Interval>>& cases) {
  std::vector<itl_outcome<Interval>> outcomes;
  for (const auto& one : cases) outcomes.push_back(itl_evaluate(one.operation, one.operands));
  return outcomes;
}

class itf1788 : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = data_file("itl");
    VOUCH_NEEDS_DATA(folder);
    assertions_ = read_itl_folder(folder);
    ASSERT_GT(assertions_.size(), 1000U);
  }

  // Prints what passed and what was not run, and returns the latter.
  std::map<std::string, int> report(const char* where, const itl_counts& counts) const {
    const auto left = itl_not_run(assertions_, counts);
    std::cout << "ITF1788 " << where << ", passed by operation:\n" << itl_table(counts) << "  not run:";
    for (const auto& [name, count] : left) std::cout << ' ' << name << ' ' << count;
    std::cout << (left.empty() ? " nothing of " : ", of ") << assertions_.size() << " assertions\n";
    return left;
  }

  std::vector<itl_assertion> assertions_;
};

TEST_F(itf1788, host) {
  itl_counts counts = check_shared_operations(assertions_, evaluate_here<interval<double>>,
                                              evaluate_here<decorated_interval<double>>);
  counts.merge(check_host_operations(assertions_));
  counts.merge(check_reductions(device::cpu(), assertions_));
  for (const auto& [name, count] : report("on the host", counts))
    ADD_FAILURE() << name << ": " << count << " assertions were not run";
}

// On the GPU what the host alone offers is not run: elementary functions, constructors and text.
TEST_F(itf1788, gpu) {
  VOUCH_NEEDS_GPU();
  if constexpr (built_with_cuda) {
    itl_counts counts = check_shared_operations(
        assertions_, [](const auto& cases) { return evaluate_on_gpu(cases); },
        [](const auto& cases) { return evaluate_on_gpu(cases); });
    counts.merge(check_reductions(gpus().front(), assertions_));
    for (const auto& [name, count] : report("on the GPU", counts))
      EXPECT_TRUE(is_host_operation(name)) << name << ": " << count << " assertions were not run";
  }
}

}  // namespace
}  // namespace vouch::testing
