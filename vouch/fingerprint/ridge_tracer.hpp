// vouch/fingerprint/ridge_tracer.hpp -- paths that follow the averaged orientations from every place in the middle of a
// print, in both directions, and what their turns say: a whorl has a lobe that is open upwards; private, host and
// device.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint::ridge_tracer {

inline constexpr int first_row = 11, last_row = 46, first_column = 11, last_column = 50;  // where paths start
inline constexpr int start_columns = last_column - first_column + 1,
                     starts = (last_row - first_row + 1) * start_columns;
inline constexpr int most_steps = 200;                                             // in each direction
inline constexpr float most_turn = 40, most_tilt = 45, least_turn_of_a_side = 70;  // degrees

/// The place where the i-th path starts.
VOUCH_HOST_DEVICE constexpr int start_of(int i) {
  return (first_row + i / start_columns) * fine_columns + first_column + i % start_columns;
}

/// One step from a place along its ridge, and its direction; paths end where angle is no_path, as it is all along the
/// border of the grid.
struct place {
  float angle, right, down;
};
inline constexpr float no_path = 1e9F;

/// Whether the middle of a square of the fine grid is foreground; the two outer cells all around never are.
VOUCH_HOST_DEVICE inline bool is_foreground(const std::uint8_t* foreground, int row, int column) {
  const int x = column + 1, y = row + 1;
  return x >= 2 && y >= 2 && x < cell_columns - 2 && y < cell_rows - 2 && foreground[y * cell_columns + x] != 0;
}

/// The mean of the four neighbours, those outside counting as zero; added up in the original's order.
VOUCH_HOST_DEVICE inline float smoothed(const float* from, int row, int column) {
  const float* here = from + row * fine_columns + column;
  const float up = row > 0 ? here[-fine_columns] : 0.0F, down = row + 1 < fine_rows ? here[fine_columns] : 0.0F;
  const float left = column > 0 ? here[-1] : 0.0F, right = column + 1 < fine_columns ? here[1] : 0.0F;
  const bool at_side = column == 0 || column + 1 == fine_columns;
  return 0.25F * (at_side ? left + right + up + down : up + down + left + right);
}
inline constexpr int smoothings = 3;

VOUCH_HOST_DEVICE inline float angle_of(float x, float y) {
  constexpr double half_turn = 28.6479F;
  if (x == 0) return y > 0 ? 45.0F : y < 0 ? 135.0F : 0.0F;
  const double principal = half_turn * std::atan(static_cast<double>(y / x));
  return static_cast<float>(x < 0 ? principal + 90 : y >= 0 ? principal : principal + 180);
}

/// The place of smoothed averages.
VOUCH_HOST_DEVICE inline place place_of(float x, float y, bool foreground) {
  constexpr float least_square = 0.04F;
  constexpr double radians_per_degree = 0.0174533;  // the original's
  if (!foreground || x * x + y * y < least_square) return {no_path, 0, 0};
  const float angle = angle_of(x, y);
  const double direction = static_cast<double>(angle) * radians_per_degree;
  return {angle, static_cast<float>(std::cos(direction)), static_cast<float>(-std::sin(direction))};
}

// From one angle to the next; a ridge has no direction, so that more than a quarter of a circle is less, reversed.
struct change {
  float turn;
  bool reverses;
};

VOUCH_HOST_DEVICE inline change change_between(float before, float here) {
  const float turn = here - before;
  if (turn > 90) return {turn - 180, true};
  if (turn < -90) return {turn + 180, true};
  return {turn, false};
}

/// Follows the ridge in one direction: visit(the place come to, its angle, the one before, the change, whether it was
/// reversed before).
template <class Places, class Visit>
VOUCH_HOST_DEVICE void follow(const Places& places, int start, bool reversed, const Visit& visit) {
  place here = places(start);
  auto y = static_cast<float>(start / fine_columns), x = static_cast<float>(start % fine_columns);
  float right = reversed ? -0.5F * here.right : 0.5F * here.right;
  float down = reversed ? -0.5F * here.down : 0.5F * here.down;
  for (int step = 0; step < most_steps; ++step) {
    y += down;
    x += right;
    const int at = static_cast<int>(static_cast<double>(y) + 0.5) * fine_columns +
                   static_cast<int>(static_cast<double>(x) + 0.5);
    const float before = here.angle;
    here = places(at);
    const change c = change_between(before, here.angle);
    if (std::fabs(c.turn) > most_turn) return;
    visit(at, here.angle, before, c, reversed);
    reversed = reversed != c.reverses;
    right = reversed ? -here.right : here.right;
    down = reversed ? -here.down : here.down;
  }
}

/// Looks for a lobe that is open upwards among the corners of a path, in their order: turns of one sign, by 70 degrees
/// on either side of the sharpest of those that head to the right side.
class lobe_finder {
 public:
  bool found = false;

  /// Turns that are counter-clockwise are positive; direction is that behind the corner.
  VOUCH_HOST_DEVICE void add(float turn, float direction) {
    if (corners_ == 0 || (turn >= 0) != left_) {
      end();
      left_ = turn >= 0;
      corners_ = 1;
      turned_ = left_ ? turn : -turn;
      sharpest_ = -1;
      return;
    }
    const bool heads_right = direction < 90 || direction > 270, heads_left = direction > 90 && direction < 270;
    const float by = left_ ? turn : -turn;
    if ((left_ ? heads_right : heads_left) && std::fabs(turn) > sharpest_) {
      sharpest_ = std::fabs(turn);
      vertex_direction_ = direction - 0.5F * turn;
      before_vertex_ = turned_;
      behind_vertex_ = 0;
    } else {
      behind_vertex_ += by;
    }
    turned_ += by;
    ++corners_;
  }
  /// The turns of one sign end here.
  VOUCH_HOST_DEVICE void end() { found = found || is_open_upwards(); }

 private:
  VOUCH_HOST_DEVICE bool is_open_upwards() const {
    if (corners_ < 3 || sharpest_ < 0 || !is_level()) return false;
    return before_vertex_ >= least_turn_of_a_side && behind_vertex_ >= least_turn_of_a_side;
  }
  VOUCH_HOST_DEVICE bool is_level() const {
    float direction = vertex_direction_;
    if (left_) {
      if (direction < 0) direction += 360;
      return !(direction > most_tilt && 360 - static_cast<double>(direction) > most_tilt);
    }
    if (direction > 360) direction -= 360;
    return !(direction < 180 - most_tilt || direction > 180 + most_tilt);
  }

  int corners_ = 0;
  bool left_ = false;
  float turned_ = 0, sharpest_ = -1;
  float vertex_direction_ = 0, before_vertex_ = 0, behind_vertex_ = 0;
};

/// Whether the path through a place has such a lobe.
template <class Places>
VOUCH_HOST_DEVICE bool has_lobe(const Places& places, int start) {
  if (places(start).angle == no_path) return false;
  // Backwards first: its steps are corners from the last to the first, entered the other way round.
  constexpr int reversed_bit = 1 << 15;
  std::uint16_t back[most_steps];
  int steps = 0;
  follow(places, start, false, [&](int at, float, float, change, bool was_reversed) {
    back[steps++] = static_cast<std::uint16_t>(was_reversed ? at | reversed_bit : at);
  });
  lobe_finder finder;
  float here = steps > 0 ? places(back[steps - 1] & ~reversed_bit).angle : 0;
  for (int i = steps - 1; i >= 0; --i) {
    const float before = places(i > 0 ? back[i - 1] & ~reversed_bit : start).angle;
    finder.add(-change_between(before, here).turn, back[i] & reversed_bit ? before : before + 180);
    here = before;
  }
  follow(places, start, true, [&](int, float there, float, change c, bool was_reversed) {
    finder.add(c.turn, was_reversed != c.reverses ? there + 180 : there);
  });
  finder.end();
  return finder.found;
}

}  // namespace vouch::fingerprint::ridge_tracer
