#include <vouch/solve/precond/amg/stencil_slab.hpp>

#include <algorithm>

#include <vouch/core/memory.hpp>

namespace vouch::multigrid {
namespace {

std::int64_t farthest(const box& grid, std::span<const step> steps) {
  std::int64_t most = 0;
  for (const step& s : steps) most = std::max(most, distance(grid, s));
  return most;
}

// The rows whose entries above the diagonal the products of some rows read: theirs, and those of rows before them.
point_range rows_read(const unit_stencil& A, point_range rows) {
  return {std::max<std::int64_t>(0, rows.first - reach_of(A)), rows.end};
}

}  // namespace

step_slab::step_slab(const device& dev, const device& home, const step_values<float>& whole, point_range points)
    : steps_(whole.steps),
      first_(points.first),
      stride_(points.end - points.first),
      values_(dev, static_cast<std::int64_t>(steps_.size()) * stride_) {
  dev.synchronize();
  for (std::size_t k = 0; stride_ > 0 && k < steps_.size(); ++k)
    copy_bytes(values_.data() + static_cast<std::int64_t>(k) * stride_, dev, whole.of(k) + first_, home,
               static_cast<std::size_t>(stride_) * sizeof(float));
}

std::int64_t reach_of(const unit_stencil& A) { return farthest(A.upper().grid, A.upper().steps); }

stencil_slab::stencil_slab(const device& dev, const device& home, const unit_stencil& whole, point_range rows)
    : grid_(whole.upper().grid), rows_(rows), upper_(dev, home, whole.upper(), rows_read(whole, rows)) {}

void stencil_slab::combine(const device& dev, const combination& terms) const {
  combine_stencil_cuda(dev, {grid_, upper_.steps(), upper_.view()}, rows_, terms);
}

interpolation_slab::interpolation_slab(const device& dev, const device& home, const unit_interpolation& whole,
                                       const box& fine, const coarsening& by, point_range coarse,
                                       point_range fine_lines, point_range weighed)
    : fine_(fine),
      grid_(whole.weights().grid),
      by_(by),
      coarse_(coarse),
      lines_(fine_lines),
      weights_(dev, home, whole.weights(), weighed) {}

void interpolation_slab::restrict_to(const device& dev, const float* fine, float* coarse) const {
  restrict_cuda(dev, fine_, grid_, by_, table_of(weights_.steps(), weights_.view()), coarse_, fine, coarse);
}

void interpolation_slab::prolongate(const device& dev, const float* coarse, float a, const float* u,
                                    float* out) const {
  prolongate_cuda(dev, fine_, grid_, by_, table_of(weights_.steps(), weights_.view()), lines_, coarse, a, u,
                  out);
}

}  // namespace vouch::multigrid
