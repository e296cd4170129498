// vouch/solve/precond/amg/stencil_product.hpp -- products with stencils and their interpolation in single precision,
// each with what a cycle adds to it; private.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg/combination.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>

namespace vouch::multigrid {

/// Weights by step (place_in_table()); those that there are not are not read.
using weight_table = std::array<const float*, most_steps>;

/// D^-1/2 A D^-1/2 for D = diag(A), whose unit diagonal is not stored.
class unit_stencil {
 public:
  unit_stencil(const device& dev, const stencil_matrix& A);
  std::int64_t rows() const { return upper_.grid.points(); }
  const step_values<float>& upper() const { return upper_; }
  /// That a product cannot do without: the matrix, a vector read and one written.
  std::int64_t bytes() const;
  /// As largest_ritz_value() of eigenvalue_bound.hpp.
  double largest_ritz_value(const device& dev) const;
  /// terms.out := a u + (b v + c A w); w and out do not overlap.
  void combine(const device& dev, const combination& terms) const;
  /// One and then the other, the bits of combine(), in half the traffic on a CPU: other.w is one.out, and other.out may be
  /// one.w.
  void combine_both(const device& dev, const combination& one, const combination& other) const;

 private:
  void combine_range(const combination& terms, std::int64_t begin, std::int64_t end) const;

  step_values<float> upper_;
  coupling_list ways_;
};

/// The interpolation between two such matrices: D_fine^1/2 P D_coarse^-1/2.
class unit_interpolation {
 public:
  unit_interpolation(const device& dev, const step_values<double>& P, const coarsening& by,
                     const stencil_matrix& fine, const stencil_matrix& coarse);
  std::int64_t bytes() const;
  /// By coarse points; their steps lead to fine ones.
  const step_values<float>& weights() const { return weights_; }
  /// coarse := P^T fine
  void restrict_to(const device& dev, const float* fine, float* coarse) const;
  /// out := a u + P coarse; u may be out.
  void prolongate(const device& dev, const float* coarse, float a, const float* u, float* out) const;

 private:
  box fine_;
  coarsening by_;
  step_values<float> weights_;
  weight_table table_;
};

/// Points, or lines of them, by their numbers: from first to before end.
struct point_range {
  std::int64_t first = 0;
  std::int64_t end = 0;
};
/// The entries above the diagonal as kernels see them; the values may be those of some rows.
struct upper_steps {
  box grid;
  std::span<const step> steps;
  step_view<const float> values;
};
inline upper_steps steps_of(const step_values<float>& upper) { return {upper.grid, upper.steps, upper.view()}; }
/// The weights of some steps, for kernels.
weight_table table_of(std::span<const step> steps, const step_view<const float>& weights);

// The CUDA sides. The entries of a unit_stencil, and some rows of its product with couplings by ascending distance:
void scale_stencil_cuda(const device& dev, const stencil_matrix& A, step_values<float>& upper);
void combine_stencil_cuda(const device& dev, const upper_steps& upper, point_range rows,
                          const combination& terms);
double largest_ritz_value_cuda(const device& dev, const step_values<float>& upper);
// Likewise of a unit_interpolation, for some coarse points or fine lines:
void scale_interpolation_cuda(const device& dev, const step_values<double>& P, const coarsening& by,
                              const stencil_matrix& fine, const stencil_matrix& coarse,
                              step_values<float>& weights);
void restrict_cuda(const device& dev, const box& fine, const box& coarse, const coarsening& by,
                   const weight_table& weights, point_range points, const float* from, float* to);
void prolongate_cuda(const device& dev, const box& fine, const box& coarse, const coarsening& by,
                     const weight_table& weights, point_range lines, const float* from, float a, const float* u,
                     float* out);

}  // namespace vouch::multigrid
