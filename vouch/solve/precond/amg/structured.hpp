// vouch/solve/precond/amg/structured.hpp -- the levels of multigrid on a grid; private.
#pragma once
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/precond/amg/levels.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>

namespace vouch::multigrid {

struct structured_levels {
  std::vector<level> levels;
  bool row_sums_zero = false;  // of the matrix given: constants are its null space
  std::string why;             // there are none
};

/// The levels for this matrix, which has so many entries; pattern: whose directions of coarsening are taken, or nullptr.
structured_levels make_structured_levels(const device& dev, stencil_matrix A, std::int64_t nonzeros,
                                         const amg_options& options, const std::vector<level>* pattern);

}  // namespace vouch::multigrid
