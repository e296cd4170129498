// vouch/solve/precond/triangular_pair.hpp -- z := (L D L^T)^-1 r by two sweeps over level sets; private.
#pragma once
#include <memory>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/solve/operator.hpp>
#include <vouch/solve/precond/factor.hpp>

namespace vouch {

/// A factor, the order of its rows, and which of them can be solved side by side.
struct factored_matrix {
  elimination order;
  level_sets levels;  // of factor.lower
  unit_factor factor;
};

/// How the factor's rows stand: "19 colours", "35 levels", or "" for the matrix's own order on the CPU.
std::string describe_order(const factored_matrix& F, bool on_gpu);

/// The preconditioner of that factor, which calls itself `name`, on dev.
///
/// Result  Symmetric positive definite whatever the factor's values are, as long as its pivots are positive.
///         A row is summed in an order that depends on the factor and the kind of device alone: the same bits
///         on every run; on the CPU for any number of threads.
/// Throws  value_error  a pivot or an entry that overflows T
template <real T>
std::unique_ptr<preconditioner<T>> make_triangular_pair(const device& dev, const factored_matrix& F,
                                                        std::string name);

// The same for values that are known to fit in T.
template <real T>
std::unique_ptr<preconditioner<T>> triangular_pair_cpu(const device& dev, const factored_matrix& F,
                                                       std::string name);
template <real T>
std::unique_ptr<preconditioner<T>> triangular_pair_cuda(const device& dev, const factored_matrix& F,
                                                        std::string name);

/// 1/d of every pivot.
template <real T>
std::vector<T> inverted(const std::vector<double>& pivots);

}  // namespace vouch
