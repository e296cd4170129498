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
  std::vector<itl_assertion> assertions_;
};

TEST_F(itf1788, host) {
  itl_counts counts = check_shared_operations(assertions_, evaluate_here<interval<double>>,
                                              evaluate_here<decorated_interval<double>>);
  counts.merge(check_host_operations(assertions_));
  counts.merge(check_reductions(device::cpu(), assertions_));
  // Every operation of the files is checked: a new one is a failure.
  for (const itl_assertion& a : assertions_)
    EXPECT_EQ(counts.count(a.operation), 1U) << a.place << ": nobody knows " << a.operation;
  std::cout << "ITF1788 on the host, passed by operation:\n" << itl_table(counts);
  std::cout << "no operation is unsupported\n";
}

TEST_F(itf1788, gpu) {
  VOUCH_NEEDS_GPU();
  if constexpr (built_with_cuda) {
    itl_counts counts = check_shared_operations(
        assertions_, [](const auto& cases) { return evaluate_on_gpu(cases); },
        [](const auto& cases) { return evaluate_on_gpu(cases); });
    counts.merge(check_reductions(gpus().front(), assertions_));
    std::cout << "ITF1788 on the GPU, passed by operation:\n" << itl_table(counts);
    std::cout << "every other operation is offered on the host alone\n";
  }
}

}  // namespace
}  // namespace vouch::testing
