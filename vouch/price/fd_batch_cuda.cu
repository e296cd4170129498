#include <cmath>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/fd_batch.hpp>

namespace vouch {
namespace {

constexpr unsigned all_lanes = ~0u;
constexpr int warps = 4;  // of a block
constexpr int most_levels = 5;
constexpr double unreachable = -1e300;

// The grid of make_grid and the operator of make_operator for one option, the same for all lanes. Row 0 is the
// node where early exercise is never: the last one of a put.
struct setting {
  double low, spacing, strike, sign;
  double below, above;  // a and c of the operator, in the order of rows
  bool reversed;

  __device__ setting(const plain_option& o, int nodes) {
    const double root = std::sqrt(o.expiry), deviation = o.volatility * root;
    const double drift = std::abs((o.rate - o.dividend) * o.expiry - 0.5 * deviation * deviation);
    const double margin = fmax(6.5 * deviation + drift, 1e-4), s = std::log(o.spot), k = std::log(o.strike);
    low = fmin(s, k) - margin;
    double high = fmax(s, k) + margin;
    const double cells = nodes - 1;
    const double before = fmax(floor((k - low) / (high - low) * cells), 0.0) + 0.5;
    high = low + (k - low) / before * cells;
    spacing = (high - low) / cells;
    strike = o.strike;
    sign = o.type == option_type::call ? 1 : -1;
    const double diffusion = 0.5 * o.volatility * o.volatility / (spacing * spacing);
    const double flow = o.rate - o.dividend - 0.5 * o.volatility * o.volatility;
    double a = diffusion - 0.5 * flow / spacing, c = diffusion + 0.5 * flow / spacing;
    if (a < 0 || c < 0) {
      a = diffusion + fmax(-flow, 0.0) / spacing;
      c = diffusion + fmax(flow, 0.0) / spacing;
    }
    reversed = o.type == option_type::put;
    below = reversed ? c : a;
    above = reversed ? a : c;
  }
  __device__ double spot_of(int row, int nodes) const {
    return std::exp(low + spacing * (reversed ? nodes - 1 - row : row));
  }
  __device__ double payoff(int row, int nodes) const {
    return fmax(sign * (spot_of(row, nodes) - strike), 0.0);
  }
};

// The value at one end of the grid: as of the linear function far out, or of exercise where that is more.
struct end_value {
  double slope, constant, slope_factor, constant_factor, exercise, value;

  __device__ double pass() {
    slope *= slope_factor;
    constant *= constant_factor;
    value = fmax(slope + constant, exercise);
    return value;
  }
};

// x -> max(a x + b, c), a >= 0.
struct clipped {
  double b, c;
};

// A warp's option: lane l has rows l * Rows to l * Rows + Rows - 1 in registers.
template <int Rows, bool American>
class warp_march {
 public:
  static constexpr int nodes = 32 * Rows;
  static constexpr int shared_doubles = 32 * (Rows + 2 * most_levels);

  __device__ warp_march(const batch_option& option, double* shared)
      : o_(option.option), grid_(o_, nodes), lane_(static_cast<int>(threadIdx.x) % 32), shared_(shared) {
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      v_[j] = grid_.payoff(lane_ * Rows + j, nodes);
      shared_[j * 32 + lane_] = v_[j];
    }
    // Row 0 is never exercised beyond, the last row is in the money: there the value is sign (S - K).
    const double s = grid_.spot_of(nodes - 1, nodes);
    last_ = {grid_.sign * s,
             -grid_.sign * o_.strike,
             1,
             1,
             American ? grid_.sign * (s - o_.strike) : unreachable,
             0};
    last_.value = fmax(last_.slope + last_.constant, last_.exercise);
    if (lane_ == 31) v_[Rows - 1] = last_.value;
    if (lane_ == 0) v_[0] = 0;
  }

  __device__ void run(const detail::batch_piece& piece) {
    const double length = piece.length * o_.expiry;
    factor(0.5 * length);
    std::int64_t steps = piece.steps;
    if (piece.damped) {
      end_factors(0.5 * length);
      for (int k = 0; k < 4; ++k) step(1);
      steps -= 2;
    }
    end_factors(length);
    for (; steps > 0; --steps) step(2);
  }

  // Lane 0 gets the valuation: a polynomial through six nodes, as evaluate() does.
  __device__ valuation result() {
    __syncwarp();
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      const int row = lane_ * Rows + j;
      shared_[grid_.reversed ? nodes - 1 - row : row] = v_[j];
    }
    __syncwarp();
    if (lane_ != 0) return {};
    const double at = (std::log(o_.spot) - grid_.low) / grid_.spacing;
    int first = static_cast<int>(floor(at)) + 1 - 3;
    first = first < 0 ? 0 : first > nodes - 6 ? nodes - 6 : first;
    double d[6];
    for (int k = 0; k < 6; ++k) d[k] = shared_[first + k];
    for (int order = 1; order < 6; ++order)
      for (int k = 5; k >= order; --k) d[k] = (d[k] - d[k - 1]) / order;
    double p = d[5], p1 = 0, p2 = 0;
    for (int k = 4; k >= 0; --k) {
      const double x = at - (first + k);
      p2 = p2 * x + 2 * p1;
      p1 = p1 * x + p;
      p = p * x + d[k];
    }
    p1 /= grid_.spacing;
    p2 /= grid_.spacing * grid_.spacing;
    valuation v{p, p1 / o_.spot, (p2 - p1) / (o_.spot * o_.spot), 0, 0, 0};
    const bool exercised = American && p <= fmax(grid_.sign * (o_.spot - o_.strike), 0.0) * (1 + 1e-10);
    if (!exercised)
      v.theta = o_.rate * v.price - (o_.rate - o_.dividend) * o_.spot * v.delta -
                0.5 * o_.volatility * o_.volatility * o_.spot * o_.spot * v.gamma;
    return v;
  }

 private:
  // The pivots of a matrix with constant diagonals, by the roots of their recurrence; then what lanes owe to
  // each other, over 1, 2, 4, ... lanes, as far as it is not lost in rounding.
  __device__ void factor(double implicit) {
    lower_ = -implicit * grid_.below;
    upper_ = -implicit * grid_.above;
    const double centre = 1 + implicit * (grid_.below + grid_.above + o_.rate);
    const double root = 0.5 * (centre + std::sqrt(centre * centre - 4 * lower_ * upper_));
    const double ratio = lower_ * upper_ / (root * root);  // below 1: of the smaller root to the larger
    double power = std::pow(ratio, static_cast<double>(lane_ * Rows));
    double up = 1, down = 1;
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      const double next = power * ratio;
      const bool end = (lane_ == 0 && j == 0) || (lane_ == 31 && j == Rows - 1);
      inverse_[j] = end ? 1.0 : (1 - power) / (root * (1 - next));
      up *= end ? 0.0 : -lower_ * inverse_[j];
      down *= end ? 0.0 : -upper_ * inverse_[j];
      power = next;
    }
    const double slowest = fmax(std::abs(lower_), std::abs(upper_)) / root;
    double left = std::pow(slowest, static_cast<double>(Rows));
    levels_ = 0;
#pragma unroll
    for (int level = 0; level < most_levels; ++level) {
      if (left > 1e-19) levels_ = level + 1;
      left *= left;
      over_up(level) = lane_ >= 1 << level ? up : 0;
      over_down(level) = lane_ + (1 << level) < 32 ? down : 0;
      up *= __shfl_up_sync(all_lanes, up, 1 << level);
      down *= __shfl_down_sync(all_lanes, down, 1 << level);
    }
  }

  // What a carry is multiplied by over 1, 2, 4, ... lanes.
  __device__ double& over_up(int level) const { return shared_[(Rows + level) * 32 + lane_]; }
  __device__ double& over_down(int level) const { return shared_[(Rows + most_levels + level) * 32 + lane_]; }

  __device__ void end_factors(double length) {
    last_.slope_factor = std::exp(-o_.dividend * length);
    last_.constant_factor = std::exp(-o_.rate * length);
  }

  // Substitution in the lane from what comes in at row Rows - 1; m is the multiplier of row j.
  __device__ double multiplier(int j) const {
    const bool end = (lane_ == 0 && j == 0) || (lane_ == 31 && j == Rows - 1);
    return end ? 0.0 : -upper_ * inverse_[j];
  }

  // V := ratio W - (ratio - 1) V.
  __device__ void step(int ratio) {
    const double rest = ratio - 1, share = 1.0 / ratio;
    const double old = last_.value, side = share * (last_.pass() + rest * old);
    // Elimination twice: for what the lane hands on, then with what it got.
    double t = 0;
#pragma unroll
    for (int j = 0; j < Rows; ++j) t = inverse_[j] * fma(-lower_, t, v_[j]);
#pragma unroll
    for (int level = 0; level < most_levels; ++level)
      if (level < levels_) t = fma(over_up(level), __shfl_up_sync(all_lanes, t, 1 << level), t);
    t = __shfl_up_sync(all_lanes, t, 1);
    if (lane_ == 0) t = 0;
    double y[Rows];
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      t = inverse_[j] * fma(-lower_, t, v_[j]);
      if (j == Rows - 1 && lane_ == 31) t = side;
      y[j] = t;
    }
    double w = American ? constrained_from_behind(y, rest, share) : free_from_behind(y);
#pragma unroll
    for (int j = Rows - 1; j >= 0; --j) {
      w = fma(multiplier(j), w, y[j]);
      if constexpr (American) w = fmax(w, floor_of(j, rest, share));
      v_[j] = fma(static_cast<double>(ratio), w, -rest * v_[j]);
    }
  }

  __device__ double floor_of(int j, double rest, double share) const {
    const bool end = (lane_ == 0 && j == 0) || (lane_ == 31 && j == Rows - 1);
    return end ? unreachable : share * fma(rest, v_[j], shared_[j * 32 + lane_]);
  }

  __device__ double free_from_behind(const double (&y)[Rows]) const {
    double w = 0;
#pragma unroll
    for (int j = Rows - 1; j >= 0; --j) w = fma(multiplier(j), w, y[j]);
#pragma unroll
    for (int level = 0; level < most_levels; ++level)
      if (level < levels_) w = fma(over_down(level), __shfl_down_sync(all_lanes, w, 1 << level), w);
    w = __shfl_down_sync(all_lanes, w, 1);
    return lane_ == 31 ? 0 : w;
  }

  // Substitution with W >= floor is x -> max(a x + b, c) for a row, and so for all rows of a lane: such
  // functions are closed under composition, and a scan composes those of the lanes behind.
  __device__ double constrained_from_behind(const double (&y)[Rows], double rest, double share) const {
    clipped f{0, unreachable};
#pragma unroll
    for (int j = Rows - 1; j >= 0; --j) {
      const double m = multiplier(j), floor = floor_of(j, rest, share);
      f.b = fma(m, f.b, y[j]);
      f.c = fmax(fma(m, f.c, y[j]), floor);
    }
#pragma unroll
    for (int level = 0; level < most_levels; ++level) {
      if (level >= levels_) break;
      const double b = __shfl_down_sync(all_lanes, f.b, 1 << level),
                   c = __shfl_down_sync(all_lanes, f.c, 1 << level);
      if (lane_ + (1 << level) < 32) {
        f.c = fmax(fma(over_down(level), c, f.b), f.c);
        f.b = fma(over_down(level), b, f.b);
      }
    }
    const double w = __shfl_down_sync(all_lanes, fmax(f.b, f.c), 1);
    return lane_ == 31 ? 0 : w;
  }

  plain_option o_;
  setting grid_;
  int lane_;
  double* shared_;  // the payoff, row j of lane l at j * 32 + l; behind it the factors of over_up and over_down
  end_value last_;
  double lower_ = 0, upper_ = 0;
  double inverse_[Rows], v_[Rows];
  int levels_ = 0;
};

// A warp has one option from its expiry to now: V, the pivots and the solution in registers, the payoff in
// shared memory; no barrier but the warp's shuffles. Bound by the FP64 units: about 16 operations a row and
// step.
template <int Rows, bool American>
__global__ void __launch_bounds__(32 * warps, Rows <= 16 ? 3 : 2)
    march_batch(const batch_option* options, const std::int32_t* which, std::int64_t count,
                const __grid_constant__ detail::batch_pieces pieces, valuation* values) {
  extern __shared__ double shared[];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t at = std::int64_t{blockIdx.x} * warps + warp;
  if (at >= count) return;  // whole warps leave together
  warp_march<Rows, American> march(options[which[at]],
                                   shared + warp * warp_march<Rows, American>::shared_doubles);
  for (int k = 0; k < pieces.count; ++k) march.run(pieces.piece[k]);
  const valuation v = march.result();
  if (threadIdx.x % 32 == 0) values[which[at]] = v;
}

template <int Rows, bool American>
void run_batch(const device& dev, const array<batch_option>& options, const std::vector<std::int32_t>& which,
               std::int64_t steps, array<valuation>& values) {
  const auto list = array<std::int32_t>::from(dev, which);
  const auto count = static_cast<std::int64_t>(which.size());
  launch(dev, "march_batch",
         {ceil_div<std::int64_t>(count, warps), 32 * warps,
          sizeof(double) * warp_march<Rows, American>::shared_doubles * warps},
         march_batch<Rows, American>, options.data(), list.data(), count, detail::pieces_of(American, steps),
         values.data());
  dev.synchronize();  // the list goes
}

template <int Rows>
void run_both(const device& dev, const array<batch_option>& options,
              const std::vector<std::int32_t> (&which)[2], std::int64_t steps, array<valuation>& values) {
  run_batch<Rows, false>(dev, options, which[0], steps, values);
  run_batch<Rows, true>(dev, options, which[1], steps, values);
}

}  // namespace

void detail::finite_difference_batch_cuda(const device& dev, std::span<const batch_option> options,
                                          std::int64_t nodes, std::int64_t steps, std::span<valuation> values) {
  std::vector<std::int32_t> which[2];  // European, American
  for (std::size_t i = 0; i < options.size(); ++i)
    which[options[i].exercise == exercise_style::american].push_back(static_cast<std::int32_t>(i));
  const auto on_device = array<batch_option>::from(dev, options);
  array<valuation> result(dev, static_cast<std::int64_t>(options.size()));
  if (nodes == 256)
    run_both<8>(dev, on_device, which, steps, result);
  else if (nodes == 512)
    run_both<16>(dev, on_device, which, steps, result);
  else if (nodes == 1024)
    run_both<32>(dev, on_device, which, steps, result);
  else
    throw value_error("finite_difference_batch: on a GPU there are 256, 512 or 1024 nodes");
  copy_bytes(values.data(), device::cpu(1), result.data(), dev, values.size_bytes());
}

}  // namespace vouch
