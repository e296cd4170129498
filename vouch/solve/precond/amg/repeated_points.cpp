#include <vouch/solve/precond/amg/repeated_points.hpp>

#include <algorithm>
#include <atomic>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>

namespace vouch::multigrid {
namespace {

// body(k, line, the place of the line that stands for it) for every step and line of `to`.
template <class Body>
void for_each_line(const device& dev, const box& to, const box& from, const end_points& ends, std::size_t steps,
                   const Body& body) {
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, to.points())) schedule(static)
  for (std::int64_t line = 0; line < to.lines(); ++line) {
    const line_place here = place_of_line(to, line);
    const line_place there{same_point(here.y, to.size[1], from.size[1], ends.first[1], ends.last[1]),
                           same_point(here.z, to.size[2], from.size[2], ends.first[2], ends.last[2])};
    for (std::size_t k = 0; k < steps; ++k) body(k, line, there);
  }
}

}  // namespace

std::optional<end_points> find_repetition(const device& dev, const stencil_matrix& A) {
  end_points ends;
  for (std::size_t a = 0; a < 3; ++a) {
    const bool is_long = A.grid.size[a] > 2;
    ends.first[a] = is_long ? 1 : A.grid.size[a];
    ends.last[a] = is_long ? 1 : 0;
  }
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return repeats_cuda(dev, A, ends) ? std::optional(ends) : std::nullopt;
  std::atomic<bool> repeats = true;
  const std::int64_t nx = A.grid.size[0];
  for_each_line(dev, A.grid, A.grid, ends, A.steps.size(),
                [&](std::size_t k, std::int64_t line, const line_place& there) {
                  if (!repeats.load(std::memory_order_relaxed)) return;
                  const double *const row = A.of(k) + line * nx, *const same =
                                                                     A.of(k) + first_of(A.grid, there);
                  for (std::int64_t x = 0; x < nx; ++x)
                    if (!(row[x] == same[same_point(x, nx, nx, ends.first[0], ends.last[0])])) repeats = false;
                });
  return repeats ? std::optional(ends) : std::nullopt;
}

end_points coarse_end_points(const end_points& fine, const coarsening& by) {
  constexpr std::int64_t reach = 4;
  end_points coarse;
  for (std::size_t a = 0; a < 3; ++a) {
    coarse.first[a] = ceil_div<std::int64_t>(fine.first[a] + reach, by[a]);
    coarse.last[a] = ceil_div<std::int64_t>(fine.last[a] + reach, by[a]);
  }
  return coarse;
}

box box_of_ends(const box& fine, const end_points& coarse, const coarsening& by) {
  box small;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t n = fine.size[a], least = by[a] * (coarse.first[a] + coarse.last[a] + 1);
    small.size[a] = std::min(n, least + (n - least) % 2);
  }
  return small;
}

step_values<double> repeat(const device& dev, const step_values<double>& from, const box& to,
                           const end_points& ends) {
  step_values<double> all(dev, to, from.steps);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      repeat_cuda(dev, from, ends, all);
      return all;
    }
  const std::int64_t nx = to.size[0], n = from.grid.size[0];
  for_each_line(dev, to, from.grid, ends, from.steps.size(),
                [&](std::size_t k, std::int64_t line, const line_place& there) {
                  const double* const same = from.of(k) + first_of(from.grid, there);
                  double* const row = all.of(k) + line * nx;
                  for (std::int64_t x = 0; x < nx; ++x)
                    row[x] = same[same_point(x, nx, n, ends.first[0], ends.last[0])];
                });
  return all;
}

coarse_stencil coarsen(const device& dev, const stencil_matrix& A, const coarsening& by,
                       std::optional<end_points>& ends) {
  constexpr std::int64_t worth_it = 4;
  const end_points fine = ends.value_or(end_points{});
  if (ends) ends = coarse_end_points(fine, by);
  const box small = ends ? box_of_ends(A.grid, *ends, by) : A.grid;
  const cancellation_probe stop;
  const auto multiply = [&](const stencil_matrix& of) {
    coarse_stencil made;
    made.P = interpolation(dev, of, by);
    stop.check();
    made.A = galerkin(dev, of, made.P, by);
    stop.check();
    return made;
  };
  if (A.grid.points() < worth_it * small.points()) return multiply(A);
  end_points cut = fine;
  for (std::size_t a = 0; a < 3; ++a) cut.first[a] = small.size[a] - cut.last[a];
  const coarse_stencil some = multiply(repeat(dev, A, small, cut));
  const box coarse = coarse_box(A.grid, by);
  return {repeat(dev, some.P, coarse, *ends), repeat(dev, some.A, coarse, *ends)};
}

}  // namespace vouch::multigrid
