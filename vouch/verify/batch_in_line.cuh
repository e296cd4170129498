// vouch/verify/batch_in_line.cuh -- copies of systems, their rows one after another, for visits that ask for
// that; private.
#pragma once
#include <vouch/core/array.hpp>
#include <vouch/verify/batch_visit.cuh>

namespace vouch::detail {

/// Takes systems out of the list of those left, some at a time, to be visited as task() and lists() say.
///
/// Memory  6 to 8 numbers a row of the most systems at a time.
class systems_in_line {
 public:
  systems_in_line(const device& dev, const visit_task& task, const visit_lists& lists, std::int64_t most);

  /// Those from place `begin` of the list.
  void take(std::int64_t begin, std::int64_t count);
  visit_task task();
  visit_lists lists();
  /// What the visit found.
  void put_back();

 private:
  device dev_;
  visit_task task_;
  visit_lists lists_;
  std::int64_t n_, count_ = 0;
  const std::int64_t* those_ = nullptr;
  array<double> memory_;
  array<std::int64_t> numbers_;
  double *moved_[5], *radius_, *lo_, *middle_, *ratio_;  // dl, d, du, b, x
};

}  // namespace vouch::detail
