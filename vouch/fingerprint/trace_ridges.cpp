// Paths that follow the averaged orientations from every place in the middle of a print, in both directions, and
// what their turns say: a whorl has a lobe that is open upwards.
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {
namespace {

constexpr int first_row = 11, last_row = 46, first_column = 11, last_column = 50;  // where paths start
constexpr int most_steps = 200;                                                    // in each direction
constexpr float most_turn = 40, most_tilt = 45, least_turn_of_a_side = 70;         // degrees

using plane = std::array<float, fine_size>;

// One step from a place along its ridge, and its direction; paths end where angle is no_path, as it is all along the
// border of the grid.
struct place {
  float angle, right, down;
};
constexpr float no_path = 1e9F;

using place_grid = std::array<place, fine_size>;

// Whether the middle of a square of the fine grid is foreground; the two outer cells all around never are.
bool is_foreground(const std::uint8_t* foreground, int row, int column) {
  const int x = column + 1, y = row + 1;
  return x >= 2 && y >= 2 && x < cell_columns - 2 && y < cell_rows - 2 && foreground[y * cell_columns + x] != 0;
}

// The mean of the four neighbours, those outside counting as zero; added up in the original's order.
void smooth(const plane& from, plane& to) {
  const auto at = [&](int row, int column) {
    const bool inside = row >= 0 && row < fine_rows && column >= 0 && column < fine_columns;
    return inside ? from[static_cast<std::size_t>(row * fine_columns + column)] : 0.0F;
  };
  for (int row = 0; row < fine_rows; ++row)
    for (int column = 0; column < fine_columns; ++column) {
      const float up = at(row - 1, column), down = at(row + 1, column);
      const float left = at(row, column - 1), right = at(row, column + 1);
      const bool at_side = column == 0 || column + 1 == fine_columns;
      to[static_cast<std::size_t>(row * fine_columns + column)] =
          0.25F * (at_side ? left + right + up + down : up + down + left + right);
    }
}

float angle_of(float x, float y) {
  constexpr double half_turn = 28.6479F;
  if (x == 0) return y > 0 ? 45.0F : y < 0 ? 135.0F : 0.0F;
  const double principal = half_turn * std::atan(static_cast<double>(y / x));
  return static_cast<float>(x < 0 ? principal + 90 : y >= 0 ? principal : principal + 180);
}

place_grid places_of(const float* averages, const std::uint8_t* foreground) {
  constexpr int smoothings = 3;
  constexpr float least_square = 0.04F;
  constexpr double radians_per_degree = 0.0174533;  // the original's
  plane x, y, next;
  for (int row = 0; row < fine_rows; ++row)
    for (int column = 0; column < fine_columns; ++column) {
      const auto at = static_cast<std::size_t>(row * fine_columns + column);
      const bool kept = is_foreground(foreground, row, column);
      x[at] = kept ? averages[at] : 0.0F;
      y[at] = kept ? averages[fine_size + at] : 0.0F;
    }
  for (int k = 0; k < smoothings; ++k) {
    smooth(x, next);
    x = next;
    smooth(y, next);
    y = next;
  }
  place_grid places;
  for (int row = 0; row < fine_rows; ++row)
    for (int column = 0; column < fine_columns; ++column) {
      const auto at = static_cast<std::size_t>(row * fine_columns + column);
      if (!is_foreground(foreground, row, column) || x[at] * x[at] + y[at] * y[at] < least_square) {
        places[at] = {no_path, 0, 0};
        continue;
      }
      const float angle = angle_of(x[at], y[at]);
      const double direction = static_cast<double>(angle) * radians_per_degree;
      places[at] = {angle, static_cast<float>(std::cos(direction)), static_cast<float>(-std::sin(direction))};
    }
  return places;
}

// Turns at the corners of a path, counter-clockwise ones positive, and the direction behind each.
struct path {
  std::array<float, std::size_t{2} * most_steps> turn, direction;
  int first = most_steps, end = most_steps;
};

// Follows the ridge in one direction: visit(step, turn, direction there, whether reversed there, ... before).
template <class Visit>
void follow(const place_grid& places, int row, int column, bool reversed, const Visit& visit) {
  const place* here = &places[static_cast<std::size_t>(row * fine_columns + column)];
  auto y = static_cast<float>(row), x = static_cast<float>(column);
  float angle = here->angle;
  float right = reversed ? -0.5F * here->right : 0.5F * here->right;
  float down = reversed ? -0.5F * here->down : 0.5F * here->down;
  for (int step = 0; step < most_steps; ++step) {
    y += down;
    x += right;
    const int at = static_cast<int>(static_cast<double>(y) + 0.5) * fine_columns +
                   static_cast<int>(static_cast<double>(x) + 0.5);
    here = &places[static_cast<std::size_t>(at)];
    float turn = here->angle - angle;
    const bool was_reversed = reversed;
    if (turn > 90) {
      turn -= 180;
      reversed = !reversed;
    } else if (turn < -90) {
      turn += 180;
      reversed = !reversed;
    }
    if (std::fabs(turn) > most_turn) return;
    visit(step, turn, angle, here->angle, was_reversed, reversed);
    angle = here->angle;
    right = reversed ? -here->right : here->right;
    down = reversed ? -here->down : here->down;
  }
}

void trace(const place_grid& places, int row, int column, path& p) {
  p.first = p.end = most_steps;
  // Backwards: a step is entered the other way round, in front of the others.
  follow(places, row, column, false, [&](int step, float turn, float before, float, bool was_reversed, bool) {
    p.first = most_steps - 1 - step;
    p.turn[static_cast<std::size_t>(p.first)] = -turn;
    p.direction[static_cast<std::size_t>(p.first)] = was_reversed ? before : before + 180;
  });
  follow(places, row, column, true, [&](int step, float turn, float, float there, bool, bool reversed) {
    const int at = most_steps + step;
    p.turn[static_cast<std::size_t>(at)] = turn;
    p.direction[static_cast<std::size_t>(at)] = reversed ? there + 180 : there;
    p.end = at + 1;
  });
}

// Turns [first, end) have one sign; the sharpest of those that head to the right side is at `vertex`.
bool is_open_upwards(const path& p, int first, int end, bool left, int vertex) {
  if (vertex < 0 || end - first < 3) return false;
  const auto turn = [&](int i) { return p.turn[static_cast<std::size_t>(i)]; };
  float direction = p.direction[static_cast<std::size_t>(vertex)] - 0.5F * turn(vertex);
  if (left) {
    if (direction < 0) direction += 360;
    if (direction > most_tilt && 360 - static_cast<double>(direction) > most_tilt) return false;
  } else {
    if (direction > 360) direction -= 360;
    if (direction < 180 - most_tilt || direction > 180 + most_tilt) return false;
  }
  const auto turned = [&](int from, int to) {
    float sum = 0;
    for (int i = from; i < to; ++i) sum += left ? turn(i) : -turn(i);
    return sum;
  };
  return turned(first, vertex) >= least_turn_of_a_side && turned(vertex + 1, end) >= least_turn_of_a_side;
}

bool has_lobe(const path& p) {
  if (p.end - p.first < 3) return false;
  bool left = p.turn[static_cast<std::size_t>(p.first)] >= 0;
  float sharpest = -1;
  int vertex = -1, start = p.first;
  for (int i = p.first + 1; i < p.end; ++i) {
    const float turn = p.turn[static_cast<std::size_t>(i)],
                direction = p.direction[static_cast<std::size_t>(i)];
    if ((turn >= 0) != left) {
      if (is_open_upwards(p, start, i, left, vertex)) return true;
      left = !left;
      sharpest = -1;
      vertex = -1;
      start = i;
      continue;
    }
    const bool heads_right = direction < 90 || direction > 270, heads_left = direction > 90 && direction < 270;
    if ((left ? heads_right : heads_left) && std::fabs(turn) > sharpest) {
      sharpest = std::fabs(turn);
      vertex = i;
    }
  }
  return is_open_upwards(p, start, p.end, left, vertex);
}

}  // namespace

bool is_whorl(const float* averages, const std::uint8_t* foreground) {
  const place_grid places = places_of(averages, foreground);
  path p;
  for (int row = first_row; row <= last_row; ++row)
    for (int column = first_column; column <= last_column; ++column) {
      if (places[static_cast<std::size_t>(row * fine_columns + column)].angle == no_path) continue;
      trace(places, row, column, p);
      if (has_lobe(p)) return true;
    }
  return false;
}

void trace_ridges(const device& dev, std::span<const float> averages, std::span<const std::uint8_t> foreground,
                  std::span<std::uint8_t> whorls) {
  const ieee_environment here;
  const std::size_t n = whorls.size();
  require_elements("trace_ridges", "averages", averages.size(), n, std::size_t{2} * fine_size);
  require_elements("trace_ridges", "foreground", foreground.size(), n, cells);
  for_each_print(dev, n, [&](std::size_t i) {
    whorls[i] = is_whorl(&averages[i * 2 * fine_size], &foreground[i * cells]);
  });
}

}  // namespace vouch::fingerprint
