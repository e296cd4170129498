// vouch/solve/precond/shared_polynomial.hpp -- what of a polynomial in the matrix several GPUs need to share it; private.
#pragma once
#include <vouch/core/types.hpp>
#include <vouch/solve/precond/chebyshev_recurrence.hpp>

namespace vouch {

/// M = p(D^-1 A) D^-1 by a recurrence.
template <real T>
class shared_polynomial {
 public:
  virtual ~shared_polynomial() = default;
  virtual const chebyshev_recurrence& recurrence() const = 0;
  /// 1/D, n elements where the preconditioner was made.
  virtual const T* inverse() const = 0;
};

}  // namespace vouch
