// Coarse stencils. All loops run along lines of points, so that they are vectors of numbers that stand side by side;
// what lies beyond an end of a line meets a weight of zero, or is put to zero at last.
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/simd.hpp>

namespace vouch::multigrid {
namespace {

// sum[i] += v[i]
VOUCH_SIMD_CLONES void add(std::int64_t n, const double* __restrict__ v, double* __restrict__ sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += v[i];
}
VOUCH_SIMD_CLONES void add_every_other(std::int64_t n, const double* __restrict__ v, double* __restrict__ sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += v[2 * i];
}
VOUCH_SIMD_CLONES void add_size(std::int64_t n, const double* __restrict__ v, double* __restrict__ sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += std::fabs(v[i]);
}
VOUCH_SIMD_CLONES void take_every_other(std::int64_t n, const double* __restrict__ v,
                                        double* __restrict__ out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = v[2 * i];
}
// sum[i] += u[i] v[i]
VOUCH_SIMD_CLONES void add_products(std::int64_t n, const double* __restrict__ u, const double* __restrict__ v,
                                    double* __restrict__ sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += u[i] * v[i];
}

// weight[i] = -all[i] / own[i], or 0 where next to nothing of the diagonal is left.
VOUCH_SIMD_CLONES void divide(std::int64_t n, std::int64_t stride, const double* __restrict__ all,
                              const double* __restrict__ own, const double* __restrict__ diagonal,
                              double* __restrict__ weight) {
  constexpr double least = 1e-10;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool is_left = own[i] > least * diagonal[stride * i];
    weight[i] = is_left ? -all[i] / (is_left ? own[i] : 1.0) : 0.0;
  }
}

void add_points(int factor, std::int64_t n, const double* v, double* sum) {
  factor == 2 ? add_every_other(n, v, sum) : add(n, v, sum);
}

constexpr std::int64_t piece = 64;  // points of a line at a time: what is needed for them stays in cache
constexpr std::size_t most_steps = 27;

// out[i] += weight[i] (a[0][i] w[0][i] + a[1][i] w[1][i] + ...)
VOUCH_SIMD_CLONES void add_weighted_sum(std::int64_t n, std::size_t terms, const double* const* a,
                                        const double* const* w, const double* weight, double* out) {
  constexpr int width = simd<double>::width;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    lanes<double> sum{}, u, v;
    for (std::size_t t = 0; t < terms; ++t) {
      load<double>(u, a[t] + i);
      load<double>(v, w[t] + i);
      sum += u * v;
    }
    load<double>(u, weight + i);
    load<double>(v, out + i);
    v += u * sum;
    store<double>(out + i, v);
  }
  for (; i < n; ++i) {
    double sum = 0;
    for (std::size_t t = 0; t < terms; ++t) sum += a[t][i] * w[t][i];
    out[i] += weight[i] * sum;
  }
}

int parts_of(const step& s) { return std::abs(s[0]) + std::abs(s[1]) + std::abs(s[2]); }

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

std::optional<std::size_t> place_of(const std::vector<step>& steps, const step& wanted) {
  const auto found = std::find(steps.begin(), steps.end(), wanted);
  if (found == steps.end()) return {};
  return static_cast<std::size_t>(found - steps.begin());
}

// The fine line that a coarse one is.
line_place fine_line(const line_place& coarse, const coarsening& by) {
  return {by[1] * coarse.y, by[2] * coarse.z};
}

// Couplings, with the diagonal among them, and where they go.
std::vector<coupling> whole_rows(const stencil_matrix& A) {
  std::vector<coupling> all = couplings_of(A.grid, A.steps);
  all.push_back({0, 0, 0, {0, 0, 0}});
  return all;
}

}  // namespace

box coarse_box(const box& fine, const coarsening& by) {
  box coarse;
  for (std::size_t a = 0; a < 3; ++a) coarse.size[a] = by[a] == 2 ? (fine.size[a] + 1) / 2 : fine.size[a];
  return coarse;
}

stencil_facts examine(const device& dev, const stencil_matrix& A) {
  const std::vector<coupling> ways = couplings_of(A.grid, A.steps);
  const std::int64_t nx = A.grid.size[0], lines = A.grid.lines();
  struct of_line {
    std::array<double, 3> strength{};
    double row_sum = 0, remainder = 0;
  };
  std::vector<of_line> found(static_cast<std::size_t>(lines));
  const int threads = loop_threads(dev, A.grid.points());
  std::vector<double> scratch(static_cast<std::size_t>(threads * 5 * nx));
#pragma omp parallel firstprivate(ieee) num_threads(threads)
  {
    double* const mine_alone = scratch.data() + omp_get_thread_num() * 5 * nx;
    double* const along[3] = {mine_alone, mine_alone + nx, mine_alone + 2 * nx};
    double *const sizes = mine_alone + 3 * nx, *const sums = mine_alone + 4 * nx;
#pragma omp for schedule(static)
    for (std::int64_t line = 0; line < lines; ++line) {
      std::fill_n(mine_alone, 5 * nx, 0.0);
      const line_place here = place_of_line(A.grid, line);
      for (const coupling& way : ways) {
        if (!has_line(A.grid, here.beside(way.to))) continue;
        const double* const v = A.of(way.diagonal) + line * nx + way.shift;
        add_size(nx, v, sizes);
        add(nx, v, sums);
        for (std::size_t a = 0; a < 3; ++a)
          if (way.to[a] != 0) add(nx, v, along[a]);
      }
      of_line& mine = found[static_cast<std::size_t>(line)];
      const double* const diagonal = A.of(0) + line * nx;
      for (std::int64_t x = 0; x < nx; ++x) {
        for (std::size_t a = 0; a < 3; ++a) mine.strength[a] += std::max(-along[a][x], 0.0) / diagonal[x];
        // Not std::max, which loses what is not a number.
        const double row_sum = sizes[x] / diagonal[x];
        if (!(row_sum <= mine.row_sum)) mine.row_sum = row_sum;
        mine.remainder = std::max(mine.remainder, std::fabs(sums[x] + diagonal[x]) / diagonal[x]);
      }
    }
  }
  stencil_facts facts;
  double remainder = 0;
  facts.largest_row_sum = 0;
  for (const of_line& line : found) {
    for (std::size_t a = 0; a < 3; ++a)
      facts.strength[a] += line.strength[a] / static_cast<double>(A.grid.points());
    if (!(line.row_sum <= facts.largest_row_sum)) facts.largest_row_sum = line.row_sum;
    remainder = std::max(remainder, line.remainder);
  }
  facts.largest_row_sum += 1;
  constexpr double nothing = 1e-6;  // a trial in single precision would not tell it from zero
  facts.row_sums_zero = remainder < nothing;
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

step_values<double> interpolation(const device& dev, const stencil_matrix& A, const coarsening& by) {
  const box coarse = coarse_box(A.grid, by);
  step_values<double> P(dev, coarse, interpolation_steps(by));
  const std::vector<coupling> ways = whole_rows(A);
  const std::int64_t nx = A.grid.size[0], coarse_nx = coarse.size[0];
  // For each step d the entries that count for it, by where they go in the directions of d: nowhere, or back to
  // the coarse point; the latter have the weight of step d + t.
  struct group {
    std::size_t weight;
    std::vector<const coupling*> ways;
  };
  struct recipe {
    std::vector<const coupling*> own;
    std::vector<group> towards;
  };
  std::vector<recipe> recipes(P.steps.size());
  for (std::size_t k = 1; k < P.steps.size(); ++k) {
    const step& d = P.steps[k];
    for (const coupling& way : ways) {
      step reached = d;
      bool counts = true, stays = true;
      for (std::size_t a = 0; a < 3; ++a) {
        if (d[a] == 0 || way.to[a] == 0) continue;
        stays = false;
        counts = counts && way.to[a] == -d[a];
        reached[a] = 0;
      }
      if (!counts) continue;
      if (stays) {
        recipes[k].own.push_back(&way);
        continue;
      }
      const std::size_t weight = *place_of(P.steps, reached);
      std::vector<group>& groups = recipes[k].towards;
      auto same =
          std::find_if(groups.begin(), groups.end(), [=](const group& g) { return g.weight == weight; });
      if (same == groups.end()) same = groups.insert(groups.end(), {weight, {}});
      same->ways.push_back(&way);
    }
  }
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.grid.points())) schedule(static)
  for (std::int64_t line = 0; line < coarse.lines(); ++line) {
    const line_place fine_here = fine_line(place_of_line(coarse, line), by);
    for (std::int64_t begin = 0; begin < coarse_nx; begin += piece) {
      const std::int64_t n = std::min(piece, coarse_nx - begin), at = line * coarse_nx + begin;
      std::fill_n(P.of(0) + at, n, 1.0);
      for (std::size_t k = 1; k < P.steps.size(); ++k) std::fill_n(P.of(k) + at, n, 0.0);
      for (std::size_t k = 1; k < P.steps.size(); ++k) {
        const step& d = P.steps[k];
        const line_place there = fine_here.beside(d);
        if (!has_line(A.grid, there)) continue;
        const std::int64_t from = first_of(A.grid, there) + by[0] * begin + d[0];
        const auto collect = [&](const std::vector<const coupling*>& which, double* sums) {
          std::fill_n(sums, n, 0.0);
          for (const coupling* way : which)
            if (has_line(A.grid, there.beside(way->to)))
              add_points(by[0], n, A.of(way->diagonal) + from + way->shift, sums);
        };
        double own[piece], others[piece], all[piece] = {};
        collect(recipes[k].own, own);
        for (const group& g : recipes[k].towards) {
          collect(g.ways, others);
          add_products(n, others, P.of(g.weight) + at, all);
        }
        double* const weight = P.of(k) + at;
        const double* const diagonal = A.of(0) + from;
        divide(n, by[0], all, own, diagonal, weight);
        if (d[0] < 0 && begin == 0) weight[0] = 0;
        if (by[0] * (begin + n - 1) + d[0] >= nx) weight[n - 1] = 0;
      }
    }
  }
  return P;
}

stencil_matrix galerkin(const device& dev, const stencil_matrix& A, const step_values<double>& P,
                        const coarsening& by) {
  const box& coarse = P.grid;
  const std::vector<coupling> ways = whole_rows(A);
  const std::int64_t coarse_nx = coarse.size[0];
  // Coarse points I and I + D are coupled by what goes from by(I) + d by some entry to by(I + D) + e.
  struct path {
    std::size_t way, weight;
  };
  struct coarse_coupling {
    step to;
    std::vector<std::vector<path>> by_step;  // of P, d
  };
  std::vector<coarse_coupling> couplings;
  for (int z = 0; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const step D{x, y, z};
        bool fits = std::pair(z, y) > std::pair(0, 0) || (z == 0 && y == 0 && x >= 0);
        for (std::size_t a = 0; a < 3; ++a) fits = fits && std::abs(D[a]) < coarse.size[a];
        if (!fits) continue;
        coarse_coupling found{D, std::vector<std::vector<path>>(P.steps.size())};
        bool any = false;
        for (std::size_t k = 0; k < P.steps.size(); ++k)
          for (std::size_t w = 0; w < ways.size(); ++w) {
            step e{};
            for (std::size_t a = 0; a < 3; ++a) e[a] = P.steps[k][a] + ways[w].to[a] - by[a] * D[a];
            const std::optional<std::size_t> weight = place_of(P.steps, e);
            if (!weight) continue;
            found.by_step[k].push_back({w, *weight});
            any = true;
          }
        if (any) couplings.push_back(std::move(found));
      }
  std::vector<step> steps;
  steps.reserve(couplings.size());
  for (const coarse_coupling& c : couplings) steps.push_back(c.to);
  stencil_matrix C(dev, coarse, std::move(steps));
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.grid.points())) schedule(static)
  for (std::int64_t line = 0; line < coarse.lines(); ++line) {
    const line_place here = place_of_line(coarse, line), fine_here = fine_line(here, by);
    for (std::int64_t begin = 0; begin < coarse_nx; begin += piece) {
      const std::int64_t n = std::min(piece, coarse_nx - begin), at = line * coarse_nx + begin;
      for (std::size_t m = 0; m < couplings.size(); ++m) std::fill_n(C.of(m) + at, n, 0.0);
      for (std::size_t k = 0; k < P.steps.size(); ++k) {
        const line_place there = fine_here.beside(P.steps[k]);
        if (!has_line(A.grid, there)) continue;
        const std::int64_t from = first_of(A.grid, there) + by[0] * begin + P.steps[k][0];
        double gathered[most_steps][piece];
        const double* entries[most_steps];
        for (std::size_t w = 0; w < ways.size(); ++w) {
          entries[w] = nullptr;
          if (!has_line(A.grid, there.beside(ways[w].to))) continue;
          const double* const v = A.of(ways[w].diagonal) + from + ways[w].shift;
          entries[w] = by[0] == 2 ? gathered[w] : v;
          if (by[0] == 2) take_every_other(n, v, gathered[w]);
        }
        for (std::size_t m = 0; m < couplings.size(); ++m) {
          const coarse_coupling& coupled = couplings[m];
          if (!has_line(coarse, here.beside(coupled.to))) continue;
          const std::int64_t other = at + distance(coarse, coupled.to);
          const double *a[most_steps], *w[most_steps];
          std::size_t terms = 0;
          for (const path& p : coupled.by_step[k]) {
            if (entries[p.way] == nullptr) continue;
            a[terms] = entries[p.way];
            w[terms++] = P.of(p.weight) + other;
          }
          if (terms > 0) add_weighted_sum(n, terms, a, w, P.of(k) + at, C.of(m) + at);
        }
      }
      for (std::size_t m = 0; m < couplings.size(); ++m) {
        if (couplings[m].to[0] == 1 && begin + n == coarse_nx) C.of(m)[at + n - 1] = 0;
        if (couplings[m].to[0] == -1 && begin == 0) C.of(m)[at] = 0;
      }
    }
  }
  return C;
}

}  // namespace vouch::multigrid
