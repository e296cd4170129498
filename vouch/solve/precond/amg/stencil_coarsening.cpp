// Coarse stencils. All loops run along lines of points, a vector of them at a time; what lies beyond an end of a line
// meets a weight of zero, or is put to zero at last.
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/precond/amg/stencil_rows.hpp>

namespace vouch::multigrid {
namespace {

using doubles = lanes<double>;
constexpr std::int64_t width = simd<double>::width;
using present = std::array<bool, most_steps>;

// The lines beside this one that there are.
present lines_beside(const box& grid, const line_place& here, const coupling_list& ways) {
  present there{};
  for (std::size_t w = 0; w < ways.count; ++w) there[w] = has_line(grid, here.beside(ways[w].to));
  return there;
}

VOUCH_SIMD_INLINE void store_first(double* to, const doubles& v, std::int64_t count) {
  if (count >= width)
    store<double>(to, v);
  else
    std::memcpy(to, &v, static_cast<std::size_t>(count) * sizeof(double));
}

VOUCH_SIMD_CLONES void examine_line(const coupling_list& ways, const step_view<const double>& A,
                                    std::int64_t first, std::int64_t nx, const present& there, double units,
                                    coupling_facts& facts) {
  for (std::int64_t x = 0; x < nx; x += width) {
    coupling_sums<doubles> sums;
    sums.add(
        ways, A, first + x, [&](std::size_t w) __attribute__((always_inline)) { return there[w]; });
    for (std::int64_t l = 0; l < std::min(width, nx - x); ++l)
      facts.add(units, A.of(0)[first + x + l], sums.sizes[l], sums.all[l],
                {sums.along[0][l], sums.along[1][l], sums.along[2][l]});
  }
}

// Weights of step k for n coarse points from number `at` on.
template <int stride>
VOUCH_SIMD_INLINE void weigh(const interpolation_plan& plan, std::size_t k, const step_view<const double>& A,
                             std::int64_t from, const present& there, const step_view<double>& P,
                             std::int64_t at, std::int64_t n) {
  for (std::int64_t x = 0; x < n; x += width) {
    doubles weight;
    plan.weights<stride>(
        weight, k, A, from + stride * x, [&](std::size_t w) __attribute__((always_inline)) { return there[w]; },
        P, at + x);
    store_first(P.of(k) + at + x, weight, n - x);
  }
}
VOUCH_SIMD_CLONES void weigh_line(int stride, const interpolation_plan& plan, std::size_t k,
                                  const step_view<const double>& A, std::int64_t from, const present& there,
                                  const step_view<double>& P, std::int64_t at, std::int64_t n) {
  stride == 2 ? weigh<2>(plan, k, A, from, there, P, at, n) : weigh<1>(plan, k, A, from, there, P, at, n);
}

// The steps between coarse points and the fine ones that they are interpolated to: those with fewer parts first.
std::vector<step> interpolation_steps(const coarsening& by) {
  std::vector<step> all;
  const auto reach = [&](std::size_t a) { return by[a] - 1; };
  for (int z = -reach(2); z <= reach(2); ++z)
    for (int y = -reach(1); y <= reach(1); ++y)
      for (int x = -reach(0); x <= reach(0); ++x) all.push_back({x, y, z});
  std::stable_sort(all.begin(), all.end(),
                   [](const step& a, const step& b) { return parts_of(a) < parts_of(b); });
  return all;
}

// Where steps are among some.
class step_places {
 public:
  explicit step_places(const std::vector<step>& steps) {
    for (std::size_t k = 0; k < steps.size(); ++k)
      places_[place_in_table(steps[k][0], steps[k][1], steps[k][2])] = k;
  }
  std::optional<std::size_t> of(const step& s) const {
    const auto is_far = [](int part) { return part < -1 || part > 1; };
    if (std::any_of(s.begin(), s.end(), is_far)) return {};
    return places_[place_in_table(s[0], s[1], s[2])];
  }

 private:
  std::array<std::optional<std::size_t>, most_steps> places_{};
};

// Couplings, with the diagonal among them, and where they go.
coupling_list whole_rows(const stencil_matrix& A) {
  coupling_list ways = couplings_of(A.grid, A.steps);
  ways.all[ways.count++] = {0, 0, 0, {0, 0, 0}};
  return ways;
}

}  // namespace

box coarse_box(const box& fine, const coarsening& by) {
  box coarse;
  for (std::size_t a = 0; a < 3; ++a) coarse.size[a] = by[a] == 2 ? (fine.size[a] + 1) / 2 : fine.size[a];
  return coarse;
}

stencil_facts examine(const device& dev, const stencil_matrix& A) {
  const coupling_list ways = couplings_of(A.grid, A.steps);
  const std::int64_t points = A.grid.points();
  const double units = coupling_facts::unit(points);
  const coupling_facts found = [&] {
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) return examine_cuda(dev, A, ways, units);
    const std::int64_t nx = A.grid.size[0];
    coupling_facts all;
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, points))
    {
      coupling_facts mine;
#pragma omp for schedule(static) nowait
      for (std::int64_t line = 0; line < A.grid.lines(); ++line)
        examine_line(ways, A.view(), line * nx, nx, lines_beside(A.grid, place_of_line(A.grid, line), ways),
                     units, mine);
#pragma omp critical(vouch_examine)
      all.merge(mine);
    }
    return all;
  }();
  stencil_facts facts;
  for (std::size_t a = 0; a < 3; ++a)
    facts.strength[a] = static_cast<double>(found.strength[a]) / units / static_cast<double>(points);
  facts.largest_row_sum = 1 + found.row_sum;
  constexpr double nothing = 1e-6;  // a trial in single precision would not tell it from zero
  facts.row_sums_zero = found.remainder < nothing;
  facts.two_colours =
      std::all_of(ways.begin(), ways.end(), [](const coupling& way) { return parts_of(way.to) % 2 == 1; });
  return facts;
}

coarsening directions_of(const box& fine, const stencil_facts& facts) {
  constexpr double least = 0.25;
  double strongest = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (fine.size[a] > 1) strongest = std::max(strongest, facts.strength[a]);
  coarsening by{1, 1, 1};
  for (std::size_t a = 0; a < 3; ++a)
    if (fine.size[a] > 1 && facts.strength[a] >= least * strongest) by[a] = 2;
  return by;
}

interpolation_plan plan_interpolation(const stencil_matrix& A, const std::vector<step>& steps) {
  interpolation_plan plan;
  plan.ways = whole_rows(A);
  const step_places places(steps);
  std::int16_t groups = 0, listed = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const step& d = steps[k];
    // Where the entries go in the directions of d, and the weight of that; the first group is of those that go nowhere.
    std::vector<std::pair<step, std::vector<std::int8_t>>> towards{{d, {}}};
    for (std::size_t w = 0; k > 0 && w < plan.ways.count; ++w) {
      const step& to = plan.ways[w].to;
      step reached = d;
      bool counts = true;
      for (std::size_t a = 0; a < 3; ++a) {
        if (d[a] == 0 || to[a] == 0) continue;
        counts = counts && to[a] == -d[a];
        reached[a] = 0;
      }
      if (!counts) continue;
      auto same =
          std::find_if(towards.begin(), towards.end(), [&](const auto& g) { return g.first == reached; });
      if (same == towards.end()) same = towards.insert(towards.end(), {reached, {}});
      same->second.push_back(static_cast<std::int8_t>(w));
    }
    plan.groups_begin[k] = groups;
    for (const auto& [reached, ways] : towards) {
      const auto first = listed;
      for (const std::int8_t w : ways) plan.listed[static_cast<std::size_t>(listed++)] = w;
      plan.groups[static_cast<std::size_t>(groups++)] = {first, listed,
                                                         static_cast<std::int16_t>(*places.of(reached))};
    }
  }
  plan.groups_begin[steps.size()] = groups;
  return plan;
}

step_values<double> interpolation(const device& dev, const stencil_matrix& A, const coarsening& by) {
  const box coarse = coarse_box(A.grid, by);
  step_values<double> P(dev, coarse, interpolation_steps(by));
  const interpolation_plan plan = plan_interpolation(A, P.steps);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      interpolate_cuda(dev, A, plan, by, P);
      return P;
    }
  const std::int64_t nx = A.grid.size[0], n = coarse.size[0];
  const step_view<double> weights = P.view();
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.grid.points())) schedule(static)
  for (std::int64_t line = 0; line < coarse.lines(); ++line) {
    const line_place fine_here = fine_line(place_of_line(coarse, line), by);
    const std::int64_t at = line * n;
    std::fill_n(weights.of(0) + at, n, 1.0);
    for (std::size_t k = 1; k < P.steps.size(); ++k) {
      const step& d = P.steps[k];
      const line_place there = fine_here.beside(d);
      if (!has_line(A.grid, there)) {
        std::fill_n(weights.of(k) + at, n, 0.0);
        continue;
      }
      weigh_line(by[0], plan, k, A.view(), first_of(A.grid, there) + d[0],
                 lines_beside(A.grid, there, plan.ways), weights, at, n);
      if (d[0] < 0) weights.of(k)[at] = 0;
      if (by[0] * (n - 1) + d[0] >= nx) weights.of(k)[at + n - 1] = 0;
    }
  }
  return P;
}

galerkin_plan plan_galerkin(const stencil_matrix& A, const step_values<double>& P, const coarsening& by,
                            std::vector<step>& steps) {
  galerkin_plan plan;
  plan.ways = whole_rows(A);
  const step_places places(P.steps);
  std::int16_t paths = 0;
  for (int z = 0; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const step D{x, y, z};
        bool fits = std::pair(z, y) > std::pair(0, 0) || (z == 0 && y == 0 && x >= 0);
        for (std::size_t a = 0; a < 3; ++a) fits = fits && std::abs(D[a]) < P.grid.size[a];
        if (!fits) continue;
        const std::int16_t before = paths;
        auto& begin = plan.begin[steps.size()];
        for (std::size_t k = 0; k < P.steps.size(); ++k) {
          begin[k] = paths;
          for (std::size_t w = 0; w < plan.ways.count; ++w) {
            step e{};
            for (std::size_t a = 0; a < 3; ++a) e[a] = P.steps[k][a] + plan.ways[w].to[a] - by[a] * D[a];
            if (const std::optional<std::size_t> weight = places.of(e))
              plan.paths[static_cast<std::size_t>(paths++)] = {static_cast<std::int8_t>(w),
                                                               static_cast<std::int8_t>(*weight)};
          }
        }
        begin[P.steps.size()] = paths;
        if (paths > before) steps.push_back(D);
      }
  return plan;
}

namespace {

// Of a step of interpolation, for the coarse points of a line: which ways there are, and its weights.
struct step_paths {
  std::size_t step;
  std::int64_t from;  // the fine point of the line's first point
  present there;
};

// Entries of the coarse matrix for n points of a line, from number `at` on; other[m]: what their couplings m are to, or
// -1 where there is no such line.
template <int stride>
VOUCH_SIMD_INLINE void multiply_paths(const galerkin_plan& plan, const step_view<const double>& A,
                                      const step_view<const double>& P, const std::vector<step_paths>& steps,
                                      std::int64_t at, std::int64_t n, const std::vector<std::int64_t>& other,
                                      const step_view<double>& C) {
  for (std::int64_t x = 0; x < n; x += width) {
    doubles sums[galerkin_plan::most_couplings] = {}, gathered[most_steps], weight;
    for (const step_paths& by : steps) {
      const double* entries[most_steps] = {};
      for (std::size_t w = 0; w < plan.ways.count; ++w) {
        if (!by.there[w]) continue;
        const double* const v = A.of(plan.ways[w].diagonal) + by.from + stride * x + plan.ways[w].shift;
        entries[w] = v;
        if constexpr (stride == 2) {
          load_points<2>(gathered[w], v);
          entries[w] = reinterpret_cast<const double*>(&gathered[w]);
        }
      }
      load<double>(weight, P.of(by.step) + at + x);
      for (std::size_t m = 0; m < other.size(); ++m) {
        if (other[m] < 0) continue;
        const auto factors = [&](std::int16_t p, const double*& a, const double*& w)
            __attribute__((always_inline)) {
          const galerkin_plan::path& path = plan.paths[static_cast<std::size_t>(p)];
          a = entries[path.way];
          w = P.of(static_cast<std::size_t>(path.weight)) + other[m] + x;
          return a != nullptr;
        };
        plan.add_paths(sums[m], weight, plan.begin[m][by.step], plan.begin[m][by.step + 1], factors);
      }
    }
    for (std::size_t m = 0; m < other.size(); ++m) store_first(C.of(m) + at + x, sums[m], n - x);
  }
}
VOUCH_SIMD_CLONES void multiply_line(int stride, const galerkin_plan& plan, const step_view<const double>& A,
                                     const step_view<const double>& P, const std::vector<step_paths>& steps,
                                     std::int64_t at, std::int64_t n, const std::vector<std::int64_t>& other,
                                     const step_view<double>& C) {
  stride == 2 ? multiply_paths<2>(plan, A, P, steps, at, n, other, C)
              : multiply_paths<1>(plan, A, P, steps, at, n, other, C);
}

}  // namespace

stencil_matrix galerkin(const device& dev, const stencil_matrix& A, const step_values<double>& P,
                        const coarsening& by) {
  const box& coarse = P.grid;
  std::vector<step> steps;
  const galerkin_plan plan = plan_galerkin(A, P, by, steps);
  stencil_matrix C(dev, coarse, std::move(steps));
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      galerkin_cuda(dev, A, P, plan, by, C);
      return C;
    }
  const std::int64_t n = coarse.size[0];
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.grid.points())) schedule(static)
  for (std::int64_t line = 0; line < coarse.lines(); ++line) {
    const line_place here = place_of_line(coarse, line), fine_here = fine_line(here, by);
    const std::int64_t at = line * n;
    std::vector<step_paths> by_step;
    by_step.reserve(P.steps.size());
    for (std::size_t k = 0; k < P.steps.size(); ++k) {
      const line_place there = fine_here.beside(P.steps[k]);
      if (has_line(A.grid, there))
        by_step.push_back({k, first_of(A.grid, there) + P.steps[k][0], lines_beside(A.grid, there, plan.ways)});
    }
    std::vector<std::int64_t> other;
    other.reserve(C.steps.size());
    for (const step& D : C.steps)
      other.push_back(has_line(coarse, here.beside(D)) ? at + distance(coarse, D) : -1);
    multiply_line(by[0], plan, A.view(), P.view(), by_step, at, n, other, C.view());
    for (std::size_t m = 0; m < C.steps.size(); ++m) {
      if (C.steps[m][0] == 1) C.of(m)[at + n - 1] = 0;
      if (C.steps[m][0] == -1) C.of(m)[at] = 0;
    }
  }
  return C;
}

bool is_positive(const device& dev, const stencil_matrix& coarse, const stencil_matrix& fine,
                 const coarsening& by) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return is_positive_cuda(dev, coarse, fine, by);
  const std::int64_t n = coarse.grid.size[0];
  bool positive = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, coarse.grid.points())) \
    schedule(static) reduction(&& : positive)
  for (std::int64_t line = 0; line < coarse.grid.lines(); ++line) {
    const double* const before =
        fine.of(0) + first_of(fine.grid, fine_line(place_of_line(coarse.grid, line), by));
    for (std::int64_t x = 0; x < n; ++x)
      positive = positive && keeps_energy(coarse.of(0)[line * n + x], before[by[0] * x]);
  }
  return positive;
}

}  // namespace vouch::multigrid
