// vouch/solve/driver/patience.hpp -- how long an iteration may go on before auto prefers a factorisation;
// private.
#pragma once
#include <cstdint>

#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/report.hpp>

namespace vouch {

/// Counts the work of iterations against what eliminating the matrix is predicted to take: in floating-point
/// operations, never by a clock, so that every run decides alike.
class patience {
 public:
  /// iteration_work as in prediction; 0: endless. A must outlive the object.
  patience(operand& A, double iteration_work) : A_(A), iteration_work_(iteration_work) {}

  /// A solver's monitor: false where the iterations have done several times that work.
  bool goes_on(const iteration_record& record);
  /// Whether it has said so.
  bool is_out() const { return out_; }
  /// Whether elimination is worth trying after so many iterations without success.
  bool elimination_pays(std::int64_t iterations);

 private:
  double work(std::int64_t iterations) const { return static_cast<double>(iterations) * iteration_work_; }

  operand& A_;
  double iteration_work_;
  bool out_ = false;
};

}  // namespace vouch
