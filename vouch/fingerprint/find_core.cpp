// Wegstein's R92: places where the ridges turn from falling to rising are collected from the top of the print down;
// what lies around them tells which is the core.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {
namespace {

constexpr float undefined = 100;  // an angle; all others are from -90 to 90
constexpr int last = 29;          // column or row that is looked at

bool defined(float angle) { return angle < 99; }

// Angles of ridges in degrees from level, rows and columns from 1; the averages' first square is (2, 2).
class angle_grid {
 public:
  explicit angle_grid(const float* averages) {
    for (auto& row : at_) row.fill(undefined);
    for (int row = 0; row < grid_rows; ++row)
      for (int column = 0; column < grid_columns; ++column) {
        const int at = row * grid_columns + column;
        at_[static_cast<std::size_t>(row + 1)][static_cast<std::size_t>(column + 1)] =
            angle_of(averages[at], averages[grid_size + at]);
      }
  }
  float operator()(int row, int column) const {
    return at_[static_cast<std::size_t>(row - 1)][static_cast<std::size_t>(column - 1)];
  }

 private:
  static float angle_of(float x, float y) {
    constexpr float least_square = 0.01F;
    constexpr auto half_turn = static_cast<float>(90.0 / 3.14159);  // the original's pi
    if (x * x + y * y < least_square) return undefined;
    if (x == 0) return y < 0 ? -45.0F : y == 0 ? 0.0F : 45.0F;
    const double principal = static_cast<double>(half_turn) * std::atan(static_cast<double>(y / x));
    if (x > 0) return static_cast<float>(principal);
    if (y == 0) return 90;
    return static_cast<float>(y < 0 ? principal - 90 : principal + 90);
  }

  std::array<std::array<float, 32>, 32> at_;
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

bool side_by_side(const turn& a, const turn& b) {
  return std::abs(a.column - b.column) <= 1 && b.row - a.row <= 1;
}

int arch_score(float m, float a, float b, float c, float d, float n) {
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
bool turns_above(const angle_grid& angle, int row, int column) {
  for (int j = column - 1; j <= column + 1; ++j)
    if (angle(row - 1, j) >= 0 && defined(angle(row - 1, j)) && angle(row - 1, j + 1) < 0) return true;
  return false;
}

enum class below { no_turn, turns, undefined_there };

below look_below(const angle_grid& angle, int row, int column, int& where) {
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
void measure_row_below(const angle_grid& angle, turn& t, float& highest, float& lowest) {
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

std::optional<turn> turn_at(const angle_grid& angle, int row, int column, bool& goes_on_below) {
  constexpr float most_inner = 111, least_outer = 45;
  constexpr int least_score = 8;
  const float b = angle(row, column);
  if (!(b >= 0) || !defined(b)) return std::nullopt;
  const float m = angle(row, column - 2), a = angle(row, column - 1), c = angle(row, column + 1),
              d = angle(row, column + 2), n = angle(row, column + 3);
  if (c >= 0 || !defined(a) || !defined(d) || !defined(n) || !defined(m)) return std::nullopt;
  const float inner = std::fabs(b) + std::fabs(c);
  const float outer = inner + std::fabs(a) + std::fabs(d);
  if (inner > most_inner || outer < least_outer || arch_score(m, a, b, c, d, n) < least_score)
    return std::nullopt;
  if (row + 1 > last) return std::nullopt;
  turn t;
  t.row = row;
  t.column = column;
  t.inner_and_outer = outer;
  const below found = look_below(angle, row, column, t.column_below);
  if (found == below::no_turn && !turns_above(angle, row, column)) return std::nullopt;
  goes_on_below = found != below::undefined_there;
  return t;
}

void judge(const angle_grid& angle, turn& t) {
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

std::vector<turn> all_turns(const angle_grid& angle) {
  constexpr int first_column = 3, rows_below_a_pair = 10;
  int bottom = 30;
  std::vector<turn> turns;
  for (int row = 2; row <= 30 && row - 1 <= bottom; ++row)
    for (int column = first_column; column <= last; ++column) {
      bool goes_on_below = false;
      std::optional<turn> t = turn_at(angle, row, column, goes_on_below);
      if (!t) continue;
      if (goes_on_below) {
        if (bottom == 30 && !turns.empty() && row - turns.back().row == 1 &&
            std::abs(column - turns.back().column) <= 1)
          bottom = std::min(row + rows_below_a_pair, 30);
        judge(angle, *t);
      }
      turns.push_back(*t);
    }
  return turns;
}

// The lowest turn with much steeper ridges below it. None where two turns that are no steeper than a half follow it
// side by side: an arch may be there.
std::optional<std::size_t> lowest_candidate(const std::vector<turn>& turns) {
  for (std::size_t k = turns.size(); k-- > 0;)
    if (turns[k].candidate) return k;
  return std::nullopt;
}

bool an_arch_follows(const std::vector<turn>& turns, std::size_t k) {
  constexpr float most_outer = 180;
  return k + 2 < turns.size() && side_by_side(turns[k], turns[k + 1]) &&
         side_by_side(turns[k + 1], turns[k + 2]) && turns[k + 1].inner_and_outer < most_outer &&
         turns[k + 2].inner_and_outer < most_outer;
}

bool few_upright_below(const angle_grid& angle, const turn& t) {
  constexpr int rows = 9, columns = 3, most = 3;
  constexpr float upright = 75;
  const int bottom = std::max(std::min(t.row + rows, 30), t.row + 1);
  int count = 0;
  for (int row = t.row + 1; row <= bottom; ++row)
    for (int column = std::max(t.column - columns + 1, 1); column <= std::min(t.column + columns, last);
         ++column)
      count += std::fabs(angle(row, column)) >= upright && defined(angle(row, column));
  return count <= most;
}

// The turn with the steepest ridges at its sides, of those that have neighbours.
std::optional<std::size_t> arch(const angle_grid& angle, std::vector<turn>& turns) {
  constexpr float least_flattest = 50, least_steepest = 100;
  constexpr int side = 4;
  float most = 0;
  std::optional<std::size_t> best;
  for (std::size_t k = 1; k < turns.size(); ++k) {
    turn& t = turns[k];
    const bool neighbour =
        side_by_side(turns[k - 1], t) || (k + 1 < turns.size() && side_by_side(t, turns[k + 1]));
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
  if (!best || most == 0 || !few_upright_below(angle, turns[*best])) return std::nullopt;
  return best;
}

// Where between two columns the angle is zero, in pixels.
float crossing(const angle_grid& angle, int row, int column) {
  const float left = angle(row, column), right = angle(row, column + 1);
  return 16 * left / (left - right) + static_cast<float>(column - 1) * 16 + 8.5F;
}

pixel core_of_arch(const angle_grid& angle, const std::vector<turn>& turns, std::size_t k) {
  const turn& t = turns[k];
  const auto middle_of = [](int row) { return static_cast<float>(row) * 16 + 8.5F; };
  float above = 0, below = 0;
  if (k + 1 < turns.size()) {
    above = middle_of(t.row) * turns[k + 1].around;
    below = turns[k + 1].around;
  }
  above = above + middle_of(t.row - 1) * t.around + middle_of(t.row - 2) * turns[k - 1].around;
  below = below + t.around + turns[k - 1].around;
  return {static_cast<int>(crossing(angle, t.row, t.column)), static_cast<int>(above / below)};
}

pixel core_of_turn(const angle_grid& angle, const turn& t) {
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

pixel core_in(const angle_grid& angle) {
  constexpr int least_fall = 36;
  std::vector<turn> turns = all_turns(angle);
  const auto lowest = lowest_candidate(turns);
  if (lowest && !an_arch_follows(turns, *lowest)) return core_of_turn(angle, turns[*lowest]);
  if (const auto top = arch(angle, turns)) return core_of_arch(angle, turns, *top);
  if (lowest) return core_of_turn(angle, turns[*lowest]);
  for (std::size_t k = turns.size(); k-- > 0;)
    if (turns[k].fall > least_fall) return core_of_turn(angle, turns[k]);
  return {snip_width / 2, snip_width / 2};
}

}  // namespace

pixel core_of_print(const float* averages) {
  pixel core = core_in(angle_grid(averages));
  if (core.x > snip_width - 16) core.x = snip_width / 2;
  if (core.y > snip_height - 16) core.y = snip_height / 2;
  return core;
}

void find_cores(const device& dev, std::span<const float> averages, std::span<pixel> cores) {
  const ieee_environment here;
  const std::size_t n = prints_in("find_cores", "averages", averages.size(), orientation_size);
  require_elements("find_cores", "cores", cores.size(), n, 1);
  for_each_print(dev, n, [&](std::size_t i) { cores[i] = core_of_print(&averages[i * orientation_size]); });
}

}  // namespace vouch::fingerprint
