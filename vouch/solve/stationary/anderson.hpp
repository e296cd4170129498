// vouch/solve/stationary/anderson.hpp -- Anderson acceleration of the last iterates of a fixed-point iteration; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/types.hpp>
#include <vouch/solve/loop/checkpoint.hpp>

namespace vouch {

/// Keeps the last steps of an iteration d -> g(d) and proposes the combination of them whose change g(d) - d is
/// smallest.
///
/// Memory  2 (depth + 1) n values.
/// Result  Sums in double and in fixed order: the same bits on every run.
/// Source  Anderson, JACM 12 (1965); Walker, Ni, SIAM J. Numer. Anal. 49 (2011).
template <real T>
class anderson_acceleration {
 public:
  anderson_acceleration(std::int64_t n, int depth);

  /// Takes the step from d to g and, once there is an earlier one, replaces g by the combination. False where g
  /// was left alone.
  bool mix(const T* d, T* g);
  /// Forgets all steps.
  void clear();
  void keep(solver_state& state);

 private:
  std::size_t n_;
  int depth_;
  int kept_ = 0;  // differences
  int next_ = 0;  // where the next difference goes
  bool has_last_ = false;
  std::vector<T> last_change_, last_g_;
  std::vector<std::vector<T>> changes_, images_;  // differences of g(d) - d and of g(d)
  std::vector<double> products_;                  // of the differences of changes, depth by depth
};

}  // namespace vouch
