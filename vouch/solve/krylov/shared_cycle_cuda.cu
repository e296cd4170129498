// A V-cycle of a structured hierarchy on several GPUs.
//
// Of the fine levels each GPU has the matrix and the interpolation of some planes of points, one after another; planes
// follow those of the level above, so that what a GPU reads of others is next to its own. Behind each step the GPUs hand
// over what others read of its result and meet. The coarse levels are visited by one GPU alone, where the hierarchy was
// made; the others wait. Points have the bits of the cycle on one GPU. Bound by memory.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/shared_preconditioner.cuh>
#include <vouch/solve/precond/amg/cycle_steps.hpp>
#include <vouch/solve/precond/amg/levels.hpp>
#include <vouch/solve/precond/amg/stencil_slab.hpp>

namespace vouch {
namespace {

using multigrid::box;
using multigrid::coarsening;
using multigrid::interpolation_slab;
using multigrid::part;
using multigrid::parts_of_level;
using multigrid::point_range;
using multigrid::shared_level;
using multigrid::stencil_slab;

std::int64_t size_of(const point_range& range) { return range.end - range.first; }
point_range hull(const point_range& a, const point_range& b) {
  if (size_of(a) == 0) return b;
  if (size_of(b) == 0) return a;
  return {std::min(a.first, b.first), std::max(a.end, b.end)};
}
point_range intersection(const point_range& a, const point_range& b) {
  const std::int64_t first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.end, b.end))};
}
point_range widened(const point_range& a, std::int64_t by, std::int64_t points) {
  if (size_of(a) == 0) return a;
  return {std::max<std::int64_t>(0, a.first - by), std::min(points, a.end + by)};
}

// Points of a box in the order of their numbers: planes of the last direction that the finest box has.
struct planes {
  std::int64_t count, points_each;

  planes(const box& grid, bool solid) : count(grid.size[solid ? 2 : 1]), points_each(grid.points() / count) {}
  point_range points(std::int64_t first, std::int64_t end) const {
    return {first * points_each, end * points_each};
  }
};

// Who has which points of a level, by GPU.
struct level_ranges {
  std::vector<point_range> made;     // of b, by the restriction to it, or by what comes from outside
  std::vector<point_range> own;      // of all other vectors
  std::vector<point_range> reads_b;  // that its steps read
  std::vector<point_range> reads;    // of the other vectors
};

// One GPU's part of a level.
struct level_share {
  std::optional<stencil_slab> A;
  std::optional<interpolation_slab> way;
  std::vector<array<float>> kept;
  std::array<float*, parts_of_level> at{};  // by the numbers of points
};

template <class T>
class cycle_on_gpus final : public shared_preconditioner<T> {
 public:
  cycle_on_gpus(const device& home, const multigrid::shared_cycle<T>& M,
                std::span<const preconditioned_share<T>> gpus, std::int64_t least_rows)
      : cycle_(M), levels_(M.shared_levels()), gpus_(gpus.begin(), gpus.end()) {
    if (levels_.empty())
      throw value_error(
          "conjugate gradients on several GPUs: amg with a structured hierarchy alone, and this one is by "
          "smoothed aggregation",
          "without several GPUs it serves; they take chebyshev and jacobi for any matrix");
    keeper_ = keeper(home);
    shared_ = 0;
    while (levels_[shared_].way != nullptr && (shared_ == 0 || levels_[shared_].grid.points() >= least_rows))
      ++shared_;
    divide();
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const row_range& rows = gpus[g].share->rows();
      const device& dev = gpus[g].share->where();
      scale_.push_back(copied_to(dev, home, M.scale() + rows.first, rows.count, rows.count));
      z_.push_back(array<T>::zeros(dev, rows.count));
      for (std::size_t depth = 0; depth <= shared_; ++depth) parts_.push_back(make_share(home, depth, g));
      dev.synchronize();
    }
    for (std::size_t depth = 0; depth <= shared_; ++depth)
      for (std::size_t which = 0; which < parts_of_level; ++which)
        for (std::size_t g = 0; g < gpus.size(); ++g)
          vectors_[depth][which].of[g] = share_of(g, depth).at[which];
  }

  void apply(int g, cudaGraphConditionalHandle loop) override {
    const gpu_share<T>& gpu = *gpus_[static_cast<std::size_t>(g)].share;
    const row_range& rows = gpu.rows();
    const steps on{*this, static_cast<std::size_t>(g), loop};
    const T* const scale = scale_[static_cast<std::size_t>(g)].data();
    multigrid::scale_into_cuda(gpu.where(), rows.count, T{1}, scale, gpus_[static_cast<std::size_t>(g)].r,
                               on.at(0, part::b) + rows.first);
    on.share(0, part::b);
    multigrid::visit(on, 0);
    multigrid::scale_into_cuda(gpu.where(), rows.count, cycle_.factor(), scale,
                               static_cast<const float*>(on.at(0, part::x) + rows.first),
                               z_[static_cast<std::size_t>(g)].data());
  }
  const T* z(int g) const override { return z_[static_cast<std::size_t>(g)].data(); }

 private:
  // Those of one GPU (cycle_steps.hpp).
  struct steps {
    cycle_on_gpus& all;
    std::size_t g;
    cudaGraphConditionalHandle loop;

    const device& where() const { return all.gpus_[g].share->where(); }
    float* at(std::size_t depth, part which) const {
      return all.share_of(g, depth).at[static_cast<std::size_t>(which)];
    }
    std::span<const double> smoother(std::size_t depth) const { return all.levels_[depth].smoother; }
    void combine(std::size_t depth, const multigrid::combination& terms) const {
      all.share_of(g, depth).A->combine(where(), terms);
    }
    void restrict_to_next(std::size_t depth, const float* r) const {
      all.share_of(g, depth).way->restrict_to(where(), r, at(depth + 1, part::b));
    }
    void prolongate(std::size_t depth, float a, const float* u, float* out) const {
      all.share_of(g, depth).way->prolongate(where(), at(depth + 1, part::x), a, u, out);
    }
    bool solve(std::size_t depth) const {
      if (depth < all.shared_) return false;
      if (g == all.keeper_) all.cycle_.visit_from(where(), depth);
      share(depth, part::x);
      return true;
    }
    void share(std::size_t depth, part which) const {
      const level_ranges& ranges = all.ranges_[depth];
      const bool is_b = which == part::b;
      const point_range& mine = (is_b ? ranges.made : ranges.own)[g];
      rows_by_range rows;
      for (std::size_t other = 0; other < all.gpus_.size(); ++other) {
        if (other == g) continue;
        const point_range wanted = intersection(mine, (is_b ? ranges.reads_b : ranges.reads)[other]);
        rows.add(static_cast<int>(other), wanted.first, wanted.end);
      }
      gpu_share<T>& gpu = *all.gpus_[g].share;
      launch_exchange(gpu.where(), rows, all.vectors_[depth][static_cast<std::size_t>(which)], gpu.control(),
                      gpu.team(), loop);
    }
  };

  level_share& share_of(std::size_t g, std::size_t depth) { return parts_[g * (shared_ + 1) + depth]; }

  std::size_t keeper(const device& home) const {
    for (std::size_t g = 0; g < gpus_.size(); ++g)
      if (gpus_[g].share->where().index() == home.index()) return g;
    throw value_error("conjugate gradients on several GPUs with amg: the matrix is on GPU " +
                          std::to_string(home.index()) + ", which is none of them",
                      "name it among them");
  }

  // Planes go to who has most of their rows of A; those of a coarse level to who has them in the level above.
  void divide() {
    const bool solid = levels_.front().grid.size[2] > 1;
    const std::size_t count = gpus_.size(), axis = solid ? 2 : 1;
    std::vector<std::int64_t> bounds{0};  // the first plane of each GPU, and the end
    const planes finest(levels_.front().grid, solid);
    for (std::size_t g = 1; g < count; ++g)
      bounds.push_back((gpus_[g].share->rows().first + finest.points_each / 2) / finest.points_each);
    bounds.push_back(finest.count);
    std::vector<point_range> made, from_above(count);
    for (const preconditioned_share<T>& gpu : gpus_)
      made.push_back({gpu.share->rows().first, gpu.share->rows().first + gpu.share->rows().count});
    from_above = made;
    for (std::size_t depth = 0; depth <= shared_; ++depth) {
      const shared_level& level = levels_[depth];
      const planes here(level.grid, solid);
      level_ranges& ranges = ranges_.emplace_back();
      const std::int64_t points = level.grid.points(),
                         reach = std::max(here.points_each, multigrid::reach_of(*level.A));
      for (std::size_t g = 0; g < count; ++g) {
        const point_range natural = here.points(bounds[g], bounds[g + 1]);
        const bool is_gathered = depth == shared_;
        const point_range own = !is_gathered ? natural : g == keeper_ ? point_range{0, points} : point_range{};
        ranges.own.push_back(own);
        ranges.made.push_back(depth == 0 ? made[g] : natural);
        ranges.reads_b.push_back(widened(own, reach, points));
        ranges.reads.push_back(hull(widened(own, reach, points), from_above[g]));
      }
      if (depth == shared_) break;
      // Of the next level: its planes, and those that lines here are interpolated from.
      const planes next(levels_[depth + 1].grid, solid);
      const std::int64_t by = level.by[axis];
      for (std::size_t g = 0; g < count; ++g) {
        const std::int64_t first = bounds[g], end = bounds[g + 1];
        const bool is_halved = by == 2;
        from_above[g] = first == end ? point_range{}
                        : is_halved  ? next.points(first / 2, std::min(next.count, end / 2 + 1))
                                     : next.points(first, end);
      }
      interpolated_.push_back(from_above);
      for (std::int64_t& bound : bounds) bound = (bound + by - 1) / by;
    }
  }

  level_share make_share(const device& home, std::size_t depth, std::size_t g) {
    const shared_level& level = levels_[depth];
    const level_ranges& ranges = ranges_[depth];
    const device& dev = gpus_[g].share->where();
    level_share made;
    if (depth < shared_) {
      made.A.emplace(dev, home, *level.A, ranges.own[g]);
      const std::int64_t line = level.grid.size[0];
      const point_range coarse = ranges_[depth + 1].made[g];
      made.way.emplace(dev, home, *level.way, level.grid, level.by, coarse,
                       point_range{ranges.own[g].first / line, ranges.own[g].end / line},
                       hull(coarse, interpolated_[depth][g]));
    }
    const bool is_kept = depth == shared_ && g == keeper_;
    for (std::size_t which = 0; which < parts_of_level; ++which) {
      const bool is_b = which == static_cast<std::size_t>(part::b),
                 is_x = which == static_cast<std::size_t>(part::x);
      if (is_kept && (is_b || is_x)) {
        made.at[which] = is_b ? level.b : level.x;
        continue;
      }
      if (depth == shared_ && !is_b && !is_x) continue;
      if (which == static_cast<std::size_t>(part::other) && level.smoother.size() <= 2) continue;
      const point_range there =
          is_b ? hull(ranges.made[g], ranges.reads_b[g]) : hull(ranges.own[g], ranges.reads[g]);
      made.kept.push_back(array<float>::zeros(dev, size_of(there)));
      made.at[which] = made.kept.back().data() - there.first;
    }
    return made;
  }

  const multigrid::shared_cycle<T>& cycle_;
  std::vector<shared_level> levels_;
  std::vector<preconditioned_share<T>> gpus_;
  std::size_t keeper_ = 0;
  std::size_t shared_ = 0;  // levels that are shared; the next one is the keeper's
  std::vector<level_ranges> ranges_;
  std::vector<std::vector<point_range>> interpolated_;  // points of the next level, by GPU
  std::vector<level_share> parts_;                      // level after level of each GPU
  std::array<std::array<team_vector<float>, parts_of_level>, multigrid::most_levels> vectors_{};
  std::vector<array<T>> scale_, z_;
};

}  // namespace

template <real T>
std::unique_ptr<shared_preconditioner<T>> share(const device& home, const multigrid::shared_cycle<T>& M,
                                                std::span<const preconditioned_share<T>> gpus,
                                                std::int64_t least_rows) {
  return std::make_unique<cycle_on_gpus<T>>(home, M, gpus, least_rows);
}

template std::unique_ptr<shared_preconditioner<float>> share(const device&,
                                                             const multigrid::shared_cycle<float>&,
                                                             std::span<const preconditioned_share<float>>,
                                                             std::int64_t);
template std::unique_ptr<shared_preconditioner<double>> share(const device&,
                                                              const multigrid::shared_cycle<double>&,
                                                              std::span<const preconditioned_share<double>>,
                                                              std::int64_t);

}  // namespace vouch
