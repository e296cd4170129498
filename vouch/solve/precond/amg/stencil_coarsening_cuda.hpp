// vouch/solve/precond/amg/stencil_coarsening_cuda.hpp -- the CUDA sides of stencil_coarsening.cpp; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg/stencil_rows.hpp>

namespace vouch::multigrid {

coupling_facts examine_cuda(const device& dev, const stencil_matrix& A, const coupling_list& ways,
                            double units);
void interpolate_cuda(const device& dev, const stencil_matrix& A, const interpolation_plan& plan,
                      const coarsening& by, step_values<double>& P);
void galerkin_cuda(const device& dev, const stencil_matrix& A, const step_values<double>& P,
                   const galerkin_plan& plan, const coarsening& by, stencil_matrix& C);
bool is_positive_cuda(const device& dev, const stencil_matrix& coarse, const stencil_matrix& fine,
                      const coarsening& by);

}  // namespace vouch::multigrid
