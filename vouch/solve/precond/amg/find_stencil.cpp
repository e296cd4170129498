// The box behind the diagonals of a matrix.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/solve/precond/amg/stencil_entries.hpp>
#include <vouch/sparse/spmv_convert.hpp>

namespace vouch::multigrid {

template <class T>
void clear_margins(const device& dev, step_values<T>& values) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return clear_margins_cuda(dev, values);
  for (std::size_t k = 0; k < values.steps.size(); ++k) {
    std::fill_n(values.of(k) - values.margin, values.margin, T{});
    std::fill_n(values.of(k) + values.grid.points(), values.margin, T{});
  }
}

template void clear_margins(const device&, step_values<float>&);
template void clear_margins(const device&, step_values<double>&);

coupling_list couplings_of(const box& grid, const std::vector<step>& steps) {
  coupling_list ways;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const step& up = steps[k];
    const std::int64_t d = distance(grid, up);
    if (d == 0) continue;
    ways.all[ways.count++] = {k, 0, d, up};
    ways.all[ways.count++] = {k, -d, -d, {-up[0], -up[1], -up[2]}};
  }
  std::sort(ways.all.data(), ways.all.data() + ways.count,
            [](const coupling& a, const coupling& b) { return a.distance < b.distance; });
  return ways;
}

std::int64_t entries_of(const box& grid, const std::vector<step>& steps) {
  std::int64_t all = 0;
  for (const step& s : steps) {
    std::int64_t length = 1;
    for (std::size_t a = 0; a < 3; ++a) length *= grid.size[a] - std::abs(s[a]);
    all += distance(grid, s) == 0 ? length : 2 * length;
  }
  return all;
}

namespace {

// The steps of a box that have these distances, 0 first and then ascending; nothing where one has no step.
std::vector<step> steps_of(const box& grid, const std::vector<std::int64_t>& distances) {
  std::vector<step> steps;
  for (const std::int64_t wanted : distances) {
    const std::size_t before = steps.size();
    for (int z = 0; z <= (grid.size[2] > 1 ? 1 : 0); ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
          if (distance(grid, {x, y, z}) == wanted) steps.push_back({x, y, z});
    if (steps.size() != before + 1) return {};
  }
  return steps;
}

// Boxes on which all distances, ascending from 0, are steps to neighbours: in the plane, then in space.
std::vector<box> boxes_of(std::int64_t rows, const std::vector<std::int64_t>& distances) {
  constexpr std::int64_t least = 3;  // of fewer points two steps have one distance
  std::vector<box> all;
  const auto consider = [&](const box& b) {
    if (std::find(all.begin(), all.end(), b) == all.end() && !steps_of(b, distances).empty()) all.push_back(b);
  };
  if (distances.size() < 3) return all;
  for (const std::int64_t nx : {distances[2], distances[2] + 1}) {
    if (nx < least || rows % nx != 0) continue;
    consider({{nx, rows / nx, 1}});
    const auto beyond =
        std::find_if(distances.begin(), distances.end(), [=](std::int64_t d) { return d > nx + 1; });
    if (beyond == distances.end()) continue;
    for (const std::int64_t back : {std::int64_t{0}, std::int64_t{1}, nx - 1, nx, nx + 1}) {
      const std::int64_t plane = *beyond + back;
      if (plane % nx == 0 && plane / nx >= least && rows % plane == 0)
        consider({{nx, plane / nx, rows / plane}});
    }
  }
  return all;
}

// Entries by diagonals; false where one other than zero leaves the box or has no mirror image.
template <real T>
bool fill(const device& dev, csr_view<const T> A, double factor, stencil_matrix& S) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return fill_stencil_cuda(dev, A, factor, S);
  const stencil_filling<T> filling{A, factor, couplings_of(S.grid, S.steps), S.view()};
  const std::int64_t nx = S.grid.size[0];
  std::atomic<bool> fits = true;
  std::int64_t above_less_below = 0;
  // Above the diagonal first, then what is below is compared.
  for (const bool above : {true, false}) {
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static) \
    reduction(+ : above_less_below)
    for (std::int64_t line = 0; line < S.grid.lines(); ++line) {
      bool good = fits.load(std::memory_order_relaxed);
      if (!good) continue;
      const std::int64_t first = line * nx;
      if (above) {
        for (std::size_t k = 0; k < S.steps.size(); ++k) std::fill_n(S.of(k) + first, nx, 0.0);
        const line_place here = place_of_line(S.grid, line);
        std::array<bool, most_steps> has{};
        for (std::size_t w = 0; w < filling.ways.count; ++w)
          has[w] = has_line(S.grid, here.beside(filling.ways[w].to));
        for (std::int64_t x = 0; x < nx; ++x) {
          const auto in_box = [&](std::size_t w) {
            const std::int64_t to = x + filling.ways[w].to[0];
            return has[w] && to >= 0 && to < nx;
          };
          good = filling.put_upper(first + x, filling.row(first + x), in_box, above_less_below) && good;
        }
      } else {
        for (std::int64_t x = 0; x < nx; ++x)
          good = good && filling.mirrors_upper(first + x, filling.row(first + x));
      }
      if (!good) fits.store(false, std::memory_order_relaxed);
    }
    if (above_less_below != 0) fits = false;
    if (!fits) return false;
  }
  return true;
}

}  // namespace

template <real T>
found_stencil find_stencil(const device& dev, csr_view<const T> A, const diagonal_range& range) {
  const std::vector<std::int64_t> distances = detail::occupied_diagonals(dev, A);
  const std::size_t count = distances.size();
  if (count > most_steps) return {{}, "its entries lie on more than 27 diagonals"};
  for (std::size_t k = 0; k < count; ++k)
    if (distances[k] != -distances[count - 1 - k]) return {{}, "its pattern is not symmetric"};
  const std::vector<std::int64_t> upper(distances.begin() + static_cast<std::ptrdiff_t>(count / 2),
                                        distances.end());
  if (count < 5 || upper[0] != 0 || upper[1] != 1)
    return {{}, "its diagonals are not those of neighbours on a grid of two or three directions"};
  constexpr double most_contrast = 1e100;
  if (!(range.largest <= most_contrast * range.least))
    return {{}, "the contrast of its diagonal is beyond 1e100"};
  const double factor = std::ldexp(1.0, -std::ilogb(range.largest));
  std::string why = "no box of points has its diagonals";
  for (const box& grid : boxes_of(A.rows, upper)) {
    stencil_matrix S(dev, grid, steps_of(grid, upper));
    if (fill(dev, A, factor, S)) return {std::move(S), ""};
    why = "on the box that its diagonals tell entries join the ends of lines, or it is not symmetric";
  }
  return {{}, why};
}

template found_stencil find_stencil(const device&, csr_view<const float>, const diagonal_range&);
template found_stencil find_stencil(const device&, csr_view<const double>, const diagonal_range&);

}  // namespace vouch::multigrid
