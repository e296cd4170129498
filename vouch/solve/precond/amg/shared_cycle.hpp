// vouch/solve/precond/amg/shared_cycle.hpp -- what of a cycle on one GPU several GPUs need to share it; private.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/precond/amg/stencil_product.hpp>

namespace vouch::multigrid {

/// A level of a structured hierarchy.
struct shared_level {
  const unit_stencil* A;
  const unit_interpolation* way;  // to the next level; nullptr: there is none
  box grid;
  coarsening by;                     // towards the next level
  std::span<const double> smoother;  // coefficients by powers of A
  float *b, *x;                      // where visit_from() has them
};

/// M = factor S (V-cycle) S for a diagonal S.
template <real T>
class shared_cycle {
 public:
  virtual ~shared_cycle() = default;
  /// The finest first; none where the hierarchy is not structured.
  virtual std::vector<shared_level> shared_levels() const = 0;
  virtual const T* scale() const = 0;
  virtual T factor() const = 0;
  /// Enqueues a visit of this level and all below it: x for b.
  virtual void visit_from(const device& dev, std::size_t depth) const = 0;
};

}  // namespace vouch::multigrid
