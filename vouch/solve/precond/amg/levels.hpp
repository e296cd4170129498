// vouch/solve/precond/amg/levels.hpp -- the levels of algebraic multigrid as the set-up leaves them; private.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/precond/amg/combination.hpp>
#include <vouch/solve/precond/amg/stencil_product.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch::multigrid {

/// Products with a matrix in single precision.
struct single_matrix {
  std::optional<spmv_plan<float>> plan;
  csr<float> kept;  // what the plan refers to
};

/// Matrices have a unit diagonal, vectors are scaled accordingly.
struct level {
  std::int64_t rows = 0, nonzeros = 0;
  csr<double> A;  // of the coarsest level alone, once all are made
  single_matrix by_A;
  single_matrix by_P, by_R;                   // from and to the next level, R = P^T where A is symmetric
  std::optional<unit_stencil> by_stencil;     // of a structured hierarchy, instead of by_A
  std::optional<unit_interpolation> between;  // instead of by_P and by_R
  box grid;                                   // its points
  coarsening by{1, 1, 1};                     // towards the next level
  array<std::int32_t> aggregate;              // of each node; -1: none
  std::int64_t aggregates = 0;
  std::int64_t unknowns = 1;  // of a node, rows side by side
  double filter = 0;          // as in amg_level
  double bound = 0;           // of the eigenvalues of A
  bool symmetric = true;
};

inline constexpr std::size_t most_levels = 20;
/// Up to here a level that does not coarsen is solved by a dense inverse.
inline constexpr std::int64_t most_rows_of_an_inverse = 600;

/// How levels are made.
struct setup_request {
  const amg_options& options;
  const std::vector<level>* pattern = nullptr;  // whose aggregates and filters are taken
  std::int64_t unknowns = 1;                    // of a node of the first level
  std::int64_t vectors = 1;                     // of the candidate
};

/// The levels for a matrix with a unit diagonal whose near-nullspace is spanned by the vectors of candidate, which has
/// their elements of a row side by side.
///
/// Throws  value_error  a coarse matrix that is not positive
std::vector<level> make_levels(const device& dev, csr<double> A, array<double> candidate,
                               const setup_request& request);
std::vector<level> make_levels_cuda(const device& dev, csr<double> A, array<double> candidate,
                                    const setup_request& request);

/// The unknowns of a node that the pattern shows (near_nullspace.hpp).
template <real T>
std::int64_t unknowns_of_a_node_cuda(const device& dev, csr_view<const T> A);

/// Entry k, in row i, of S A S, S = diag(scale); 1 on the diagonal.
template <real T>
VOUCH_HOST_DEVICE inline double unit_diagonal_entry(csr_view<const T> A, const T* scale, std::int64_t i,
                                                    std::int64_t k) {
  if (A.col[k] == i) return 1;
  const double both = static_cast<double>(scale[i]) * static_cast<double>(scale[A.col[k]]);  // symmetric
  return both * static_cast<double>(A.val[k]);
}
/// All of them.
template <real T>
void scale_to_unit_diagonal_cuda(const device& dev, csr_view<const T> A, const T* scale, double* out);

/// The element of the candidate S^-1 1, limited so that it can be squared, for a scale that it then multiplies by a
/// power of two.
template <real T>
VOUCH_HOST_DEVICE inline double candidate_and_scale(T power, T& scale) {
  constexpr double most = 1e15;
  scale *= power;
  const double element = 1 / static_cast<double>(scale);
  return element < most ? element : most;
}
template <real T>
void finish_scale_cuda(const device& dev, std::int64_t n, T power, T* scale, double* candidate);

/// out[i] := scale[0] / scale[i], the vector S^-1 1 but for a factor.
template <real T>
void scaled_constant_cuda(const device& dev, std::int64_t n, const T* scale, float* out);

/// For the matrix W of a plan.
void combine_cuda(const device& dev, const spmv_plan<float>& W, const combination& terms);
/// out[i] := factor * (scale[i] * in[i])
template <class From, class To, real T>
void scale_into_cuda(const device& dev, std::int64_t n, T factor, const T* scale, const From* in, To* out);
/// out := W in, W n-by-n by rows.
void multiply_dense_cuda(const device& dev, std::int64_t n, const double* W, const float* in, float* out);

}  // namespace vouch::multigrid
