// vouch/solve/distributed/row_vectors.hpp -- norms and products of vectors that stand on several ranks; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/distributed/block_sums.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>

namespace vouch::distributed {

/// Result  The same bits on every rank, for any number of ranks and threads.
class row_vectors final : public whole_vectors<double> {
 public:
  /// Memory  A outlives it.
  row_vectors(const device& cpu, const row_matrix& A);

  std::int64_t rows() const override { return A_.all_rows(); }
  double norm2(const double* v) const override;
  double dot(const double* v, const double* w) const override;
  double sum(const double* v) const override;
  double largest(double mine) const override { return sums_.largest(mine); }

  block_sums& sums() const { return sums_; }
  const device& cpu() const { return cpu_; }

 private:
  device cpu_;
  const row_matrix& A_;
  mutable block_sums sums_;
};

}  // namespace vouch::distributed
