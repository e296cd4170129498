// vouch/solve/stationary/mixed_sweeps.hpp -- sweeps over a copy of less precision inside, a double-precision answer
// outside; private.
#pragma once
#include <memory>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// The loop of exact's sweeps, exact being A, with a copy of A whose entries take less room: corrections d of
/// few digits each come from sweeps over the copy, and A itself gives the residual that is left after each.
///
/// Copies  Entries of 8 bits, then of 16, where exact has such (make_rounded_engine) and many sweeps are to be
///         expected; then single precision; then A. A copy is left for the next one once corrections gain too
///         little: two bits, in single precision six.
/// Sweeps  of a correction go on until they meet as much less as the one before has shown that the copy's
///         precision is worth; eight times less each time as long as sweeps, not precision, were the limit.
/// Memory  A lives on dev; it, exact and warning must outlive the engine. One copy at a time besides, and what
///         the engine in double takes where it has to.
std::unique_ptr<inner_solver<double>> mixed_sweeps(const device& dev, csr_view<const double> A,
                                                   const iteration_matrix<double>& exact,
                                                   const sweep_rule& rule, const acceleration& accelerate,
                                                   std::string& warning);
std::unique_ptr<inner_solver<double>> mixed_sweeps(const device& dev, transpose op, matrix_view<const double> A,
                                                   const iteration_matrix<double>& exact,
                                                   const sweep_rule& rule, const acceleration& accelerate,
                                                   std::string& warning);

}  // namespace vouch
