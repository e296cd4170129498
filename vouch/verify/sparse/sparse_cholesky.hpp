// vouch/verify/sparse/sparse_cholesky.hpp -- the Cholesky factor of a sparse matrix by dense fronts; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {
namespace detail {

/// An order of minimum degrees, or by nested dissection where there is METIS and that takes fewer operations;
/// columns of L that depend on one another follow one another.
///
/// Shapes  A is symmetric and lives on the CPU.
/// Result  A permutation, a function of the pattern and of whether there is METIS.
array<std::int32_t> cholesky_order(const device& dev, csr_view<const double> A);

/// Where the entries of L are: columns next to one another that have the same rows make a front.
struct cholesky_structure {
  std::vector<std::int32_t> first;        // fronts + 1: front f has the columns first[f] to first[f + 1] - 1
  std::vector<std::int64_t> row_start;    // fronts + 1
  std::vector<std::int32_t> row;          // of each front, ascending, those of its columns first
  std::vector<std::int64_t> value_start;  // fronts + 1: the front's columns, each with all rows
  std::vector<std::int32_t> children;     // of each front: how many hand their update to it
  std::vector<std::int64_t> terms;        // of each row of L: its entries left of the diagonal

  /// A is symmetric, in the order of cholesky_order(), and lives on the CPU.
  ///
  /// Result  Without terms, and with no more fronts, once there are more than most_entries.
  explicit cholesky_structure(csr_view<const double> A, std::int64_t most_entries);

  std::int64_t fronts() const { return static_cast<std::int64_t>(children.size()); }
  std::int64_t entries() const { return value_start.back(); }

 private:
  void count_terms(std::int64_t rows);
};

/// L with L L^T about A - shift I.
class sparse_cholesky {
 public:
  /// Factors; A is what the structure was made of.
  ///
  /// Memory  The entries of the structure, and the updates that wait for their front, about as much again.
  /// Result  completed() is false where a pivot was not positive. Every entry is an entry of A less products of
  ///         entries of L, summed in some order, then a quotient or root, each rounded to nearest: what the a
  ///         priori bounds are for. A product is of entries of the structure, or 0. Same bits on any processor.
  /// Cost    The sum of the squared column lengths; one thread.
  /// Source  Duff, Reid, ACM Trans. Math. Softw. 9 (1983); Liu, SIAM Review 34 (1992).
  sparse_cholesky(csr_view<const double> A, const cholesky_structure& structure, double shift);

  bool completed() const { return completed_; }
  /// x := (L L^T)^-1 x, about.
  void solve(std::vector<double>& x) const;

 private:
  const cholesky_structure* structure_;
  std::vector<double> values_;
  bool completed_ = true;
};

}  // namespace detail
}  // namespace vouch
