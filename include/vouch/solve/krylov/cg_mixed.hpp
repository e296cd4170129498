// vouch/solve/krylov/cg_mixed.hpp -- conjugate gradients in single precision inside, a double-precision answer
// outside.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/solve/krylov/cg.hpp>

namespace VOUCH_PUBLIC vouch {

/// Solves A x = b as cg() in double does, with most iterations in single precision.
///
/// Shapes  As cg().
/// Memory  A, b, x and M live on dev; 8 nnz + 24 n bytes besides.
/// Result  The contract of cg() in double: converged is said on the residual recomputed in double-double.
///         Single precision reduces the residual by some 10^4 a round, each round starts from the
///         recomputed one. Systems so small that their time is latency, a number of iterations or a
///         recurrence rule asked for, and a round that single precision cannot do (too ill-conditioned)
///         fall back to double; warnings say so.
/// Cost    An iteration moves half of the bytes of double.
/// Throws  As cg()
/// Source  Iterative refinement: Moler 1967; Goeddeke, Strzodka, Turek, IJPEDS 22 (2007).
solve_report cg_mixed(const device& dev, csr_view<const double> A, view<const double> b, view<double> x,
                      const cg_options& options = {}, const preconditioner<float>* M = nullptr);

}  // namespace vouch
