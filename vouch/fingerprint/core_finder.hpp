// vouch/fingerprint/core_finder.hpp -- the core of a print by Wegstein's R92; private, host and device.
//
// Places where the ridges turn from falling to rising are collected from the top of the print down; what lies around
// them tells which is the core.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <vouch/core/types.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint::core_finder {

inline constexpr float undefined = 100;  // an angle; all others are from -90 to 90
inline constexpr int last = 29;          // column or row that is looked at

VOUCH_HOST_DEVICE inline bool defined(float angle) { return angle < 99; }

/// The angle of the ridges of a square in degrees from level.
VOUCH_HOST_DEVICE inline float angle_of_ridges(float x, float y) {
  constexpr float least_square = 0.01F;
  constexpr auto half_turn = static_cast<float>(90.0 / 3.14159);  // the original's pi
  if (x * x + y * y < least_square) return undefined;
  if (x == 0) return y < 0 ? -45.0F : y == 0 ? 0.0F : 45.0F;
  const double principal = static_cast<double>(half_turn) * std::atan(static_cast<double>(y / x));
  if (x > 0) return static_cast<float>(principal);
  if (y == 0) return 90;
  return static_cast<float>(y < 0 ? principal - 90 : principal + 90);
}

/// Angles by rows and columns from 1 to 32; the averages' first square is (2, 2), and around them nothing is defined.
class angle_grid {
 public:
  static constexpr int side = 32, size = side * side;
  VOUCH_HOST_DEVICE explicit angle_grid(const float* angles) : at_(angles) {}
  VOUCH_HOST_DEVICE float operator()(int row, int column) const { return at_[(row - 1) * side + column - 1]; }

  /// The i-th of the grid's angles.
  VOUCH_HOST_DEVICE static float angle(const float* averages, int i) {
    const int row = i / side - 1, column = i % side - 1;
    if (row < 0 || row >= grid_rows || column < 0 || column >= grid_columns) return undefined;
    const int square = row * grid_columns + column;
    return angle_of_ridges(averages[square], averages[grid_size + square]);
  }

 private:
  const float* at_;
};

// A place where the angle changes its sign between a column and the next.
struct turn {
  int row = 0;
  int column = 0;
  int column_below = 0;       // where it does so in the next row, or 0
  float inner_and_outer = 0;  // sums of four and of two angles around the place
  int fall = 0;               // by how much the row below is steeper
  float steepest = 0;         // sums of four angles in the row below
  float flattest = 0;
  bool candidate = false;
  float around = 0;  // the sum of ten angles around it, where arches are looked for
};

/// As many as there can be: from one to the next the angle rises above zero again.
struct turn_list {
  static constexpr int most = 29 * 14;
  turn at[most];
  int size = 0;
};

VOUCH_HOST_DEVICE inline bool side_by_side(const turn& a, const turn& b) {
  return std::abs(a.column - b.column) <= 1 && b.row - a.row <= 1;
}

VOUCH_HOST_DEVICE inline int arch_score(float m, float a, float b, float c, float d, float n) {
  int score = 0;
  if (a > 0) score += 1 + (m - a > 0);
  score += m > 0;
  score += m - b > 0;
  score += a - b > 0;
  if (d < 0) score += 1 + (d - n > 0);
  score += n < 0;
  score += c - n > 0;
  score += c - d > 0;
  return score;
}

// Whether the row above has a turn within a column of this one.
VOUCH_HOST_DEVICE inline bool turns_above(const angle_grid& angle, int row, int column) {
  for (int j = column - 1; j <= column + 1; ++j)
    if (angle(row - 1, j) >= 0 && defined(angle(row - 1, j)) && angle(row - 1, j + 1) < 0) return true;
  return false;
}

enum class below { no_turn, turns, undefined_there };

VOUCH_HOST_DEVICE inline below look_below(const angle_grid& angle, int row, int column, int& where) {
  for (int j = column - 1; j <= column + 1; ++j) {
    const float left = angle(row + 1, j), right = angle(row + 1, j + 1);
    if (left < 0) continue;
    if (!defined(left)) return below::undefined_there;
    if (right < 0) {
      where = j;
      return below::turns;
    }
    if (!defined(right)) return below::undefined_there;
  }
  return below::no_turn;
}

// Sums of four neighbouring angles of the row below, from left to right past the place.
VOUCH_HOST_DEVICE inline void measure_row_below(const angle_grid& angle, turn& t, float& highest,
                                                float& lowest) {
  for (int first = std::max(1, t.column - 3);; ++first) {
    float sum = 0;
    bool whole = true;
    for (int j = first; j <= first + 3 && whole; ++j) {
      whole = defined(angle(t.row + 1, j));
      if (whole) sum += std::fabs(angle(t.row + 1, j));
    }
    if (whole) {
      lowest = std::min(lowest, sum);
      highest = std::max(highest, sum);
    }
    if (first >= t.column + 1 || first + 3 >= last) return;
  }
}

VOUCH_HOST_DEVICE inline bool turn_at(const angle_grid& angle, int row, int column, turn& t,
                                      bool& goes_on_below) {
  constexpr float most_inner = 111, least_outer = 45;
  constexpr int least_score = 8;
  const float b = angle(row, column);
  if (!(b >= 0) || !defined(b)) return false;
  const float m = angle(row, column - 2), a = angle(row, column - 1), c = angle(row, column + 1),
              d = angle(row, column + 2), n = angle(row, column + 3);
  if (c >= 0 || !defined(a) || !defined(d) || !defined(n) || !defined(m)) return false;
  const float inner = std::fabs(b) + std::fabs(c);
  const float outer = inner + std::fabs(a) + std::fabs(d);
  if (inner > most_inner || outer < least_outer || arch_score(m, a, b, c, d, n) < least_score) return false;
  if (row + 1 > last) return false;
  t.row = row;
  t.column = column;
  t.inner_and_outer = outer;
  const below found = look_below(angle, row, column, t.column_below);
  if (found == below::no_turn && !turns_above(angle, row, column)) return false;
  goes_on_below = found != below::undefined_there;
  return true;
}

VOUCH_HOST_DEVICE inline void judge(const angle_grid& angle, turn& t) {
  constexpr float least_flattest = 76, least_steepest = 176;
  constexpr int least_fall = 73;
  float highest = 0, lowest = 360;
  measure_row_below(angle, t, highest, lowest);
  if (highest <= 0) return;
  t.fall = static_cast<int>(highest - t.inner_and_outer);
  t.candidate = lowest >= least_flattest && t.fall >= least_fall && highest >= least_steepest;
  t.steepest = highest;
  t.flattest = lowest;
}

VOUCH_HOST_DEVICE inline void find_turns(const angle_grid& angle, turn_list& turns) {
  constexpr int first_column = 3, rows_below_a_pair = 10;
  int bottom = 30;
  turns.size = 0;
  for (int row = 2; row <= 30 && row - 1 <= bottom; ++row)
    for (int column = first_column; column <= last; ++column) {
      bool goes_on_below = false;
      turn t;
      if (!turn_at(angle, row, column, t, goes_on_below)) continue;
      if (goes_on_below) {
        const turn* last_turn = turns.size > 0 ? &turns.at[turns.size - 1] : nullptr;
        if (bottom == 30 && last_turn != nullptr && row - last_turn->row == 1 &&
            std::abs(column - last_turn->column) <= 1)
          bottom = std::min(row + rows_below_a_pair, 30);
        judge(angle, t);
      }
      turns.at[turns.size++] = t;
    }
}

// The lowest turn with much steeper ridges below it, or -1.
VOUCH_HOST_DEVICE inline int lowest_candidate(const turn_list& turns) {
  for (int k = turns.size; k-- > 0;)
    if (turns.at[k].candidate) return k;
  return -1;
}

// Two turns that are no steeper than a half follow side by side.
VOUCH_HOST_DEVICE inline bool an_arch_follows(const turn_list& turns, int k) {
  constexpr float most_outer = 180;
  return k + 2 < turns.size && side_by_side(turns.at[k], turns.at[k + 1]) &&
         side_by_side(turns.at[k + 1], turns.at[k + 2]) && turns.at[k + 1].inner_and_outer < most_outer &&
         turns.at[k + 2].inner_and_outer < most_outer;
}

VOUCH_HOST_DEVICE inline bool few_upright_below(const angle_grid& angle, const turn& t) {
  constexpr int rows = 9, columns = 3, most = 3;
  constexpr float upright = 75;
  const int bottom = std::max(std::min(t.row + rows, 30), t.row + 1);
  int count = 0;
  for (int row = t.row + 1; row <= bottom; ++row)
    for (int column = std::max(t.column - columns + 1, 1); column <= std::min(t.column + columns, int{last});
         ++column)
      count += std::fabs(angle(row, column)) >= upright && defined(angle(row, column));
  return count <= most;
}

// The turn with the steepest ridges at its sides, of those that have neighbours, or -1.
VOUCH_HOST_DEVICE inline int arch(const angle_grid& angle, turn_list& turns) {
  constexpr float least_flattest = 50, least_steepest = 100;
  constexpr int side = 4;
  float most = 0;
  int best = -1;
  for (int k = 1; k < turns.size; ++k) {
    turn& t = turns.at[k];
    const bool neighbour =
        side_by_side(turns.at[k - 1], t) || (k + 1 < turns.size && side_by_side(t, turns.at[k + 1]));
    if (!neighbour || t.flattest < least_flattest || t.steepest < least_steepest) continue;
    const int left = t.column - side, right = t.column + 1 + side;
    if (left < 1 || right > last) continue;
    float sum = 0;
    bool whole = true;
    for (int column = left; column <= right && whole; ++column) {
      whole = defined(angle(t.row, column));
      if (whole) sum += std::fabs(angle(t.row, column));
    }
    if (!whole) continue;
    t.around = sum;
    if (sum >= most) {
      most = sum;
      best = k;
    }
  }
  if (best < 0 || most == 0 || !few_upright_below(angle, turns.at[best])) return -1;
  return best;
}

// Where between two columns the angle is zero, in pixels.
VOUCH_HOST_DEVICE inline float crossing(const angle_grid& angle, int row, int column) {
  const float left = angle(row, column), right = angle(row, column + 1);
  return 16 * left / (left - right) + static_cast<float>(column - 1) * 16 + 8.5F;
}

VOUCH_HOST_DEVICE inline pixel core_of_arch(const angle_grid& angle, const turn_list& turns, int k) {
  const turn& t = turns.at[k];
  const auto middle_of = [](int row) { return static_cast<float>(row) * 16 + 8.5F; };
  float above = 0, below = 0;
  if (k + 1 < turns.size) {
    above = middle_of(t.row) * turns.at[k + 1].around;
    below = turns.at[k + 1].around;
  }
  above = above + middle_of(t.row - 1) * t.around + middle_of(t.row - 2) * turns.at[k - 1].around;
  below = below + t.around + turns.at[k - 1].around;
  return {static_cast<int>(crossing(angle, t.row, t.column)), static_cast<int>(above / below)};
}

VOUCH_HOST_DEVICE inline pixel core_of_turn(const angle_grid& angle, const turn& t) {
  constexpr float step = 16, quarter = 90;
  const float change = angle(t.row, t.column) - angle(t.row, t.column + 1);
  const float x = crossing(angle, t.row, t.column);
  const float up = change < quarter ? change * step / quarter : step;
  float x_below = x, down = step;
  if (t.column_below > 0) {
    const float change_below = angle(t.row + 1, t.column_below) - angle(t.row + 1, t.column_below + 1);
    x_below = crossing(angle, t.row + 1, t.column_below);
    down = change_below > quarter ? (change_below - quarter) * step / quarter : 0;
  }
  const float height = (up + down) / 2;
  return {static_cast<int>(height * (x - x_below) / step + x_below),
          static_cast<int>(static_cast<float>(16 * t.row) - height)};
}

VOUCH_HOST_DEVICE inline pixel core_in(const angle_grid& angle, turn_list& turns) {
  constexpr int least_fall = 36;
  find_turns(angle, turns);
  const int lowest = lowest_candidate(turns);
  if (lowest >= 0 && !an_arch_follows(turns, lowest)) return core_of_turn(angle, turns.at[lowest]);
  const int top = arch(angle, turns);
  if (top >= 0) return core_of_arch(angle, turns, top);
  if (lowest >= 0) return core_of_turn(angle, turns.at[lowest]);
  for (int k = turns.size; k-- > 0;)
    if (turns.at[k].fall > least_fall) return core_of_turn(angle, turns.at[k]);
  return {snip_width / 2, snip_width / 2};
}

/// The core of a print.
VOUCH_HOST_DEVICE inline pixel core_within(const angle_grid& angle, turn_list& turns) {
  pixel core = core_in(angle, turns);
  if (core.x > snip_width - 16) core.x = snip_width / 2;
  if (core.y > snip_height - 16) core.y = snip_height / 2;
  return core;
}

}  // namespace vouch::fingerprint::core_finder
