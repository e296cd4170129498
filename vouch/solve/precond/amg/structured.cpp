#include <vouch/solve/precond/amg/structured.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/solve/precond/amg/repeated_points.hpp>
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>

namespace vouch::multigrid {
namespace {

// As of smoothed aggregation; where colours alternate, the spectrum is symmetric about 1 and row sums tell.
double eigenvalue_bound(const device& dev, const unit_stencil& A, const stencil_facts& facts) {
  constexpr double steps = 64, rounding = 1e-6;
  if (facts.two_colours && facts.largest_row_sum <= 2 + rounding)
    return std::ceil(steps * (facts.largest_row_sum - rounding)) / steps;
  return std::ceil(steps * std::min(facts.largest_row_sum, A.largest_ritz_value(dev))) / steps;
}

// D^-1/2 A D^-1/2, on the CPU.
csr<double> with_unit_diagonal(const stencil_matrix& given) {
  const device cpu = device::cpu(1);
  const stencil_matrix A = given.to(cpu);
  const std::int64_t n = A.grid.points(), nx = A.grid.size[0];
  const coupling_list ways = couplings_of(A.grid, A.steps);
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col;
  std::vector<double> val;
  for (std::int64_t i = 0; i < n; ++i) {
    const line_place here = place_of_line(A.grid, i / nx);
    const double* const diagonal = A.of(0);
    std::vector<std::pair<std::int32_t, double>> row{{static_cast<std::int32_t>(i), 1.0}};
    for (const coupling& way : ways) {
      const std::int64_t x = i % nx + way.to[0], j = i + way.distance;
      if (x < 0 || x >= nx || !has_line(A.grid, here.beside(way.to))) continue;
      row.emplace_back(static_cast<std::int32_t>(j),
                       A.of(way.diagonal)[i + way.shift] / std::sqrt(diagonal[i]) / std::sqrt(diagonal[j]));
    }
    std::sort(row.begin(), row.end());
    for (const auto& [j, value] : row) {
      col.push_back(j);
      val.push_back(value);
    }
    row_ptr.push_back(std::ssize(col));
  }
  return {n, n, array<std::int64_t>::from(cpu, row_ptr), array<std::int32_t>::from(cpu, col),
          array<double>::from(cpu, val)};
}

}  // namespace

structured_levels make_structured_levels(const device& dev, stencil_matrix A, std::int64_t nonzeros,
                                         const amg_options& options, const std::vector<level>* pattern) {
  structured_levels made;
  constexpr coarsening none{1, 1, 1};
  const cancellation_probe stop;
  std::optional<end_points> ends = find_repetition(dev, A);
  for (;;) {
    stop.check();
    const std::size_t depth = made.levels.size();
    level& fine = made.levels.emplace_back();
    const stencil_facts facts = examine(dev, A);
    if (!std::isfinite(facts.largest_row_sum)) return {{}, false, "it holds entries that are not finite"};
    if (depth == 0) made.row_sums_zero = facts.row_sums_zero;
    fine.rows = A.grid.points();
    fine.nonzeros = depth == 0 ? nonzeros : entries_of(A.grid, A.steps);
    fine.grid = A.grid;
    fine.by_stencil.emplace(dev, A);
    fine.bound = eigenvalue_bound(dev, *fine.by_stencil, facts);
    coarsening by = pattern != nullptr ? (*pattern)[depth].by : directions_of(A.grid, facts);
    if (fine.rows <= options.coarsest || depth + 1 == most_levels) by = none;
    stencil_matrix coarse;
    stop.check();
    if (by != none) {
      auto [P, made_A] = coarsen(dev, A, by, ends);
      coarse = std::move(made_A);
      if (is_positive(dev, coarse, A, by)) {
        fine.by = by;
        fine.between.emplace(dev, P, by, A, coarse);
      } else {
        by = none;
        if (fine.rows > most_rows_of_an_inverse) return {{}, false, "a coarse matrix is not positive"};
      }
    }
    if (by == none) {
      if (fine.rows <= std::max(options.coarsest, most_rows_of_an_inverse)) fine.A = with_unit_diagonal(A);
      return made;
    }
    A = std::move(coarse);
  }
}

}  // namespace vouch::multigrid
