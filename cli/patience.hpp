// cli/patience.hpp -- how long conjugate gradients may go on before auto prefers a factorisation.
#pragma once
#include <cstdint>

#include <vouch/solve/report.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::cli {

/// Counts the work of iterations against what eliminating the matrix is predicted to take: in floating-point
/// operations, never by a clock, so that every run decides alike.
class patience {
 public:
  /// A is symmetric, lives on the CPU and must outlive the object.
  explicit patience(csr_view<const double> A) : A_(A) {}

  /// A solver's monitor: false where conjugate gradients have done several times that work.
  bool goes_on(const iteration_record& record);
  /// Whether it has said so.
  bool is_out() const { return out_; }
  /// Whether elimination is worth trying after so many iterations without success.
  bool elimination_pays(std::int64_t iterations);

 private:
  double work(std::int64_t iterations) const;
  double elimination();

  csr_view<const double> A_;
  double elimination_ = 0;  // its work; 0: not predicted yet
  bool out_ = false;
};

}  // namespace vouch::cli
