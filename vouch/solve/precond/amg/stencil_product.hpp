// vouch/solve/precond/amg/stencil_product.hpp -- products with stencils and their interpolation in single precision,
// each with what a cycle adds to it; on the CPU; private.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg/combination.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>

namespace vouch::multigrid {

/// D^-1/2 A D^-1/2 for D = diag(A), whose unit diagonal is not stored.
class unit_stencil {
 public:
  unit_stencil(const device& dev, const stencil_matrix& A);
  std::int64_t rows() const { return upper_.grid.points(); }
  /// That a product cannot do without: the matrix, a vector read and one written.
  std::int64_t bytes() const;
  /// terms.out := a u + (b v + c A w); w and out do not overlap.
  void combine(const device& dev, const combination& terms) const;

 private:
  step_values<float> upper_;
  std::vector<coupling> ways_;
};

/// The interpolation between two such matrices: D_fine^1/2 P D_coarse^-1/2.
class unit_interpolation {
 public:
  unit_interpolation(const device& dev, const step_values<double>& P, const coarsening& by,
                     const stencil_matrix& fine, const stencil_matrix& coarse);
  std::int64_t bytes() const;
  /// coarse := P^T fine
  void restrict_to(const device& dev, const float* fine, float* coarse) const;
  /// out := a u + P coarse; u may be out.
  void prolongate(const device& dev, const float* coarse, float a, const float* u, float* out) const;

 private:
  box fine_;
  coarsening by_;
  step_values<float> weights_;
  std::array<const float*, 27> table_{};  // weights by step; those that there are not are not read
};

}  // namespace vouch::multigrid
