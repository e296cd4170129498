// vouch/verify/full_rank.hpp -- error bounds for least squares and for shortest solutions, by a proof of full rank.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/fingerprint.hpp>
#include <vouch/verify/interval_data.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace VOUCH_PUBLIC vouch {

/// The proof that a matrix has full rank: with B = A, or A^T where A has more columns than rows, that the augmented
/// matrix [I, B; B^T, 0] is nonsingular. Made once for a matrix, used for any number of right-hand sides.
class full_rank {
 public:
  /// Tries in turn: the normal equations, an enclosure of B^T B with columns scaled, by Cholesky's method; the columns
  /// of a sparse inverse of the augmented matrix, where its factors are not too large; a dense inverse of that, where
  /// there is memory for it.
  ///
  /// Shapes  A is m-by-n.
  /// Memory  A lives on cpu, a CPU; a copy as augmented matrix stays, and what the proof keeps.
  /// Result  nullptr and a reason where nothing was proved: A has not full rank or, columns of B scaled, a condition
  ///         number from some 10^7 (normal equations), 10^11 (sparse inverse) or 10^13 (dense, up to some 2,000 rows
  ///         and columns together) on.
  /// Throws  value_error  cpu is a GPU, A is no matrix in CSR; a radius that is negative or not finite
  static std::unique_ptr<full_rank> prove(const device& cpu, csr_view<const double> A,
                                          const uncertainty& within, std::string& reason);

  /// As reported: "normal equations, cholesky".
  std::string method() const { return proof_->method(); }

 private:
  friend error_bound bound_error(const device& cpu, csr_view<const double> A, full_rank& proof,
                                 view<const double> b, view<double> x, const bound_options& options,
                                 const data_radii* radii);
  full_rank() = default;

  matrix_fingerprint matrix_;
  csr<double> augmented_;
  std::unique_ptr<certificate> proof_;
};

/// Bounds the error of x as the solution of least ||b - A x||_2 or, where A has more columns than rows, as the shortest
/// solution of A x = b; and improves x where the bound is wider than asked.
///
/// Shapes  A is m-by-n, b has m elements, x has n; the radii, where there are any, m-by-n and m.
/// Memory  Everything lives on cpu, vectors are contiguous; x is changed by refinement only. Some 12 (m + n) doubles
///         besides.
/// Result  As for square systems (error_bound.hpp, interval_data.hpp), of x alone: the residual, or the multipliers of
///         the shortest solution, are found and bounded besides.
/// Throws  shape_error  lengths that do not fit
///         value_error  the proof is for another matrix or a smaller radius; radii that are negative or not finite
error_bound bound_error(const device& cpu, csr_view<const double> A, full_rank& proof, view<const double> b,
                        view<double> x, const bound_options& options = {}, const data_radii* radii = nullptr);

}  // namespace vouch
