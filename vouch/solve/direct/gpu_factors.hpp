// vouch/solve/direct/gpu_factors.hpp -- sparse systems solved on a GPU with cuDSS's factors, and refined; private.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/direct/cudss/factors.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Factors in precision F of a matrix in precision T, for any number of right-hand sides. F may be float with T double:
/// the refinement in T makes up for it where the condition of A is below some 10^6.
///
/// Memory  Everything lives on dev. A is not needed between calls.
template <real T, real F>
class gpu_factors {
 public:
  /// Orders A on so many CPU threads, and factorises it.
  ///
  /// Throws  as cudss::factors
  ///         value_error  an entry overflows F
  gpu_factors(const device& dev, cudss::kind which, csr_view<const T> A, int threads);

  /// Factorises a matrix of the same pattern in the order that was found.
  void factorise(csr_view<const T> A);

  /// Solves for columns one after another in b and x, then refines them, as sparse_lu() with own factors; `method`
  /// names them. Not on several threads at once.
  std::vector<solve_report> solve(const std::string& method, csr_view<const T> A, std::int64_t columns,
                                  view<const T> b, view<T> x, const stopping_criterion& goal);

 private:
  class adapter;

  csr_view<const F> in_factor_precision(csr_view<const T> A);
  void apply(T* x);
  std::string name() const;

  device dev_;
  cudss::kind kind_;
  std::int64_t rows_;
  array<F> values_;                           // of A, where F is not T
  std::optional<cudss::factors<F>> factors_;  // nothing where there are no rows
  array<F> rhs_, solution_;
};

}  // namespace vouch
