// The box behind the diagonals of a matrix.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>
#include <vouch/sparse/spmv_convert.hpp>

namespace vouch::multigrid {

std::vector<coupling> couplings_of(const box& grid, const std::vector<step>& steps) {
  std::vector<coupling> all;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const step& up = steps[k];
    const std::int64_t d = distance(grid, up);
    if (d == 0) continue;
    all.push_back({k, 0, d, up});
    all.push_back({k, -d, -d, {-up[0], -up[1], -up[2]}});
  }
  std::sort(all.begin(), all.end(),
            [](const coupling& a, const coupling& b) { return a.distance < b.distance; });
  return all;
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

constexpr std::size_t most_diagonals = 27;

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
  const std::vector<coupling> ways = couplings_of(S.grid, S.steps);
  const std::int64_t nx = S.grid.size[0];
  std::atomic<bool> fits = true;
  // Above the diagonal first, then what is below is compared.
  for (const bool above : {true, false}) {
    std::int64_t above_less_below = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros)) schedule(static) \
    reduction(+ : above_less_below)
    for (std::int64_t line = 0; line < S.grid.lines(); ++line) {
      bool good = fits.load(std::memory_order_relaxed);
      if (!good) continue;
      if (above)
        for (std::size_t k = 0; k < S.steps.size(); ++k) std::fill_n(S.of(k) + line * nx, nx, 0.0);
      std::array<bool, most_diagonals> in_box{};
      const line_place here = place_of_line(S.grid, line);
      for (std::size_t w = 0; w < ways.size(); ++w) in_box[w] = has_line(S.grid, here.beside(ways[w].to));
      for (std::int64_t x = 0, i = line * nx; x < nx; ++x, ++i) {
        std::size_t w = 0;
        for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
          const std::int64_t distance = A.col[k] - i;
          const double value = static_cast<double>(A.val[k]);
          if (distance == 0) {
            if (above) S.of(0)[i] = factor * value;
            continue;
          }
          while (ways[w].distance < distance) ++w;
          if (above && value != 0) {
            const std::int64_t to = x + ways[w].to[0];
            good = good && in_box[w] && to >= 0 && to < nx;
            above_less_below += distance > 0 ? 1 : -1;
          }
          if (above && distance > 0) S.of(ways[w].diagonal)[i] = factor * value;
          if (!above && distance < 0)
            good = good && S.of(ways[w].diagonal)[i + ways[w].shift] == factor * value;
        }
      }
      if (!good) fits.store(false, std::memory_order_relaxed);
    }
    if (above && above_less_below != 0) fits = false;
    if (!fits) return false;
  }
  return true;
}

}  // namespace

template <real T>
found_stencil find_stencil(const device& dev, csr_view<const T> A, const diagonal_range& range) {
  const std::vector<std::int64_t> distances = detail::occupied_diagonals(dev, A);
  const std::size_t count = distances.size();
  if (count > most_diagonals) return {{}, "its entries lie on more than 27 diagonals"};
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
