// tests/interval/itl_run.hpp -- runs the ITF1788 assertions of the data folder and counts by operation.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>

#include "interval/itl_operations.hpp"
#include "interval/itl_parse.hpp"

namespace vouch::testing {

template <class Interval>
struct itl_case {
  itl_operation operation;
  itl_operands<Interval> operands;
};

/// Evaluates all cases somewhere, in order.
template <class Interval>
using itl_evaluator = std::function<std::vector<itl_outcome<Interval>>(const std::vector<itl_case<Interval>>&)>;

struct itl_count {
  int passed = 0;
  int narrower = 0;  // than in the file, and proved to be the smallest
  int failed = 0;
};
using itl_counts = std::map<std::string, itl_count>;

/// All assertions of all .itl files of a folder, by file name.
std::vector<itl_assertion> read_itl_folder(const std::string& folder);

/// Checks those assertions whose operation host and device share; each failure is a GoogleTest failure.
itl_counts check_shared_operations(const std::vector<itl_assertion>& assertions,
                                   const itl_evaluator<interval<double>>& bare,
                                   const itl_evaluator<decorated_interval<double>>& decorated);

/// Checks those that only the host has: constructors, text, decorations, elementary functions.
itl_counts check_host_operations(const std::vector<itl_assertion>& assertions);

bool is_host_operation(const std::string& name);

/// Checks the correctly rounded sums and scalar products, on dev.
itl_counts check_reductions(const device& dev, const std::vector<itl_assertion>& assertions);

/// How many assertions nobody judged, by operation.
std::map<std::string, int> itl_not_run(const std::vector<itl_assertion>& assertions, const itl_counts& counts);

/// The counts as a table, one line an operation, and the total.
std::string itl_table(const itl_counts& counts);

/// Whether ours lies within the file's interval, has its decoration and is the smallest by the definition of the
/// reverse operation; false for other operations.
bool itl_is_smallest(const itl_assertion& a, const itl_value& ours);

/// Shared between the two checks: whether values are the same, and their text for a message.
bool itl_same(const itl_value& a, const itl_value& b);
std::string itl_show(const std::vector<itl_value>& values);

/// The evaluators of the GPU; defined only in CUDA builds.
std::vector<itl_outcome<interval<double>>> evaluate_on_gpu(
    const std::vector<itl_case<interval<double>>>& cases);
std::vector<itl_outcome<decorated_interval<double>>> evaluate_on_gpu(
    const std::vector<itl_case<decorated_interval<double>>>& cases);

}  // namespace vouch::testing
