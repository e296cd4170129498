// vouch price: one option, or a book of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/interval/text.hpp>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/implied.hpp>

#include "command.hpp"
#include "price_book_run.hpp"
#include "price_plot.hpp"
#include "price_request.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

using json = nlohmann::ordered_json;

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

const char* const scheme_names[] = {"rannacher", "crank-nicolson", "implicit-euler", "exponential"};
const char* const grid_names[] = {"logarithmic", "uniform", "concentrated"};

json grid_json(const pricing& p, const fd_options& options) {
  if (!p.grid) return nullptr;
  return {{"nodes", p.grid->space_nodes},
          {"steps", p.grid->time_steps},
          {"space", grid_names[static_cast<int>(options.grid)]},
          {"scheme", scheme_names[static_cast<int>(options.scheme)]},
          {"solver", name(options.solver)},
          {"extrapolated", p.grid->extrapolated}};
}

// At least the distance of the price to the exact one.
double proved_error(const pricing& p, const enclosed_valuation& v) {
  return std::max(sub_up(p.value.price, v.price.lo()), sub_up(v.price.hi(), p.value.price));
}

json enclosure_json(const std::optional<enclosed_valuation>& v) {
  if (!v) return nullptr;
  const auto ends = [](const interval<double>& x) {
    return json{number_or_null(x.lo()), number_or_null(x.hi())};
  };
  return {{"price", ends(v->price)}, {"delta", ends(v->delta)}, {"gamma", ends(v->gamma)},
          {"theta", ends(v->theta)}, {"vega", ends(v->vega)},   {"rho", ends(v->rho)}};
}

json error_bound_json(const pricing& p, const std::optional<enclosed_valuation>& v) {
  if (!v) return nullptr;
  const double error = proved_error(p, *v);
  return {
      {"verified", std::isfinite(error)}, {"method", "closed form"}, {"max_absolute", number_or_null(error)}};
}

void print_enclosure(const pricing& p, const enclosed_valuation& v) {
  const auto line = [](const char* name, const interval<double>& x) {
    fmt::print("  {:6} {}\n", name, interval_text(x));
  };
  fmt::print("proved: the price errs by at most {:.2g}; the exact values lie in\n",
             std::nextafter(proved_error(p, v) * 1.05, INFINITY));
  line("price", v.price);
  line("delta", v.delta);
  line("gamma", v.gamma);
  line("theta", v.theta);
  line("vega", v.vega);
  line("rho", v.rho);
}

void print_object(const price_request& request, const pricing& p,
                  const std::optional<enclosed_valuation>& proved, const device& dev, double seconds,
                  double total) {
  const valuation& v = p.value;
  json object{{"schema", "vouch.price/1"}, {"version", version}};
  object["price"] = number_or_null(v.price);
  object["delta"] = number_or_null(v.delta);
  object["gamma"] = number_or_null(v.gamma);
  object["theta"] = number_or_null(v.theta);
  object["vega"] = p.has_vega_and_rho ? number_or_null(v.vega) : json(nullptr);
  object["rho"] = p.has_vega_and_rho ? number_or_null(v.rho) : json(nullptr);
  object["error_estimate"] = p.error_estimate;
  object["tolerance"] = request.method.finite_difference.tolerance;
  object["tolerance_met"] = p.tolerance_met;
  object["error_bound"] = error_bound_json(p, proved);
  object["enclosure"] = enclosure_json(proved);
  object["closed_form"] = p.closed_form ? number_or_null(*p.closed_form) : json(nullptr);
  object["method"] = name(p.method);
  object["grid"] = grid_json(p, request.method.finite_difference);
  object["precision"] = request.common.precision;
  object["device"] = to_json(dev);
  object["time_s"] = {{"solve", seconds}, {"total", total}};
  object["memory_bytes"] = {{"host_peak", host_peak_bytes()}, {"device_peak", device_peak_bytes()}};
  print_json(object);
}

void print_text(const price_request& request, const pricing& p) {
  const valuation& v = p.value;
  fmt::print("price  {:.10g}   error about {:.1e}\n", v.price, p.error_estimate);
  fmt::print("delta  {:.8g}   gamma {:.8g}   theta {:.8g}\n", v.delta, v.gamma, v.theta);
  if (p.has_vega_and_rho) fmt::print("vega   {:.8g}   rho {:.8g}\n", v.vega, v.rho);
  if (p.grid)
    fmt::print("by finite differences: {}, {} nodes, {} steps, {}{}\n",
               scheme_names[static_cast<int>(request.method.finite_difference.scheme)], p.grid->space_nodes,
               p.grid->time_steps, grid_names[static_cast<int>(request.method.finite_difference.grid)],
               p.grid->extrapolated ? ", extrapolated" : "");
  else
    fmt::print("by {}\n", name(p.method));
  if (p.grid && p.closed_form) fmt::print("closed form {:.10g}\n", *p.closed_form);
}

int find_implied(const price_request& request) {
  contract c = request.option;
  check(c);
  if (c.exercise != exercise_style::european || !c.is_plain() || c.plain.payoff != payoff_kind::vanilla ||
      c.plain.barrier != barrier_kind::none)
    throw usage_error("option --implied: only European calls and puts without cash dividends have it");
  const stopwatch clock;
  const double volatility = implied_volatility(c.plain, *request.implied);
  if (request.common.json)
    print_json({{"schema", "vouch.price/1"},
                {"version", version},
                {"implied_volatility", volatility},
                {"price", *request.implied},
                {"method", "implied-volatility"},
                {"time_s", {{"solve", clock.seconds()}, {"total", clock.seconds()}}}});
  else
    fmt::print("implied volatility {:.16g}\n", volatility);
  return goal_reached;
}

}  // namespace

int cmd_price(std::span<const char* const> arguments) {
  price_request request;
  const stopwatch clock;
  if (!parse_price_request(arguments, request)) return goal_reached;
  if (!request.book.empty()) return run_book(request);
  if (request.implied) return find_implied(request);

  // A single option is a matter of microseconds to milliseconds on the CPU: less than the start of a GPU.
  const device_request wanted = parse_device(request.common.device);
  const device dev = wanted.cuda ? device::cuda(wanted.index) : open_cpu(request.common);
  const console log = make_console(request.common);
  request.method.finite_difference.dev = dev.is_cuda() ? dev : device::cpu(1);
  const stopwatch solving;
  const pricing p = price(request.option, request.method);
  const double seconds = solving.seconds();
  std::optional<enclosed_valuation> proved;
  if (request.verify) proved = enclose_european_price(request.option.plain);
  if (!request.plot.empty()) write_surface_plot(request, p);
  if (!p.tolerance_met)
    log.warning(fmt::format("the tolerance {:.1e} was not reached; the error is about {:.1e}",
                            request.method.finite_difference.tolerance, p.error_estimate));
  if (request.common.json)
    print_object(request, p, proved, p.grid && p.grid->on_gpu ? dev : open_cpu(request.common), seconds,
                 clock.seconds());
  else
    print_text(request, p);
  if (proved && !request.common.json) print_enclosure(p, *proved);
  const bool unproved = proved && !std::isfinite(proved_error(p, *proved));
  return p.tolerance_met && !unproved ? goal_reached : goal_missed;
}

}  // namespace vouch::cli
