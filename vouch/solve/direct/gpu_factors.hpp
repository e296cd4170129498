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
/// the refinement in T makes up for it where the condition of A is below some 10^6. The real form of a complex matrix is
/// factorised as complex numbers.
///
/// Memory  Everything lives on dev. A is not needed between calls.
template <real T, real F>
class gpu_factors {
 public:
  /// Orders A, and factorises it.
  ///
  /// Throws  as cudss::factors
  ///         value_error  an entry overflows F
  gpu_factors(const device& dev, cudss::kind which, csr_view<const T> A, const cudss::working& how);

  /// Factorises a matrix of the same pattern in the order that was found, unless one of the two is complex.
  void factorise(csr_view<const T> A);

  /// Whether columns are solved for at once.
  bool takes_columns() const { return !factors_ || !factors_->repeats(); }

  /// Solves for columns one after another in b and x, then refines them, as sparse_lu() with own factors; `method`
  /// names them. Not on several threads at once.
  std::vector<solve_report> solve(const std::string& method, csr_view<const T> A, std::int64_t columns,
                                  view<const T> b, view<T> x, const stopping_criterion& goal);

 private:
  class adapter;

  void check_overflow(csr_view<const T> A) const;
  void make(csr_view<const T> A, std::optional<number_matrix<T>> form);
  void apply(T* x, std::int64_t columns);
  std::string name() const;
  std::optional<inertia> signs() const;

  device dev_;
  cudss::kind kind_;
  cudss::working how_;
  std::int64_t rows_;
  std::optional<cudss::factors<F>> factors_;  // nothing where there are no rows
  array<F> rhs_, solution_;
};

}  // namespace vouch
