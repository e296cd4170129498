// vouch/solve/distributed/petsc/petsc_engine.hpp -- a solver of PETSc's as the residual-checked solve runs it; private.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include <vouch/solve/distributed/petsc/petsc.h>
#include <vouch/distributed/communicator.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/distributed/row_vectors.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/sparse/structure.hpp>

namespace vouch::distributed {

/// Throws on every rank where a call was not done on one of them.
///
/// Throws  value_error  VOUCH_PETSC_REFUSED; file_error  VOUCH_PETSC_FAILED
///         std::runtime_error, on this rank alone  VOUCH_PETSC_ALONE
void require_done(communicator& ranks, const vouch_petsc& functions, vouch_petsc_code code);

class petsc_engine final : public inner_solver<double> {
 public:
  /// Memory  All that is given but for the words outlives it; A is copied.
  /// Throws  as require_done(); file_error, on every rank  entries exceed PETSc's indices
  petsc_engine(const vouch_petsc& functions, const row_matrix& A, const row_vectors& vectors,
               const structure_facts& facts, bool constants_in_null_space,
               const std::vector<std::string>& words);
  ~petsc_engine() override;
  petsc_engine(const petsc_engine&) = delete;
  petsc_engine& operator=(const petsc_engine&) = delete;

  /// Nothing that PETSc says is believed but when it was done: a first run is asked for the rule's target, in PETSc's
  /// own norm, each later one for a digit at least.
  inner_outcome run(double* r, double* d, const stopping_rule& rule, iteration_log& log) override;
  std::string name() const override;

  /// As PETSc names what it took.
  const std::string& method() const { return method_; }
  const std::string& preconditioner() const { return preconditioner_; }
  /// PETSc's word for the end of the last run.
  const std::string& said() const { return said_; }

 private:
  const vouch_petsc& functions_;
  const row_matrix& A_;
  const row_vectors& vectors_;
  vouch_petsc_solver* solver_ = nullptr;
  std::string method_, preconditioner_, partition_, said_;
  bool ran_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace vouch::distributed
