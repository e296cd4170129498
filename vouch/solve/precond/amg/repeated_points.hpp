// vouch/solve/precond/amg/repeated_points.hpp -- numbers of points that are the same but near the ends of lines, as constant
// coefficients make them: those of a small box stand for them; private.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>

namespace vouch::multigrid {

/// So many points at the beginning and at the end of each direction have numbers of their own; along the direction all
/// others have the same.
struct end_points {
  std::array<std::int64_t, 3> first{}, last{};
};

/// One at each end, where that is so of A.
std::optional<end_points> find_repetition(const device& dev, const stencil_matrix& A);

/// Of the interpolation from a matrix whose own points are these, and of the coarse matrix: what a coarse point couples
/// reaches 4 fine points away.
end_points coarse_end_points(const end_points& fine, const coarsening& by);

/// A small box with the parity of `fine`, whose coarse box has the end points and one in between; in a direction that has
/// no more points than that, all.
box box_of_ends(const box& fine, const end_points& coarse, const coarsening& by);

/// The point of a box of `from` points along a direction whose numbers the point x of `to` has.
VOUCH_HOST_DEVICE inline std::int64_t same_point(std::int64_t x, std::int64_t to, std::int64_t from,
                                                 std::int64_t first, std::int64_t last) {
  return x < first ? x : x >= to - last ? x + from - to : first;
}

/// Numbers for all points of a larger box, or a smaller one (in which none is in between).
step_values<double> repeat(const device& dev, const step_values<double>& from, const box& to,
                           const end_points& ends);

/// A's next level.
struct coarse_stencil {
  step_values<double> P;
  stencil_matrix A;
};
/// By interpolation() and galerkin(). ends: of A, and then of what is made; nothing where A does not repeat. Where few
/// points stand for all of A only theirs are computed, and the bits are the same.
coarse_stencil coarsen(const device& dev, const stencil_matrix& A, const coarsening& by,
                       std::optional<end_points>& ends);

// The CUDA sides.
bool repeats_cuda(const device& dev, const stencil_matrix& A, const end_points& ends);
void repeat_cuda(const device& dev, const step_values<double>& from, const end_points& ends,
                 step_values<double>& to);

}  // namespace vouch::multigrid
