// vouch/dense/aligned_rows.hpp -- a square dense matrix on a GPU in the form that kernels stream, and passes
// over it; private to solvers.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/sparse/residual_row.hpp>

namespace vouch::detail {

/// By rows, each beginning on 16 bytes and filling them: padded rows and columns, of which those from n on are
/// the identity's.
template <class T>
struct aligned_rows {
  array<T> own{};  // empty where the matrix had the form already
  const T* data = nullptr;
  std::int64_t n = 0;
  std::int64_t padded = 0;
  std::int64_t ld = 0;
};

/// A itself where it has the form, else a copy.
///
/// Memory  A lives on dev. A copy takes padded^2 values.
/// Cost    A copy: A once, and its bytes written.
/// Throws  out_of_memory
template <real T>
aligned_rows<T> align_rows(const device& dev, const square_matrix<T>& A);

/// Room for residual_pass, to be used again and again.
struct pass_workspace {
  array<double> wide{};  // x and x_lo
  array<residual_norms> partial{};
};
template <class T>
pass_workspace make_workspace(const device& dev, const aligned_rows<T>& A) {
  return {array<double>(dev, 2 * A.padded), array<residual_norms>(dev, A.padded + 1)};
}

/// What one pass leaves of every row, on dev, n elements each.
template <class T>
struct row_results {
  T* r = nullptr;            // b - A (x + x_lo), rounded once
  double* others = nullptr;  // sum of |a_ij| beside the diagonal, to nearest
  double* bound = nullptr;   // >= |b - A x|_i, exactly; of no use with x_lo
};

/// One pass over A with the residual in twice the working precision; x_lo may be nullptr.
///
/// Memory  Everything lives on dev. r may be b.
/// Result  As residual() of dense/residual.hpp; for float sums are plain ones in double, of exact products.
///         The same bits on every run.
/// Cost    One read of A; waits for the GPU.
template <real T>
residual_norms residual_pass(const device& dev, const aligned_rows<T>& A, const T* b, const T* x, const T* x_lo,
                             const row_results<T>& results, pass_workspace& work);

/// sums[i] = the sum over j != i of |a_ij| v[j], or of |a_ji| where `across`; v may be nullptr for ones. To
/// nearest.
///
/// Memory  sums has n elements and lives on dev, v on the host.
template <real T>
void magnitude_sums(const device& dev, const aligned_rows<T>& A, const double* v, bool across, double* sums);

/// The diagonal, n elements on dev; all `padded` of them.
template <real T>
array<T> diagonal_of(const device& dev, const aligned_rows<T>& A);

}  // namespace vouch::detail
