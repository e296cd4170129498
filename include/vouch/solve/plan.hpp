// vouch/solve/plan.hpp -- which methods a system is tried with, in which order, and why.
#pragma once
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/solve/methods.hpp>

namespace VOUCH_PUBLIC vouch {

/// A method with all that was decided for it.
struct attempt {
  const vouch::method* method = nullptr;
  working_precision precision = working_precision::double_;
  acceleration accelerate{};
  preconditioner_choice preconditioner{};
  std::string why;            // "" where it was asked for by name
  std::string precision_why;  // "" where the precision is as asked
  double work = 0;            // predicted
  double iteration_work = 0;  // 0: it is never cut short
};

/// Who eliminates what auto would have eliminated, with square roots, symmetrically, by LU or by QR: Vouch itself, or a
/// library on the CPU or on a GPU.
enum class eliminator { own, library, gpu_library };
eliminator who_eliminates(const system_facts& facts);

/// What elimination costs, in the unit of prediction::work.
double elimination_work(const elimination_cost& cost, std::int64_t nonzeros, eliminator by = eliminator::own);

/// The same of a sparse system whose cost is as predicted; infinite where that was not.
double elimination_work(const system_facts& facts);

/// What the order of its elimination costs alone.
double order_work(const system_facts& facts, eliminator by);

/// Whether the plan may depend on system_facts::elimination, and finding it costs little beside the solve.
bool is_elimination_worth_predicting(const system_facts& facts, const solve_options& options);

/// A method asked for by name is the only attempt. Else all that apply: with the precision asked for before
/// others; for dense matrices their factorisations first; by their predicted work. Where iterations are
/// preferred and there are some, nothing else.
///
/// Result  A function of its arguments alone; at least one attempt.
/// Throws  shape_error  the matrix is not square, and the method asked for needs one that is
///         value_error  an option that the method does not take; the method asked for cannot solve such a
///                      system, or none can; another precision than double, or another end than the residual's,
///                      for a matrix that is not square
std::vector<attempt> make_plan(const system_facts& facts, const solve_options& options);

/// What auto misses for a matrix on a GPU whose iterations have come to nothing, and which package has it; "" where it
/// misses nothing.
std::string missing_elimination(const system_facts& facts, const solve_options& options);

}  // namespace vouch
