// vouch/solve/precond/triangular_pair.hpp -- preconditioners L D U: their values and their application; private.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/precond/elimination.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// A itself where it lives on the CPU, else a copy of it.
template <real T>
class host_matrix {
 public:
  host_matrix(const device& dev, csr_view<const T> A) : view_(A), cpu_(dev.is_cuda() ? device::cpu() : dev) {
    if (!dev.is_cuda()) return;
    copy_ = csr<T>{A.rows, A.cols, array<std::int64_t>(cpu_, A.rows + 1), array<std::int32_t>(cpu_, A.nonzeros),
                   array<T>(cpu_, A.nonzeros)};
    fetch(copy_->row_ptr, A.row_ptr, dev);
    fetch(copy_->col, A.col, dev);
    fetch(copy_->val, A.val, dev);
    view_ = copy_->all();
  }
  csr_view<const T> all() const { return view_; }
  /// The CPU that set-up work runs on.
  const device& cpu() const { return cpu_; }

 private:
  template <class Element>
  void fetch(array<Element>& to, const Element* from, const device& dev) const {
    copy_bytes(to.data(), cpu_, from, dev, static_cast<std::size_t>(to.size()) * sizeof(Element));
  }

  csr_view<const T> view_;
  device cpu_;
  std::optional<csr<T>> copy_;
};

/// M^-1 = L D U with unit triangles: lower and upper hold L and U without their diagonals, pivots D.
template <class S>
struct factor_of {
  rows_of<S> lower;
  std::vector<S> pivots;
  rows_of<S> upper;
};
using unit_factor = factor_of<double>;

/// An incomplete factor and the shift it took.
struct shifted_factor {
  unit_factor factor;
  double shift = 0;
};

/// Incomplete Cholesky, U = L^T, on the pattern of A: with S = diag(A)^-1/2 the factor of S^-1 (S A S + shift I) S^-1.
/// Where a pivot of the scaled matrix falls to 1e-4 or below the shift is doubled, from 1e-3 at least, and all
/// begins again.
///
/// Result  The same bits for any number of threads.
/// Throws  value_error  no shift up to 2^40 helps
/// Source  Meijerink, van der Vorst, Math. Comp. 31 (1977); Manteuffel, Math. Comp. 34 (1980).
shifted_factor incomplete_cholesky(lower_part A, const level_sets& levels, double shift, int threads);

/// Symmetric successive over-relaxation as a factor: L = I + omega L_A D_A^-1 = U^T, D = D_A / (omega (2 - omega)).
/// Source  Axelsson, BIT 12 (1972).
unit_factor symmetric_sor(lower_part A, double omega);

/// A factor, the order of its rows, and which of them can be solved side by side.
struct factored_matrix {
  elimination order;
  std::vector<std::int32_t>
      sources{};      // row k is row sources[k] of the matrix; empty: they stand in the order too
  level_sets levels;  // of both triangles
  unit_factor factor;

  std::int64_t rows() const { return factor.lower.rows(); }
  /// Of one triangle, on average.
  std::int64_t triangle_entries() const { return (factor.lower.nonzeros() + factor.upper.nonzeros()) / 2; }
};

/// How the factor's rows stand: "19 colours", "35 levels", or "" for the matrix's own order on the CPU.
std::string describe_order(const factored_matrix& F, bool on_gpu);

/// The preconditioner of that factor, which calls itself `name`, on dev.
///
/// Result  Symmetric positive definite whatever the factor's values are, as long as its pivots are positive, U is L^T and
///         there are no other sources. A row is summed in an order that depends on the factor and the kind of device alone: the same bits
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
