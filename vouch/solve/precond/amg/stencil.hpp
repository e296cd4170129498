// vouch/solve/precond/amg/stencil.hpp -- symmetric matrices that couple the neighbours on a box of points; private.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::multigrid {

/// Points numbered along the first direction, then the second, then the third.
struct box {
  std::array<std::int64_t, 3> size{1, 1, 1};

  VOUCH_HOST_DEVICE std::int64_t points() const { return size[0] * size[1] * size[2]; }
  /// Rows of points along the first direction.
  VOUCH_HOST_DEVICE std::int64_t lines() const { return size[1] * size[2]; }
  bool operator==(const box&) const = default;
};

/// From a point to a neighbour: -1, 0 or 1 in each direction.
using step = std::array<int, 3>;

/// The difference of the numbers of two points so far apart.
VOUCH_HOST_DEVICE inline std::int64_t distance(const box& grid, const step& s) {
  return s[0] + grid.size[0] * (s[1] + grid.size[1] * s[2]);
}

/// Where a line of points along the first direction is in the other two.
struct line_place {
  std::int64_t y, z;

  VOUCH_HOST_DEVICE line_place beside(const step& s) const { return {y + s[1], z + s[2]}; }
};
VOUCH_HOST_DEVICE inline line_place place_of_line(const box& grid, std::int64_t line) {
  return {line % grid.size[1], line / grid.size[1]};
}
VOUCH_HOST_DEVICE inline bool has_line(const box& grid, const line_place& at) {
  return at.y >= 0 && at.y < grid.size[1] && at.z >= 0 && at.z < grid.size[2];
}
/// The number of the line's first point.
VOUCH_HOST_DEVICE inline std::int64_t first_of(const box& grid, const line_place& at) {
  return (at.z * grid.size[1] + at.y) * grid.size[0];
}

/// Most steps there are: those to a point's neighbours in three directions and to itself.
inline constexpr std::size_t most_steps = 27;
/// Where a step is in a table of all.
VOUCH_HOST_DEVICE inline std::size_t place_in_table(int x, int y, int z) {
  return static_cast<std::size_t>((z + 1) * 9 + (y + 1) * 3 + x + 1);
}

/// Step by step numbers for all points, as kernels see them.
template <class T>
struct step_view {
  T* first = nullptr;
  std::int64_t stride = 0;

  VOUCH_HOST_DEVICE T* of(std::size_t k) const { return first + static_cast<std::int64_t>(k) * stride; }
};

/// Numbers for each point and each of some steps, zeros in front of the first point and behind the last, so that kernels
/// may read past the ends of lines. What the numbers are is for whoever makes them to say, of every point.
template <class T>
struct step_values {
  static constexpr std::int64_t margin = 32;

  box grid;
  std::vector<step> steps;
  array<T> values;

  step_values() = default;
  step_values(const device& dev, const box& points, std::vector<step> chosen)
      : grid(points),
        steps(std::move(chosen)),
        values(dev, static_cast<std::int64_t>(steps.size()) * stride()) {
    clear_margins(dev, *this);
  }
  std::int64_t stride() const { return grid.points() + 2 * margin; }
  T* of(std::size_t k) { return view().of(k); }
  const T* of(std::size_t k) const { return view().of(k); }
  step_view<T> view() { return {values.data() + margin, stride()}; }
  step_view<const T> view() const { return {values.data() + margin, stride()}; }
  step_values to(const device& dev) const {
    step_values copy;
    copy.grid = grid;
    copy.steps = steps;
    copy.values = values.to(dev);
    return copy;
  }
};

/// Puts zeros around the points.
template <class T>
void clear_margins(const device& dev, step_values<T>& values);

/// The diagonal and what stands above it, by steps whose distance ascends from 0. Steps out of the box are zeros.
using stencil_matrix = step_values<double>;

/// A step up or down: the entry of row i in column i + distance is of(diagonal)[i + shift].
struct coupling {
  std::size_t diagonal;
  std::int64_t shift, distance;
  step to;
};
/// So many of them, as kernels take them by value.
struct coupling_list {
  std::size_t count = 0;
  std::array<coupling, most_steps> all{};

  VOUCH_HOST_DEVICE const coupling& operator[](std::size_t w) const { return all[w]; }
  const coupling* begin() const { return all.data(); }
  const coupling* end() const { return all.data() + count; }
};
/// All of them by ascending distance, without the diagonal.
coupling_list couplings_of(const box& grid, const std::vector<step>& steps);

/// Entries that a matrix with these steps has.
std::int64_t entries_of(const box& grid, const std::vector<step>& steps);

/// A matrix as a stencil, or why it is none.
struct found_stencil {
  std::optional<stencil_matrix> matrix;
  std::string why;
};

/// The matrix times a power of two such that its largest diagonal entry is in [1, 2), on the box of at least two directions
/// that its diagonals tell, where it is symmetric and no entry joins the ends of neighbouring lines.
template <real T>
found_stencil find_stencil(const device& dev, csr_view<const T> A, const diagonal_range& range);

// The CUDA sides.
template <class T>
void clear_margins_cuda(const device& dev, step_values<T>& values);
/// Whether the entries fit (stencil_entries.hpp); they are times factor in S then.
template <real T>
bool fill_stencil_cuda(const device& dev, csr_view<const T> A, double factor, stencil_matrix& S);

}  // namespace vouch::multigrid
