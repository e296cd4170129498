// vouch/solve/precond/eigenvalue_bound.hpp -- how far the spectrum of D^-1 A reaches, D = diag(A); private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

constexpr std::int64_t lanczos_steps = 12;
/// Of hashed numbers, where the start comes from.
constexpr std::uint64_t lanczos_stream = 1;
constexpr double lanczos_safety = 1.1;
/// The relative size of what is left where the start's invariant subspace is full.
constexpr double lanczos_invariant = 1e-6;

/// 1.1 times the largest Ritz value of up to 12 Lanczos steps from a fixed start, but no more than the largest
/// row sum of |D^-1 A|.
///
/// Memory  A and inverse (n elements, 1/D) live on dev; plan is of A.
/// Result  The same bits on every run on one device, on the CPU for any number of threads.
/// Throws  value_error  an entry that is not finite; who begins the text
template <real T>
double largest_eigenvalue_bound(const char* who, const device& dev, csr_view<const T> A,
                                const spmv_plan<T>& plan, const T* inverse);

/// 1.1 times that Ritz value alone, of the symmetric n-by-n matrix by which multiply(x, y) multiplies: y := A x.
template <real T>
double largest_ritz_value(const device& dev, std::int64_t n,
                          const std::function<void(const array<T>&, array<T>&)>& multiply);

/// The largest eigenvalue of the symmetric tridiagonal matrix with this diagonal and these entries beside it,
/// rounded up by no more than 2^-58 of the matrix's row sums.
double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside);

/// The largest Ritz value of up to 12 steps with vectors of n elements that the caller keeps. u stands for v = u / |u|_D, so
/// that no sweep goes into normalising. Of Vectors: norm() gives |u|_D; product() makes w := A u and gives u^T w;
/// advance(keep, momentum, step) makes the next u, as three_terms says.
template <class Vectors>
double ritz_value_by_lanczos(Vectors& vectors, std::int64_t n) {
  std::vector<double> alpha, beta;
  double norm = vectors.norm(), before = 0;
  const std::int64_t steps = std::min(lanczos_steps, n);
  for (std::int64_t k = 0; k < steps && std::isfinite(norm); ++k) {
    alpha.push_back(vectors.product() / (norm * norm));
    vectors.advance(-alpha.back() / norm, k == 0 ? 0.0 : -norm / before, -1 / norm);
    before = norm;
    norm = vectors.norm();
    beta.push_back(norm);
    if (!(norm > lanczos_invariant * std::abs(alpha.front()))) break;
  }
  return largest_eigenvalue(alpha, beta);
}

}  // namespace vouch
