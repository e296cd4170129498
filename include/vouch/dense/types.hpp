// vouch/dense/types.hpp -- the words that say how an operand of a BLAS routine is meant.
#pragma once
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A as it stands, its transpose, or its conjugate transpose (the transpose, for real scalars and intervals).
enum class transpose { no, yes, conjugate };

/// Which half of a matrix is stored; the other half is never read.
enum class triangle { lower, upper };

/// On which side of the product the special operand stands.
enum class side { left, right };

/// unit: the diagonal is all ones and not read.
enum class diagonal { general, unit };

/// How a product of matrices is enclosed; blas3.hpp says what each costs and how wide it is.
enum class gemm_mode { tight, fast, exact };

}  // namespace vouch
