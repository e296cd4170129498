#include <cmath>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/fd_batch.hpp>
#include <vouch/price/finite_difference/grid.hpp>

namespace vouch {
namespace {

constexpr unsigned all_lanes = ~0u;
constexpr int warps = 4;  // of a block
constexpr int most_levels = 5;
constexpr double unreachable = -1e300, neglected = 1e-19;

// The grid of make_grid, which has the strike here even where it is out of reach, and the operator of
// make_operator for one option, the same for all lanes. Row 0 is the node where it is worth nothing and early
// exercise is never: the last one of a put.
struct setting {
  double low, spacing, strike, sign;
  double below, above;  // a and c of the operator, in the order of rows
  bool reversed;

  __device__ setting(const plain_option& o, int nodes) {
    const double root = std::sqrt(o.expiry), deviation = o.volatility * root;
    const double drift = (o.rate - o.dividend) * o.expiry, half = 0.5 * deviation * deviation;
    const double k = std::log(o.strike);
    const underlying_range reach = range_of_underlying(std::log(o.spot), k, deviation, fmin(drift - half, 0.0),
                                                       fmax(drift + half, 0.0), true);
    low = reach.low;
    double high = reach.high;
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
  // From one row's spot to the next one's.
  __device__ double growth() const { return std::exp(reversed ? -spacing : spacing); }
  __device__ double payoff(double spot) const { return fmax(sign * (spot - strike), 0.0); }
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

// x -> max(a x + b, c), a >= 0; what a is, all lanes know.
struct clipped {
  double b, c;
};

// As fmax where neither is NaN, in fewer instructions.
__device__ double larger(double a, double b) { return a > b ? a : b; }

// A warp's option: lane l has rows l * Rows to l * Rows + Rows - 1 in registers.
//
// Of an American option the unknown is D, its value V above the payoff p: it steps as V does with (I - implicit
// L) p added to the right-hand side, and its floor is 0. Of a European one it is V.
template <int Rows, bool American>
class warp_stepper {
 public:
  static constexpr int nodes = 32 * Rows;
  static constexpr int shared_doubles = nodes;

  __device__ warp_stepper(const plain_option& o, double* shared)
      : grid_(o, nodes),
        lane_(static_cast<int>(threadIdx.x) % 32),
        shared_(shared),
        rate_(o.rate),
        dividend_(o.dividend) {
    // The last row is in the money: there the value is sign (S - K).
    const double s = grid_.spot_of(nodes - 1, nodes), exercise = grid_.sign * (s - o.strike);
    last_ = {grid_.sign * s, -grid_.sign * o.strike, 1, 1, American ? exercise : unreachable, exercise};
    last_payoff_ = American ? exercise : 0;
    const double growth = grid_.growth();
    double spot = grid_.spot_of(lane_ * Rows, nodes);
    double before = grid_.payoff(spot / growth), here = grid_.payoff(spot);
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      spot *= growth;
      const double behind = grid_.payoff(spot);
      d_[j] = American ? 0 : here;
      if constexpr (American)
        source(j) = grid_.below * (before - here) + grid_.above * (behind - here) - rate_ * here;
      before = here;
      here = behind;
    }
  }

  __device__ void run(const detail::batch_piece& piece, double expiry) {
    const double length = piece.length * expiry;
    factor(0.5 * length);
    std::int64_t steps = piece.steps;
    if (piece.damped) {
      end_factors(0.5 * length);
      for (int k = 0; k < 4; ++k) step<true>();
      steps -= 2;
    }
    end_factors(length);
    for (; steps > 0; --steps) step<false>();
  }

  // Lane 0 gets the valuation: a polynomial through six nodes, as evaluate() does.
  __device__ valuation result(const plain_option& o) {
    __syncwarp();
    const double growth = grid_.growth();
    double spot = grid_.spot_of(lane_ * Rows, nodes);
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      const int row = lane_ * Rows + j;
      shared_[grid_.reversed ? nodes - 1 - row : row] = d_[j] + (American ? grid_.payoff(spot) : 0.0);
      spot *= growth;
    }
    __syncwarp();
    if (lane_ != 0) return {};
    const double at = (std::log(o.spot) - grid_.low) / grid_.spacing;
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
    valuation v{p, p1 / o.spot, (p2 - p1) / (o.spot * o.spot), 0, 0, 0};
    const bool exercised = American && p <= grid_.payoff(o.spot) * (1 + 1e-10);
    if (!exercised)
      v.theta = o.rate * v.price - (o.rate - o.dividend) * o.spot * v.delta -
                0.5 * o.volatility * o.volatility * o.spot * o.spot * v.gamma;
    return v;
  }

 private:
  // What row j of this lane has on the right besides D, times share_.
  __device__ double& source(int j) const { return shared_[j * 32 + lane_]; }

  // A matrix with constant diagonals on a grid that goes on without end behind row 0, where there is no value:
  // every pivot is then the larger root of their recurrence. What lanes owe to each other reaches as many of
  // them as it is not lost in rounding.
  __device__ void factor(double implicit) {
    const double lower = implicit * grid_.below, upper = implicit * grid_.above;
    const double centre = 1 + implicit * (grid_.below + grid_.above + rate_);
    const double pivot = 0.5 * (centre + std::sqrt(centre * centre - 4 * lower * upper));
    forth_ = lower / pivot;
    back_ = upper / pivot;
    scale_ = 2 / pivot;
    const double change = implicit * scale_ / share_;
    share_ = implicit * scale_;
    forth_lane_ = back_lane_ = 1;
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      forth_lane_ *= forth_;
      back_lane_ *= back_;
      if constexpr (American) source(j) *= change;
    }
    levels_ = 0;
    for (double left = larger(forth_lane_, back_lane_); levels_ < most_levels && left > neglected; left *= left)
      ++levels_;
  }

  __device__ void end_factors(double length) {
    last_.slope_factor = std::exp(-dividend_ * length);
    last_.constant_factor = std::exp(-rate_ * length);
  }

  // V := 2 W - V, or V := W where Damped, with (I - implicit L) W = V. What is solved for is 2 W (as of D),
  // whose floor is then the old D, or 0.
  template <bool Damped>
  __device__ void step() {
    const double old = last_.value, now = last_.pass();
    const double side = (now - last_payoff_) + ((Damped ? now : old) - last_payoff_);
    // Elimination twice: for what the lane hands on, then with what it got.
    double y[Rows], t = 0;
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      y[j] = American ? fma(scale_, d_[j], source(j)) : scale_ * d_[j];
      t = fma(forth_, t, y[j]);
    }
    double span = forth_lane_;
#pragma unroll 1
    for (int level = 0; level < levels_; ++level) {
      const double from = __shfl_up_sync(all_lanes, t, 1 << level);
      t = fma(lane_ >= 1 << level ? span : 0.0, from, t);
      span *= span;
    }
    t = __shfl_up_sync(all_lanes, t, 1);
    if (lane_ == 0) t = 0;
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      t = fma(forth_, t, y[j]);
      y[j] = t;
    }
    if (lane_ == 31) y[Rows - 1] = side;
    double w = from_behind<Damped>(y);
#pragma unroll
    for (int j = Rows - 1; j >= 0; --j) {
      w = fma(back_, w, y[j]);
      if constexpr (American) w = larger(w, Damped ? 0.0 : d_[j]);
      d_[j] = Damped ? 0.5 * w : w - d_[j];
    }
  }

  // The solution in the row behind the lane's last one. Substitution with a floor is x -> max(a x + b, c) for a
  // row, and so for all rows of a lane: such functions are closed under composition, and a scan composes those
  // of the lanes behind. The last row's own function does not depend on x.
  template <bool Damped>
  __device__ double from_behind(const double (&y)[Rows]) const {
    clipped f{0, unreachable};
#pragma unroll
    for (int j = Rows - 1; j >= 0; --j) {
      f.b = fma(back_, f.b, y[j]);
      if constexpr (American) f.c = larger(fma(back_, f.c, y[j]), Damped ? 0.0 : d_[j]);
    }
    double span = back_lane_;
#pragma unroll 1
    for (int level = 0; level < levels_; ++level) {
      const double b = __shfl_down_sync(all_lanes, f.b, 1 << level);
      const bool there = lane_ + (1 << level) < 32;
      if constexpr (American) {
        const double c = __shfl_down_sync(all_lanes, f.c, 1 << level);
        if (there) f.c = larger(fma(span, c, f.b), f.c);
      }
      if (there) f.b = fma(span, b, f.b);
      span *= span;
    }
    const double w = __shfl_down_sync(all_lanes, American ? larger(f.b, f.c) : f.b, 1);
    return lane_ == 31 ? 0 : w;
  }

  setting grid_;
  int lane_;
  double* shared_;  // the sources, row j of lane l at j * 32 + l; at the end the values
  double rate_, dividend_;
  end_value last_;
  double last_payoff_ = 0;  // what D lacks to V in the last row
  double share_ = 1, scale_ = 0;
  double forth_ = 0, back_ = 0, forth_lane_ = 0, back_lane_ = 0;  // multipliers of a row, and of all of a lane
  double d_[Rows];
  int levels_ = 0;
};

// Blocks a multiprocessor that measured fastest on an H200; the compiler has as many registers as they leave.
constexpr int resident_blocks(int rows) { return rows <= 8 ? 6 : rows <= 16 ? 4 : 3; }

// A warp has one option from its expiry to now: D and the solution in registers, the sources in shared memory;
// no barrier but the warp's shuffles. Bound by the FP64 units: 9 operations a row and step, two of them
// comparisons.
template <int Rows, bool American>
__global__ void __launch_bounds__(32 * warps, resident_blocks(Rows))
    step_batch(const batch_option* options, const std::int32_t* which, std::int64_t count,
               const __grid_constant__ detail::batch_pieces pieces, valuation* values) {
  extern __shared__ double shared[];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t at = std::int64_t{blockIdx.x} * warps + warp;
  if (at >= count) return;  // whole warps leave together
  const plain_option& option = options[which[at]].option;
  warp_stepper<Rows, American> stepper(option, shared + warp * warp_stepper<Rows, American>::shared_doubles);
  for (int k = 0; k < pieces.count; ++k) stepper.run(pieces.piece[k], option.expiry);
  const valuation v = stepper.result(option);
  if (threadIdx.x % 32 == 0) values[which[at]] = v;
}

template <int Rows, bool American>
void run_batch(const device& dev, const array<batch_option>& options, const std::vector<std::int32_t>& which,
               std::int64_t steps, array<valuation>& values) {
  const auto list = array<std::int32_t>::from(dev, which);
  const auto count = static_cast<std::int64_t>(which.size());
  launch(dev, "step_batch",
         {ceil_div<std::int64_t>(count, warps), 32 * warps,
          sizeof(double) * warp_stepper<Rows, American>::shared_doubles * warps},
         step_batch<Rows, American>, options.data(), list.data(), count, detail::pieces_of(American, steps),
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
