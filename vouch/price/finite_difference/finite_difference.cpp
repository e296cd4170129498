#include <vouch/price/finite_difference.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference/enclosure.hpp>
#include <vouch/price/finite_difference/exponential.hpp>
#include <vouch/price/finite_difference/grid.hpp>
#include <vouch/price/finite_difference/steps.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>
#include <vouch/price/finite_difference/time_stepping_cuda.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most_nodes = 1 << 16;
constexpr std::int64_t most_policy_nodes = 1 << 13;  // every step takes several solves

// A European option that knocks in at a barrier is one without barrier less one that knocks out there.
struct fd_task {
  contract knocked_out;
  fd_payment payment;
  bool in = false;
  valuation without_barrier;  // of the option that begins there
  double error = 0;           // of its price
};

// Everything constant by `amount` higher.
contract with_more_volatility(contract c, double amount) {
  c.plain.volatility += amount;
  for (curve_step& s : c.volatilities) s.value += amount;
  for (double& v : c.local_volatility.values) v += amount;
  return c;
}

contract with_more_rate(contract c, double amount) {
  c.plain.rate += amount;
  for (curve_step& s : c.rates) s.value += amount;
  return c;
}

// One that knocks in at a barrier and may be exercised early is stepped with the values that it has there then.
bool is_stepped_to_begin(const contract& c) {
  return c.plain.barrier != barrier_kind::none && is_in(c.plain.barrier);
}

// Throws  value_error  an option that knocks in at a barrier, may be exercised early and has cash dividends
fd_task make_task(const contract& c, const fd_options& options) {
  fd_task t{c, {0, c.plain.rebate}, false, {}};
  t.knocked_out.plain.spot -= escrow(c, 0);
  if (c.plain.barrier == barrier_kind::none || !is_in(c.plain.barrier)) return t;
  if (c.exercise != exercise_style::european) {
    if (!c.dividends.empty())
      throw value_error(
          "an option that begins at a barrier and may be exercised early has no method with cash dividends",
          "a dividend yield, --dividend, is taken");
    return t;
  }
  t.in = true;
  t.payment = {c.plain.rebate, 0};
  t.knocked_out.plain.barrier = is_up(c.plain.barrier) ? barrier_kind::up_and_out : barrier_kind::down_and_out;
  contract plain = c;
  plain.plain.barrier = barrier_kind::none;
  if (plain.is_plain()) {
    t.without_barrier = closed_form(plain.plain);
  } else {
    fd_options finer = options;
    finer.tolerance *= 0.3;
    const fd_result r = finite_difference_price(plain, finer);
    t.without_barrier = r.value;
    t.error = r.error_estimate;
  }
  return t;
}

std::string reason_for_cpu(const contract& c, const fd_options& options, std::int64_t nodes) {
  if (is_stepped_to_begin(c))
    return "an option that begins at a barrier and may be exercised early is stepped there";
  if (options.solver != tridiagonal_method::automatic) return "the GPU's kernel has a solver of its own";
  if (c.exercise == exercise_style::american && needs_policy(c))
    return "exercise in more than one region is found there, by policy iteration";
  if (!c.local_volatility.empty()) return "steps with a local volatility are taken there";
  if (c.is_escrowed()) return "steps with escrowed dividends are taken there";
  if (nodes < 64) return "the grid has too few nodes for the GPU's kernel";
  return "the matrix of a step couples more nodes than blocks of the GPU's kernel reach";
}

class solver {
 public:
  solver(const contract& c, const fd_options& options) : task_(make_task(c, options)), options_(options) {}

  std::vector<double> values(const contract& c, const fd_grid& grid, std::int64_t steps,
                             fd_surface* boundary = nullptr) const {
    if (options_.scheme == time_scheme::exponential) {
      if (const auto plan = plan_sine(c, grid, task_.payment))
        return by_sine(*plan, c, grid, boundary != nullptr);
      by_sine_ = false;
      if constexpr (built_with_cuda)
        if (options_.dev.is_cuda())
          if (auto v = exponential_by_contour_cuda(options_.dev, c, grid, task_.payment)) return used_gpu(*v);
      not_gpu("the grid has more nodes than the kernel of the exponential scheme takes");
      return exponential_by_contour(c, grid, task_.payment);
    }
    const stepping_method how{options_.scheme, options_.precision, options_.solver, !options_.verify};
    if (is_stepped_to_begin(c)) {
      not_gpu(reason_for_cpu(c, options_, grid.size()));
      return step_to_knock_in(c, grid, options_.grid, steps, how);
    }
    std::vector<fd_segment> segments = make_segments(c, steps);
    if (boundary != nullptr) segments = in_pieces(segments);
    if (options_.dev.is_cuda() && options_.solver == tridiagonal_method::automatic && boundary == nullptr)
      if (auto v = step_in_time_on_gpu(options_.dev, c, grid, task_.payment, segments, how))
        return used_gpu(*v);
    not_gpu(reason_for_cpu(c, options_, grid.size()));
    return step_in_time(c, grid, task_.payment, segments, how, boundary);
  }
  fd_grid grid(std::int64_t nodes) const { return make_grid(task_.knocked_out, options_.grid, nodes); }
  const contract& solved() const { return task_.knocked_out; }
  /// Where the last solve ran.
  void tell_place(fd_result& r) const {
    r.on_gpu = on_gpu_;
    r.why_cpu = why_cpu_;
    r.by_sine = by_sine_;
  }

  valuation solve(std::int64_t nodes, std::int64_t steps) const {
    const contract& c = task_.knocked_out;
    const fd_grid on = grid(nodes);
    const double spot = c.plain.spot;
    const fd_local local = evaluate(on, values(c, on, steps), spot);
    valuation v{local.value, local.first, local.second, 0, 0, 0};
    if (options_.greeks) {
      // Central differences, of steps that lose as much by their size as by rounding in the values.
      const double share = options_.precision == solve_precision::mixed ? 3e-3 : 5e-4;
      const auto moved = [&](const contract& other) {  // dividends in escrow are worth less at a higher rate
        return evaluate(on, values(other, on, steps), spot + escrow(c, 0) - escrow(other, 0)).value;
      };
      const double up = share * std::max(typical_volatility(c), 1e-2), rise = share * 0.2;
      const double above = moved(with_more_volatility(c, up));
      v.vega = typical_volatility(c) > 2 * up ? (above - moved(with_more_volatility(c, -up))) / (2 * up)
                                              : (above - local.value) / up;
      v.rho = (moved(with_more_rate(c, rise)) - moved(with_more_rate(c, -rise))) / (2 * rise);
    }
    if (task_.in) v = difference(task_.without_barrier, v);
    v.theta = theta(v);
    return is_exercised(v.price) ? exercised(v) : v;
  }
  /// Where about so many were asked for.
  std::int64_t steps_taken(std::int64_t steps) const {
    std::int64_t sum = 0;
    for (const fd_segment& s : make_segments(task_.knocked_out, steps)) sum += s.steps;
    return sum;
  }
  /// What no option is worth less than.
  double least() const {
    const contract& c = task_.knocked_out;
    const bool now = c.exercise == exercise_style::american && !is_stepped_to_begin(c);
    return now ? payoff_at(c.plain, c.plain.spot + escrow(c, 0)) : 0;
  }
  /// Of what is not found on a grid.
  double error() const { return task_.error; }

  fd_enclosure enclose(std::int64_t nodes, std::int64_t steps) const {
    const contract& c = task_.knocked_out;
    if (is_stepped_to_begin(c)) return enclose_knock_in(c, grid(nodes), options_.grid, steps, options_.scheme);
    const fd_enclosure e =
        enclose_time_stepping(c, grid(nodes), task_.payment, make_segments(c, steps), options_.scheme);
    return task_.in ? enclose_in_option(c, e) : e;
  }

 private:
  static valuation difference(const valuation& a, const valuation& b) {
    return {a.price - b.price, a.delta - b.delta, a.gamma - b.gamma, 0, a.vega - b.vega, a.rho - b.rho};
  }
  bool is_exercised(double price) const {
    const contract& c = task_.knocked_out;
    const double paid = payoff_at(c.plain, c.plain.spot + escrow(c, 0));
    return c.exercise == exercise_style::american && !is_stepped_to_begin(c) && paid > 0 &&
           price <= paid * (1 + 1e-10);
  }
  // What is paid now has no curvature, and no time passes.
  valuation exercised(valuation v) const {
    const plain_option& o = task_.knocked_out.plain;
    v.delta = o.payoff == payoff_kind::cash_digital    ? 0
              : o.payoff == payoff_kind::asset_digital ? 1
                                                       : sign_of(o.type);
    v.gamma = v.theta = 0;
    return v;
  }
  // By the differential equation.
  double theta(const valuation& v) const {
    const contract& c = task_.knocked_out;
    const double spot = c.plain.spot, held = escrow(c, 0);
    const double rate = value_at(c.rates, c.plain.rate, 0);
    const double sigma = c.local_volatility.empty() ? value_at(c.volatilities, c.plain.volatility, 0)
                                                    : c.local_volatility.at(0, spot);
    return rate * v.price - (rate - c.plain.dividend) * (spot + held) * v.delta -
           0.5 * sigma * sigma * spot * spot * v.gamma;
  }

  std::vector<double>& used_gpu(std::vector<double>& values) const {
    on_gpu_ = true;
    why_cpu_.clear();
    return values;
  }

  // On the CPU no more than the nodes that are read.
  std::vector<double> by_sine(const sine_plan& plan, const contract& c, const fd_grid& grid, bool whole) const {
    by_sine_ = true;
    if constexpr (built_with_cuda)
      if (options_.dev.is_cuda()) {
        std::vector<double> all = exponential_by_sine_cuda(options_.dev, plan);
        return used_gpu(all);
      }
    const std::int64_t n = grid.size(), first = whole ? 0 : stencil_about(grid, c.plain.spot).first;
    return exponential_by_sine(plan, first, whole ? n : std::min(first + 6, n));
  }

  void not_gpu(const std::string& reason) const {
    on_gpu_ = false;
    if (options_.dev.is_cuda()) why_cpu_ = reason;
  }

  fd_task task_;
  fd_options options_;
  mutable bool on_gpu_ = false;
  mutable std::string why_cpu_;
  mutable bool by_sine_ = false;
};

valuation combine(const valuation& fine, const valuation& coarse, double weight) {
  const auto mix = [&](double f, double g) { return f + weight * (f - g); };
  return {mix(fine.price, coarse.price), mix(fine.delta, coarse.delta), mix(fine.gamma, coarse.gamma),
          mix(fine.theta, coarse.theta), mix(fine.vega, coarse.vega),   mix(fine.rho, coarse.rho)};
}

fd_enclosure combine(const fd_enclosure& fine, const fd_enclosure& coarse, double weight) {
  if (!fine.verified) return fine;
  if (!coarse.verified) return coarse;
  const auto mix = [&](const interval<double>& f, const interval<double>& g) { return f + weight * (f - g); };
  fd_enclosure e = fine;
  e.price = mix(fine.price, coarse.price);
  e.delta = mix(fine.delta, coarse.delta);
  e.gamma = mix(fine.gamma, coarse.gamma);
  e.theta = mix(fine.theta, coarse.theta);
  return e;
}

void check_scheme(const contract& c, const fd_options& options) {
  if (options.solver != tridiagonal_method::automatic) {
    const std::string solver = std::string("the solver ") + name(options.solver);
    const char* const leave = "leave the solver to auto";
    if (c.exercise == exercise_style::american)
      throw value_error(solver + " solves systems without the inequalities of American exercise", leave);
    if (options.scheme == time_scheme::exponential)
      throw value_error("the exponential scheme takes no steps for " + solver, leave);
    if (options.precision == solve_precision::mixed)
      throw value_error(solver + " steps in double precision only", leave);
  }
  if (options.scheme != time_scheme::exponential) {
    if (options.space_nodes > 0 && options.time_steps <= 0)
      throw value_error("space_nodes without time_steps",
                        "give both, or neither for a grid that meets the tolerance");
    return;
  }
  if (c.exercise != exercise_style::european)
    throw value_error("the exponential scheme prices no early exercise", "use the scheme rannacher");
  if (!c.is_plain())
    throw value_error("the exponential scheme needs constant rates and volatilities and no cash dividends",
                      "use the scheme rannacher");
}

// Of the difference of two grids in what is extrapolated from them.
constexpr double refined_weight = 1.0 / 3;

// How many more steps a grid with half the spacing gets: an error of first order in time must fall as fast as
// that in space.
std::int64_t refinement(const fd_options& options) {
  return options.scheme == time_scheme::implicit_euler ? 4 : 2;
}

// Rounding in the values, and what lies beyond the borders: what no refinement removes. The diagonals of all
// steps sum up to the square of the cells a deviation has, and what is added to them is rounded to their
// digits.
double rounding(const contract& c, const fd_options& options, const fd_grid& grid) {
  const double scale = std::max(c.plain.spot, c.plain.strike), cells = resolution_of(c, grid).most;
  constexpr double unit = 1.1102230246251565e-16;
  return scale * ((options.precision == solve_precision::mixed ? 1e-9 : 5e-12) + unit * cells * cells);
}

// Steps whose rounding is bounded smooth no kinks. Those of exercise beside an escrow then lie anywhere between two
// nodes, and the line between these has up to an eighth of the cell's square too much of a bend that the gamma has
// seen. Extrapolation takes four thirds of that from the fine grid and a third of what the coarse one has.
double left_of_kinks(const contract& c, const fd_options& options, const grid_resolution& resolution,
                     double gamma) {
  if (!options.verify || !c.is_escrowed() || c.exercise == exercise_style::european) return 0;
  const double cell = c.plain.spot * typical_volatility(c) * std::sqrt(c.plain.expiry) / resolution.least;
  return cell * cell * std::abs(gamma) / 3;
}

fd_result on_given_grid(const solver& s, const fd_options& options) {
  fd_result r;
  const bool exponential = options.scheme == time_scheme::exponential;
  const std::int64_t nodes = std::max<std::int64_t>(options.space_nodes, 8),
                     steps = exponential ? 0 : std::max<std::int64_t>(options.time_steps, 1),
                     share = refinement(options);
  r.space_nodes = nodes;
  r.time_steps = steps;
  r.value = s.solve(nodes, steps);
  s.tell_place(r);
  // Of second order, a grid's error is a third of what half the nodes and steps change; half for grids that are
  // not quite alike. Where there are too few to halve, three times what twice as many change, as the order does
  // not show yet.
  constexpr std::int64_t few = 16;
  const bool coarser = nodes >= 2 * few && (exponential || steps >= few * share) &&
                       resolution_of(s.solved(), s.grid(nodes / 2)).is_fine();
  const valuation other = coarser ? s.solve(nodes / 2, steps / share) : s.solve(2 * nodes - 1, steps * share);
  r.error_estimate =
      std::abs(r.value.price - other.price) * (coarser ? 0.5 : 3.0) +
      rounding(s.solved(), options, s.grid(nodes)) + s.error() +
      left_of_kinks(s.solved(), options, resolution_of(s.solved(), s.grid(nodes)), r.value.gamma);
  if (!coarser && resolution_of(s.solved(), s.grid(nodes)).is_blind())
    r.error_estimate = std::max(r.error_estimate, s.solved().plain.spot + s.solved().plain.strike);
  return r;
}

// What r would be without rounding.
fd_enclosure enclosure_of(const solver& s, const fd_result& r, std::int64_t coarse_steps) {
  const auto start = std::chrono::steady_clock::now();
  fd_enclosure e = s.enclose(r.space_nodes, r.time_steps);
  if (r.extrapolated && e.verified)
    e = combine(e, s.enclose((r.space_nodes + 1) / 2, coarse_steps), refined_weight);
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return e;
}

// Whether the values of two steps of refinement agree to the tolerance.
bool agree(const contract& c, const valuation& v, const valuation& other, double tolerance) {
  // A fortieth of the tolerance is what a gamma's error makes of prices a deviation away.
  const double deviation = c.plain.spot * typical_volatility(c) * std::sqrt(c.plain.expiry);
  const double curvature =
      std::max({5e-4 * std::abs(v.gamma), 5e-8 / c.plain.spot, 0.05 * tolerance / (deviation * deviation)});
  return std::abs(v.delta - other.delta) <= 10 * tolerance && std::abs(v.gamma - other.gamma) <= curvature;
}

// The value on the grid of a level, extrapolated from it and the one before, and how much both changed.
struct fd_level {
  valuation fine, extrapolated;
  double refined = 0, change = 0;
};

// From the last levels. Where kinks are not resolved (cell, of the spots, is then above 0) the order does not show
// yet: nothing is extrapolated from, and grids may agree on what none of them sees.
double estimated_error(const contract& c, const fd_level& now, const fd_level& before, double cell) {
  // Where exercise kinks the values in time or a table the volatility, or where rates or volatilities change from
  // one moment to the next, grids are less alike than where all is smooth.
  const bool kinked = c.exercise != exercise_style::european || !c.is_plain();
  // Never less than what is left of a change between grids that are not quite alike: two values may agree by
  // accident.
  const double regular = kinked ? std::max({2 * now.change, 0.2 * before.change, 0.02 * now.refined})
                                : std::max(now.change, 0.003 * now.refined);
  if (cell == 0) return regular;
  // A jump that a dividend moves from a barrier, or exercise meets, lies somewhere between two nodes: an error of
  // first order.
  const bool digital = c.plain.payoff != payoff_kind::vanilla,
             jumps = digital || (c.plain.barrier != barrier_kind::none && !c.dividends.empty());
  double unseen = 0.08 * cell * (digital ? std::abs(now.fine.delta) : cell * std::abs(now.fine.gamma));
  // What is paid between strike and barrier alone: so much, as often as it ends there without a hit.
  const double gap = std::abs(c.plain.strike - c.plain.barrier_level);
  if (c.plain.barrier != barrier_kind::none && gap < cell)
    unseen += gap * std::pow(gap / (c.plain.spot * typical_volatility(c)), 2) / c.plain.expiry;
  return std::max({regular, (jumps ? 3.0 : 0.7) * now.refined, before.refined, unseen});
}

// Whether the operator's spectrum comes so near the contour that values lose digits, on all grids alike.
bool is_drifting(const contract& c) {
  const plain_option& o = c.plain;
  constexpr double most_deviations = 4;
  return std::abs(o.rate - o.dividend) * std::sqrt(o.expiry) > most_deviations * o.volatility;
}

// To a tolerance; coarse_steps are those of the grid with half the nodes.
fd_result to_tolerance(const solver& s, const contract& c, const fd_options& options,
                       std::int64_t& coarse_steps) {
  fd_result r;
  r.extrapolated = true;
  const bool american = c.exercise == exercise_style::american;
  const std::int64_t most = american && needs_policy(c) ? most_policy_nodes : most_nodes;
  const double width = typical_volatility(c) * std::sqrt(c.plain.expiry), deviation = c.plain.spot * width;
  const double kink = sharpest_kink(c) / width;  // in deviations
  std::int64_t nodes = 201, steps = american ? 128 : 24;
  fd_level before{s.solve(nodes, steps), {}, 0, 0};
  bool keeps_steps = false;
  for (int level = 1;; ++level) {
    nodes = 2 * nodes - 1;
    coarse_steps = steps;
    if (!keeps_steps) steps *= refinement(options);
    fd_level now{s.solve(nodes, steps), {}, 0, 0};
    s.tell_place(r);
    r.value = now.extrapolated = combine(now.fine, before.fine, refined_weight);
    r.space_nodes = nodes;
    r.time_steps = options.scheme == time_scheme::exponential ? 0 : steps;
    // One level: the extrapolated value is surely as near as it is from the fine one; more: from the last one.
    const valuation& other = level == 1 ? now.fine : before.extrapolated;
    now.refined = std::abs(now.fine.price - before.fine.price);
    now.change = std::abs(r.value.price - other.price);
    const grid_resolution resolution = resolution_of(s.solved(), s.grid((nodes + 1) / 2));
    constexpr double cells_at_kink = 10;
    const bool resolved = resolution.least * kink >= cells_at_kink;
    const double cell = resolved ? 0 : 0.5 * deviation / resolution.least;
    r.error_estimate =
        estimated_error(c, now, before, cell) + rounding(s.solved(), options, s.grid(nodes)) + s.error() +
        left_of_kinks(s.solved(), options, resolution_of(s.solved(), s.grid(nodes)), now.fine.gamma);
    if (!resolution.is_fine()) r.error_estimate = std::max(r.error_estimate, c.plain.spot + c.plain.strike);
    if (options.scheme == time_scheme::exponential && !r.by_sine && is_drifting(c))
      r.error_estimate = std::max(r.error_estimate, 0.01 * (c.plain.spot + c.plain.strike));
    // What half the steps change on this grid.
    valuation in_time = now.fine;
    if (keeps_steps) in_time = s.solve(nodes, steps / 2);
    r.error_estimate += std::abs(now.fine.price - in_time.price);
    r.tolerance_met = r.error_estimate <= options.tolerance && agree(c, r.value, other, options.tolerance);
    if ((r.tolerance_met && level > 1) || 2 * nodes > most) break;
    // Where the next grid will hardly do it, steps that are fine enough already need not be halved again.
    const bool tries = options.scheme == time_scheme::rannacher &&
                       (level >= 5 || (level >= 3 && r.error_estimate > 5 * options.tolerance));
    if (tries && !keeps_steps) in_time = s.solve(nodes, steps / 2);
    keeps_steps = (keeps_steps || tries) &&
                  std::abs(now.fine.price - in_time.price) <= 0.1 * options.tolerance &&
                  agree(c, now.fine, in_time, options.tolerance);
    before = now;
  }
  if (options.scheme == time_scheme::exponential && !(r.error_estimate < 1e3 * (c.plain.spot + c.plain.strike)))
    throw value_error("the exponential scheme is unstable where the share drifts so much more than it varies",
                      "use the scheme rannacher");
  return r;
}

}  // namespace

fd_result finite_difference_price(const contract& c, const fd_options& options) {
  const ieee_environment here;
  check_scheme(c, options);
  const solver s(c, options);
  std::int64_t coarse_steps = 0;
  fd_result r = options.space_nodes > 0 ? on_given_grid(s, options) : to_tolerance(s, c, options, coarse_steps);
  if (options.verify) r.enclosure = enclosure_of(s, r, coarse_steps);
  r.value.price = std::max(r.value.price, s.least());
  if (r.time_steps > 0) r.time_steps = s.steps_taken(r.time_steps);
  return r;
}

valuation value_on_grid(const contract& c, std::int64_t nodes, std::int64_t steps) {
  const ieee_environment here;
  return solver(c, {}).solve(nodes, steps);
}

fd_surface finite_difference_surface(const contract& c, const fd_options& options) {
  const ieee_environment here;
  check_scheme(c, options);
  const solver s(c, options);
  const fd_grid grid = s.grid(options.space_nodes > 0 ? options.space_nodes : 2001);
  fd_surface surface;
  const std::int64_t steps = options.time_steps > 0 ? options.time_steps : 800;
  if (!is_stepped_to_begin(c))
    surface.value = s.values(s.solved(), grid, steps, &surface);
  else if (c.dividends.empty())
    surface.value = step_to_knock_in(c, grid, options.grid, steps, {});
  else
    throw value_error("there is no drawing of an option with cash dividends that begins at a barrier");
  surface.spot = grid.spot;
  for (double& spot : surface.spot) spot += escrow(c, 0);
  return surface;
}

}  // namespace vouch
