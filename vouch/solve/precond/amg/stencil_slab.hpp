// vouch/solve/precond/amg/stencil_slab.hpp -- some points of a stencil and of its interpolation on one of several GPUs;
// private, for CUDA builds. Vectors are given such that the number of a point in the whole box is its index.
#pragma once
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg/stencil_product.hpp>

namespace vouch::multigrid {

/// The numbers of some points by steps, at their indices in the whole.
class step_slab {
 public:
  /// A copy of those on home, complete on return.
  step_slab(const device& dev, const device& home, const step_values<float>& whole, point_range points);
  step_view<const float> view() const { return {values_.data() - first_, stride_}; }
  const std::vector<step>& steps() const { return steps_; }

 private:
  std::vector<step> steps_;
  std::int64_t first_, stride_;
  array<float> values_;
};

/// How far from a row the farthest is that its product reads.
std::int64_t reach_of(const unit_stencil& A);

/// Some rows of a unit_stencil.
class stencil_slab {
 public:
  stencil_slab(const device& dev, const device& home, const unit_stencil& whole, point_range rows);
  /// As of the whole, for these rows.
  void combine(const device& dev, const combination& terms) const;

 private:
  box grid_;
  point_range rows_;
  step_slab upper_;
};

/// A unit_interpolation from some coarse points to some fine lines and back.
class interpolation_slab {
 public:
  /// weighed: the coarse points that the lines are interpolated from, and `coarse`.
  interpolation_slab(const device& dev, const device& home, const unit_interpolation& whole, const box& fine,
                     const coarsening& by, point_range coarse, point_range fine_lines, point_range weighed);
  /// As of the whole, for the coarse points and for the lines.
  void restrict_to(const device& dev, const float* fine, float* coarse) const;
  void prolongate(const device& dev, const float* coarse, float a, const float* u, float* out) const;

 private:
  box fine_, grid_;
  coarsening by_;
  point_range coarse_, lines_;
  step_slab weights_;
};

}  // namespace vouch::multigrid
