// vouch/solve/driver/batch.hpp -- batches of tridiagonal systems: elements in the precision of the work, verdicts,
// proofs; private.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <vouch/band/solve.hpp>
#include <vouch/band/tridiagonal.hpp>
#include <vouch/band/verdict.hpp>
#include <vouch/core/array.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/solve/proof.hpp>
#include <vouch/solve/result.hpp>

namespace vouch {

/// A method made ready for a batch of tridiagonal matrices.
class ready_batch {
 public:
  virtual ~ready_batch() = default;
  /// Solves every system; b and x lie where the operand does. found becomes the evidence on what was solved.
  virtual tridiagonal_report solve(const batch_view<const double>& b, const batch_view<double>& x,
                                   const stopping_criterion& goal, solve_times& times,
                                   detail::judgement& found) = 0;
  /// Whether that was the systems rounded to single precision.
  virtual bool rounds() const = 0;
};

/// Whether every element from the first to the last belongs to a system.
bool is_gapless(const batch_shape& shape);

/// The elements of a batch rounded to T, stored as they are; what stands in gaps becomes 0.
///
/// Memory  values live on the CPU.
/// Throws  value_error  one overflows T: the text begins with `from`
template <real T>
array<T> rounded_elements(const device& cpu, const batch_view<const double>& values, const std::string& from);

/// The three diagonals likewise; what is never used of them becomes 0.
template <real T>
diagonals<T> rounded_diagonals(const device& cpu, const tridiagonal_view<const double>& A,
                               const std::string& from);

/// Puts elements that lie on any device, stored as x is, into x, which lives on home; gaps stay as they are.
template <real T>
void put_elements(const device& cpu, const array<T>& from, const device& home, const batch_view<double>& x);

/// What a report of tridiagonal systems says in the words of all methods.
solve_report as_solve_report(const tridiagonal_report& from, const stopping_criterion& goal);

/// Puts the verdict on a batch into the result of a solve.
void take_batch_verdict(const tridiagonal_report& report, const detail::judgement& found,
                        const stopping_criterion& goal, solve_result& result);

/// Judges x, which lies with A and b, by the systems as they were given.
void judge_batch(const operand& A, const batch_view<const double>& b, const batch_view<const double>& x,
                 const stopping_criterion& goal, tridiagonal_report& report, detail::judgement& found);

/// Bounds the errors of x, which lies with A and b, on dev and improves x where the bounds are wider than asked.
solution_proof prove_batch(const proof_request& request, const operand& A, const device& dev,
                           const batch_view<const double>& b, const batch_view<double>& x);

}  // namespace vouch
