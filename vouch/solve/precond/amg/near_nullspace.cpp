#include <vouch/solve/precond/amg/near_nullspace.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch {
namespace multigrid {

void require_usable(const near_nullspace& near, std::int64_t rows) {
  if (near.vectors < 1 || near.vectors > most_vectors)
    throw value_error("amg: a near-nullspace of " + std::to_string(near.vectors) + " vectors",
                      "there are 1 to " + std::to_string(most_vectors));
  if (std::ssize(near.values) != near.vectors * rows)
    throw shape_error("amg: the near-nullspace has " + std::to_string(std::ssize(near.values) / near.vectors) +
                      " rows, the matrix " + std::to_string(rows));
  if (near.unknowns < 0 || (near.unknowns > 0 && rows % near.unknowns != 0))
    throw shape_error("amg: " + std::to_string(rows) + " rows do not make nodes of " +
                      std::to_string(near.unknowns) + " unknowns");
  for (std::int64_t j = 0; j < near.vectors && rows > 0; ++j) {
    const auto begin = near.values.begin() + j * rows, end = begin + rows;
    const auto bad = std::find_if(begin, end, [](double v) { return !std::isfinite(v); });
    if (bad != end)
      throw value_error("amg: vector " + std::to_string(j + 1) +
                        " of the near-nullspace is not finite in row " + std::to_string(bad - begin + 1));
    if (std::all_of(begin, end, [](double v) { return v == 0; }))
      throw value_error("amg: vector " + std::to_string(j + 1) + " of the near-nullspace is zero");
  }
}

array<double> scaled_rows(const near_nullspace& near, const array<double>& factor) {
  const std::vector<double> of_row = factor.to_vector();
  const auto n = std::ssize(of_row);
  std::vector<double> rows(near.values.size());
  for (std::int64_t j = 0; j < near.vectors; ++j) {
    const double* const given = near.values.data() + j * n;
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(given[i]));
    for (std::int64_t i = 0; i < n; ++i)
      rows[static_cast<std::size_t>(i * near.vectors + j)] =
          given[i] / largest * of_row[static_cast<std::size_t>(i)];
  }
  return array<double>::from(factor.where(), rows);
}

near_nullspace translations(std::int64_t rows, std::int64_t unknowns) {
  near_nullspace near{unknowns, unknowns, std::vector<double>(static_cast<std::size_t>(unknowns * rows))};
  for (std::int64_t i = 0; i < rows; ++i) near.values[static_cast<std::size_t>(i % unknowns * rows + i)] = 1;
  return near;
}

}  // namespace multigrid

near_nullspace rigid_body_modes(view<const double> coordinates, int dimension) {
  const ieee_environment here;
  if (dimension != 2 && dimension != 3)
    throw value_error("rigid_body_modes: a dimension of " + std::to_string(dimension), "bodies have 2 or 3");
  if (coordinates.size() % dimension != 0)
    throw shape_error("rigid_body_modes: " + std::to_string(coordinates.size()) +
                      " coordinates do not make nodes of " + std::to_string(dimension));
  const std::int64_t nodes = coordinates.size() / dimension, rows = coordinates.size();
  std::vector<double> place(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) place[static_cast<std::size_t>(i)] = coordinates[i];
  double farthest = 0;
  for (std::int64_t d = 0; d < dimension; ++d) {
    const auto begin = place.begin() + d * nodes, end = begin + nodes;
    const auto bad = std::find_if(begin, end, [](double x) { return !std::isfinite(x); });
    if (bad != end)
      throw value_error("rigid_body_modes: a coordinate of node " + std::to_string(bad - begin + 1) +
                        " is not finite");
    if (nodes == 0) continue;
    const auto [least, most] = std::minmax_element(begin, end);
    const double centre = *least / 2 + *most / 2;
    std::for_each(begin, end, [&](double& x) { x -= centre; });
    for (auto x = begin; x != end; ++x) farthest = std::max(farthest, std::fabs(*x));
  }
  near_nullspace modes = multigrid::translations(rows, dimension);
  const double scale = farthest > 0 ? farthest : 1;
  // In the plane of directions a and b: a moves by -b, b by a. Nodes on the axis do not move.
  constexpr int planes[3][2] = {{0, 1}, {1, 2}, {2, 0}};
  for (int r = 0; r < (dimension == 2 ? 1 : 3); ++r) {
    const auto [a, b] = planes[r];
    std::vector<double> mode(static_cast<std::size_t>(rows));
    for (std::int64_t k = 0; k < nodes; ++k) {
      mode[static_cast<std::size_t>(k * dimension + a)] =
          -place[static_cast<std::size_t>(b * nodes + k)] / scale;
      mode[static_cast<std::size_t>(k * dimension + b)] =
          place[static_cast<std::size_t>(a * nodes + k)] / scale;
    }
    if (std::all_of(mode.begin(), mode.end(), [](double v) { return v == 0; })) continue;
    modes.values.insert(modes.values.end(), mode.begin(), mode.end());
    ++modes.vectors;
  }
  return modes;
}

}  // namespace vouch
