// vouch/solve/krylov/weak_parts.hpp -- parts of a system that hang together by little; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Sets of rows that entries join which are large beside the diagonal. Where a coefficient jumps such a part moves as a
/// whole almost without a residual, and conjugate gradients meet no sign of it before the residual is that small.
template <real T>
class weak_parts {
 public:
  /// A is symmetric with a positive diagonal and lives on the CPU.
  explicit weak_parts(csr_view<const T> A);

  /// Whether there are so few that their system costs little beside A.
  bool are_few() const { return 8 * whole_.rows <= static_cast<std::int64_t>(part_.size()); }
  /// The 2-norm of the error in x if its residual r comes from parts that are off as a whole.
  double error_behind(const T* r) const;

 private:
  std::vector<std::int32_t> part_;  // of each row
  std::vector<double> rows_;        // of each part
  csr<double> whole_;               // the sum of the entries of A between two parts
};

}  // namespace vouch
