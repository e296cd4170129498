// vouch/price/finite_difference/weights.hpp -- the norm in which the operator of a grid is symmetric; private.
//
// With the squares of weights growing from node to node by upper_i / lower_{i+1}, D L D^-1 is symmetric, so
// that functions of L are as large in the norm |D x| as they are at the eigenvalues.
#pragma once
#include <cstddef>
#include <vector>

#include <vouch/price/finite_difference/steps.hpp>

namespace vouch {

struct fd_weights {
  std::vector<double> up, down;     // bounds of the weight of each inner node
  double lightest = 0, of_all = 0;  // at most the least weight; at least the norm of ones

  /// Else the weights differ by more than doubles hold, or there are none.
  bool exist() const { return !up.empty(); }
  /// At least the norm of the inner nodes' sizes >= 0; infinite where one is beyond 1e140 or NaN.
  double norm(const std::vector<double>& sizes) const;
};

/// Those of L, 1 at an inner node; bounds rounded outwards.
fd_weights make_weights(const fd_operator& L, std::size_t near);

}  // namespace vouch
