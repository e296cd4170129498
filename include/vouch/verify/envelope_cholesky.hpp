// vouch/verify/envelope_cholesky.hpp -- the Cholesky factor of a sparse matrix within its envelope; a detail of public headers.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::detail {

/// Where the rows of a lower triangle are kept: row i from its first entry to its diagonal, one after another.
struct envelope {
  std::vector<std::int64_t> start;   // n + 1: row i is start[i] to start[i + 1] - 1
  std::vector<std::int64_t> first;   // the column of its first entry
  std::int64_t longest_product = 0;  // terms of the longest inner product of the factorisation

  explicit envelope(csr_view<const double> A);
  std::int64_t rows() const { return static_cast<std::int64_t>(first.size()); }
  std::int64_t entries() const { return start.back(); }
};

/// L with L L^T about A - shift I.
class envelope_cholesky {
 public:
  /// Factors; A is symmetric and lives on the CPU, shape is its envelope.
  ///
  /// Result  completed() is false where a pivot was not positive. Every entry is an inner product in some
  ///         order, one subtraction and one quotient or root, each rounded to nearest: what the a priori
  ///         bounds are for. Same bits on any processor.
  /// Cost    The sum of squared row lengths; one thread.
  /// Source  Jennings 1966; George, Liu, Computer Solution of Large Sparse Positive Definite Systems (1981),
  ///         ch. 4.
  envelope_cholesky(csr_view<const double> A, const envelope& shape, double shift);

  bool completed() const { return completed_; }
  /// x := (L L^T)^-1 x, about.
  void solve(std::vector<double>& x) const;

 private:
  const envelope* shape_;
  std::vector<double> values_;
  bool completed_ = true;
};

}  // namespace vouch::detail
