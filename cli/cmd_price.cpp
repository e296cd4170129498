// vouch price: one option, or a book of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/error.hpp>
#include <vouch/interval/text.hpp>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/implied.hpp>
#include <vouch/price/slips.hpp>
#include <vouch/verify/bound_text.hpp>

#include "command.hpp"
#include "json.hpp"
#include "price_request.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

json grid_json(const pricing& p, const fd_options& options) {
  if (!p.grid) return nullptr;
  return {{"nodes", p.grid->space_nodes},
          {"steps", p.grid->time_steps},
          {"space", grid_words[static_cast<std::size_t>(options.grid)]},
          {"scheme", scheme_words[static_cast<std::size_t>(options.scheme)]},
          {"solver", name(options.solver)},
          {"exponential_by", options.scheme != time_scheme::exponential ? json(nullptr)
                             : p.grid->by_sine                          ? json("sine-transform")
                                                                        : json("contour")},
          {"extrapolated", p.grid->extrapolated}};
}

// What was proved, of the exact price and of the solution of the discrete problem.
struct proof {
  std::optional<enclosed_valuation> exact;
  const fd_enclosure* discrete = nullptr;
  bool stepped = true;  // the discrete problem has steps in time, else it is exact there

  bool of_steps() const { return discrete != nullptr && discrete->verified; }
  bool verified(double price) const {
    return of_steps() || (exact && std::isfinite(farthest(price, exact->price)));
  }
  // At least the distance of a price to any of a range.
  static double farthest(double price, const interval<double>& range) {
    return std::max(sub_up(price, range.lo()), sub_up(range.hi(), price));
  }
};

const char* bounded(const proof& known) {
  if (!known.of_steps()) return "the exact price";
  return known.stepped ? "the discrete problem: the rounding in its steps, not the error of the grid"
                       : "the discrete problem: rounding and the error in time, not the error of the grid";
}

const char* const no_steps = "no steps were taken, and limits are not enclosed";

json range_json(const interval<double>& x) { return {or_null(x.lo()), or_null(x.hi())}; }

json enclosure_json(const std::optional<enclosed_valuation>& v) {
  if (!v) return nullptr;
  return {{"price", range_json(v->price)}, {"delta", range_json(v->delta)}, {"gamma", range_json(v->gamma)},
          {"theta", range_json(v->theta)}, {"vega", range_json(v->vega)},   {"rho", range_json(v->rho)}};
}

json enclosure_json(const fd_enclosure* e) {
  if (e == nullptr || !e->verified) return nullptr;
  return {{"price", range_json(e->price)},
          {"delta", range_json(e->delta)},
          {"gamma", range_json(e->gamma)},
          {"theta", range_json(e->theta)}};
}

json error_bound_json(double price, const proof& known) {
  const bool steps = known.of_steps(), verified = known.verified(price);
  const char* const method = !steps ? "closed form" : known.stepped ? "steps in time" : "exponential in time";
  const interval<double> range = steps         ? known.discrete->price
                                 : known.exact ? known.exact->price
                                               : interval<double>();
  const double error = proof::farthest(price, range), least = range.lo() > 0 ? range.lo() : -range.hi();
  const auto if_verified = [&](const auto& value) { return verified ? json(value) : json(); };
  return {{"verified", verified},
          {"method", if_verified(method)},
          {"bounds", if_verified(bounded(known))},
          {"max_absolute", if_verified(or_null(error))},
          {"max_relative", if_verified(least > 0 ? or_null(div_up(error, least)) : json())},
          {"to_exact", known.exact ? or_null(proof::farthest(price, known.exact->price)) : json()},
          {"reason", steps                       ? json()
                     : known.discrete != nullptr ? json(known.discrete->reason)
                                                 : known_if(!verified, no_steps)},
          {"seconds", known.discrete != nullptr ? json(known.discrete->seconds) : json()}};
}

void print_ranges(std::initializer_list<std::pair<const char*, interval<double>>> ranges) {
  for (const auto& [name, range] : ranges) fmt::print("  {:6} {}\n", name, interval_text(range));
}

void print_proof(double price, const proof& known) {
  if (known.of_steps()) {
    fmt::print(
        "proved: the price errs by at most {} from the solution of the discrete problem, which lies in\n",
        vouch::detail::rounded_above(proof::farthest(price, known.discrete->price)));
    const fd_enclosure& e = *known.discrete;
    print_ranges({{"price", e.price}, {"delta", e.delta}, {"gamma", e.gamma}, {"theta", e.theta}});
    fmt::print("  (that bounds {}, not the error of the grid)\n",
               known.stepped ? "the rounding in the steps" : "rounding and the error in time");
  } else if (known.discrete != nullptr || !known.exact) {
    fmt::print("unverified: {}\n", known.discrete != nullptr ? known.discrete->reason : no_steps);
  }
  if (!known.exact) return;
  fmt::print("proved: the price errs by at most {}; the exact values lie in\n",
             vouch::detail::rounded_above(proof::farthest(price, known.exact->price)));
  const enclosed_valuation& v = *known.exact;
  print_ranges({{"price", v.price},
                {"delta", v.delta},
                {"gamma", v.gamma},
                {"theta", v.theta},
                {"vega", v.vega},
                {"rho", v.rho}});
}

proof prove(const price_request& request, const pricing& p) {
  proof known;
  if (p.grid && p.grid->enclosure) known.discrete = &*p.grid->enclosure;
  known.stepped = request.method.finite_difference.scheme != time_scheme::exponential;
  if (has_exact_enclosure(request.option)) known.exact = enclose_european_price(request.option.plain);
  return known;
}

// Single precision alone cannot hold a price on a fine grid: it is used inside double steps.
const char* precision_used(const price_request& request, const pricing& p) {
  const bool mixed = request.method.finite_difference.precision == solve_precision::mixed;
  const bool stepped = request.method.finite_difference.scheme != time_scheme::exponential;
  return p.grid && !p.grid->on_gpu && mixed && stepped ? "mixed" : "double";
}

void print_object(const price_request& request, const pricing& p, const std::optional<proof>& known,
                  const device& dev, const std::string& why_cpu, double seconds, double total) {
  const valuation& v = p.value;
  json object = object_of("price");
  object["price"] = or_null(v.price);
  object["delta"] = or_null(v.delta);
  object["gamma"] = or_null(v.gamma);
  object["theta"] = or_null(v.theta);
  object["vega"] = p.has_vega_and_rho ? or_null(v.vega) : json();
  object["rho"] = p.has_vega_and_rho ? or_null(v.rho) : json();
  const auto further = [&](double more_greeks::*greek) { return p.more ? or_null(*p.more.*greek) : json(); };
  object["dividend_rho"] = further(&more_greeks::dividend_rho);
  object["vanna"] = further(&more_greeks::vanna);
  object["volga"] = further(&more_greeks::volga);
  object["charm"] = further(&more_greeks::charm);
  object["error_estimate"] = p.error_estimate;
  object["tolerance"] = request.method.finite_difference.tolerance;
  object["tolerance_met"] = p.tolerance_met;
  object["error_bound"] = known ? error_bound_json(v.price, *known) : json();
  object["enclosure"] = known ? enclosure_json(known->exact) : json();
  object["discrete_enclosure"] = known ? enclosure_json(known->discrete) : json();
  object["closed_form"] = or_null(p.closed_form);
  object["method"] = name(p.method);
  object["grid"] = grid_json(p, request.method.finite_difference);
  object["precision"] = precision_used(request, p);
  object["device"] = to_json(dev);
  object["device_reason"] = or_null(why_cpu);
  object["time_s"] = {{"solve", seconds}, {"total", total}};
  object["memory_bytes"] = memory_json();
  print_json(object);
}

void print_text(const price_request& request, const pricing& p) {
  const valuation& v = p.value;
  fmt::print("price  {:.10g}   error about {:.1e}\n", v.price, p.error_estimate);
  fmt::print("delta  {:.8g}   gamma {:.8g}   theta {:.8g}\n", v.delta, v.gamma, v.theta);
  if (p.has_vega_and_rho) fmt::print("vega   {:.8g}   rho {:.8g}\n", v.vega, v.rho);
  if (p.more && (request.more_greeks || request.common.verbose))
    fmt::print("dividend rho {:.8g}   vanna {:.8g}   volga {:.8g}   charm {:.8g}\n", p.more->dividend_rho,
               p.more->vanna, p.more->volga, p.more->charm);
  if (p.grid)
    fmt::print("by finite differences: {}, {} nodes, {} steps, {}{}\n",
               scheme_words[static_cast<std::size_t>(request.method.finite_difference.scheme)],
               p.grid->space_nodes, p.grid->time_steps,
               grid_words[static_cast<std::size_t>(request.method.finite_difference.grid)],
               p.grid->extrapolated ? ", extrapolated" : "");
  else
    fmt::print("by {}\n", name(p.method));
  if (p.grid && p.closed_form) fmt::print("closed form {:.10g}\n", *p.closed_form);
}

int find_implied(const price_request& request) {
  const console log = make_console(request.common);
  const device_request wanted = parse_device(request.common.device);
  if (wanted.cuda) {
    static_cast<void>(device::cuda(wanted.index));  // throws where there is none
    log.warning("computed on the CPU: a single implied volatility takes less time there");
  }
  if (request.common.precision != "double") log.warning("computed in double precision");
  const stopwatch clock;
  const double volatility =
      implied_volatility(request.option, *request.implied, request.method.finite_difference.tolerance);
  const double seconds = clock.seconds();
  if (request.common.json)
    print_json(object_of("price", {{"implied_volatility", volatility},
                                   {"price", *request.implied},
                                   {"method", "implied-volatility"},
                                   {"precision", "double"},
                                   {"device", to_json(device::cpu(1))},
                                   {"time_s", {{"solve", seconds}, {"total", seconds}}},
                                   {"memory_bytes", memory_json()}}));
  else
    fmt::print("implied volatility {:.17g}\n", volatility);
  return goal_reached;
}

// A single option is a matter of microseconds to milliseconds on the CPU, less than the start of a GPU, unless
// it was asked for very many steps.
device choose_device(const price_request& request) {
  constexpr std::int64_t worth_a_gpu = 400'000'000;  // nodes times steps, some tenths of a second on a core
  const device_request wanted = parse_device(request.common.device);
  if (wanted.cuda) return device::cuda(wanted.index);
  const fd_options& fd = request.method.finite_difference;
  const bool large = fd.space_nodes > worth_a_gpu / std::max<std::int64_t>(fd.time_steps, 1);
  if (wanted.automatic && large && fits_gpu_stepping(request.option) && cuda_may_be_present() &&
      !cuda_devices().empty())
    return device::cuda(0);
  return open_cpu(request.common);
}

void warn_of_tolerance(const console& log, const price_request& request, const pricing& p) {
  const double tolerance = request.method.finite_difference.tolerance;
  if (p.error_estimate > tolerance)
    log.warning(fmt::format("the tolerance {:.1e} was not reached; the error is about {:.1e}", tolerance,
                            p.error_estimate));
  else
    log.warning(fmt::format("the price holds to {:.1e}, but delta not to ten times that, or gamma not to 0.1 %",
                            tolerance));
}

void warn_of_slips(const console& log, const price_request& request, const pricing& p) {
  for (const std::string& slip : slips_of(request.option)) log.warning(slip);
  if (request.more_greeks && !p.more)
    log.warning("only European options with constant coefficients and no barrier have the further Greeks");
}

void warn_of_idle_steps(const console& log, const price_request& request) {
  const fd_options& fd = request.method.finite_difference;
  if (fd.scheme == time_scheme::exponential && fd.time_steps > 0)
    log.warning("the exponential scheme takes no steps: --steps has no effect");
}

std::string reason_for_cpu(const pricing& p) {
  if (!p.grid) return "what is no grid takes microseconds there";
  return p.grid->why_cpu;
}

}  // namespace

int cmd_price(std::span<const char* const> arguments) {
  price_request request;
  const stopwatch clock;
  if (!parse_price_request(arguments, request)) return goal_reached;
  if (!request.book.empty()) return run_book(request);
  if (request.implied) return find_implied(request);

  const device dev = choose_device(request);
  const console log = make_console(request.common);
  request.method.finite_difference.dev = dev.is_cuda() ? dev : device::cpu(1);
  request.method.finite_difference.verify = request.verify;
  const stopwatch solving;
  const pricing p = price(request.option, request.method);
  const double seconds = solving.seconds();
  std::optional<proof> known;
  if (request.verify) known = prove(request, p);
  if (!request.plot.empty()) write_surface_plot(request, p);
  if (!p.tolerance_met) warn_of_tolerance(log, request, p);
  warn_of_idle_steps(log, request);
  warn_of_slips(log, request, p);
  if (request.common.precision != precision_used(request, p))
    log.warning(fmt::format("computed in {} precision: {}", precision_used(request, p),
                            request.common.precision == "single"
                                ? "single precision alone holds no price to six digits"
                                : "mixed precision is for the steps of finite differences on the CPU"));
  const bool on_gpu = p.grid && p.grid->on_gpu;
  const std::string why_cpu = dev.is_cuda() && !on_gpu ? reason_for_cpu(p) : std::string();
  if (!why_cpu.empty()) log.warning("computed on the CPU: " + why_cpu);
  if (request.common.json)
    print_object(request, p, known, on_gpu ? dev : open_cpu(request.common), why_cpu, seconds, clock.seconds());
  else
    print_text(request, p);
  if (known && !request.common.json) print_proof(p.value.price, *known);
  return p.tolerance_met && (!known || known->verified(p.value.price)) ? goal_reached : goal_missed;
}

}  // namespace vouch::cli
