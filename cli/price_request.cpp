#include "price_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/words.hpp>
#include <vouch/text/file.hpp>

#include "command_line.hpp"

#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr double any = -1.7976931348623157e308;  // the library checks what a number may be
constexpr std::array<std::string_view, 4> types{"call", "put", "c", "p"};
// In the order of tridiagonal_method.
constexpr std::array<std::string_view, 5> solvers{"auto", "thomas", "cyclic-reduction", "pcr", "partition"};

// Values as they are typed, before they mean something.
struct typed {
  std::string type, exercise, payoff, barrier, dividends, dates, rates, volatilities, local;
  std::string scheme, space, solver = "auto", dividend_model;
  std::optional<double> spot, strike, expiry, rate, dividend, volatility, cash, rebate;
  std::optional<std::int64_t> nodes, steps;
  std::optional<double> tolerance;
};

void declare(command_line& line, price_request& request, typed& t) {
  line.example("vouch price --type call --spot 100 --strike 95 ...", "one option");
  line.example("vouch price ... --scheme rannacher", "by finite differences, to an accuracy");
  line.example("vouch price --book options.csv -o prices.csv", "millions of options");
  line.section("The option");
  line.choice("--type", "T", t.type, types, "call or put");
  line.choice("--exercise", "E", t.exercise, exercise_words, "european, american or bermudan [european]");
  line.real("--spot", t.spot, any, "price of the share now");
  line.real("--strike", t.strike, any, "");
  line.real("--rate", t.rate, any, "interest and dividend yield, continuous, a year [0]");
  line.real("--dividend", t.dividend, any, "");
  line.real("--volatility", t.volatility, any, "for the square root of a year");
  line.real("--expiry", t.expiry, any, "in years");
  line.choice("--payoff", "P", t.payoff, payoff_words, "vanilla, cash-digital or asset-digital [vanilla]");
  line.real("--cash", t.cash, any, "what a cash digital pays [1]");
  line.text("--barrier", "KIND:LEVEL", t.barrier,
            "up-in, up-out, down-in or down-out, watched at every moment");
  line.real("--rebate", t.rebate, any, "paid when it is knocked out, or at expiry if never in [0]");
  line.section("What changes in time (T:VALUE, T:VALUE, ... in years)");
  line.text("--dividends", "LIST", t.dividends, "cash dividends: when and how much the share falls");
  line.choice("--dividend-model", "M", t.dividend_model, dividend_model_words,
              "piecewise: the share falls; escrowed: it lacks their worth [piecewise]");
  line.text("--dates", "T,T,...", t.dates, "when a bermudan option may be exercised besides its expiry");
  line.text("--rates", "LIST", t.rates, "rate and volatility until each time, the last for ever");
  line.text("--volatilities", "LIST", t.volatilities, "");
  line.text("--local-volatility", "FILE", t.local,
            "CSV: any cell, then spots; lines of a time and a volatility for each");
  line.section("Method");
  line.choice("--scheme", "S", t.scheme, scheme_words,
              "finite differences: rannacher, crank-nicolson, implicit-euler or exponential");
  line.choice("--space", "G", t.space, grid_words,
              "their grid: logarithmic, uniform or concentrated [logarithmic]");
  line.choice("--solver", "S", t.solver, solvers,
              "of their steps: auto, thomas, cyclic-reduction, pcr, partition [auto]");
  line.real("--tolerance", t.tolerance, 0, "error of the price, absolute [1e-6, of a book's prices 1e-4]");
  line.count("--grid", t.nodes, 8, "exactly so many nodes and time steps instead");
  line.count("--steps", t.steps, 1, "");
  line.flag("--greeks", request.method.finite_difference.greeks, "vega and rho also by finite differences");
  line.flag("--more-greeks", request.more_greeks, "dividend rho, vanna, volga, charm: European, by formula");
  line.real("--implied", request.implied, 0, "the volatility at which a call or put costs this");
  line.flag("--verify", request.verify,
            "proved bounds: of a European call or put, and of the rounding in steps on a grid");
  add_precision_option(line, request.common);
  add_device_options(line, request.common, "; cuda:all or cuda:0,1: several, for a book");
  line.section("Input and output");
  line.text("--book", "FILE.csv", request.book,
            "a line for each option, columns as the options above; - is stdin");
  line.flag("--strict", request.strict, "refuse columns that are not known instead of passing them on");
  line.text("-o,--output", "FILE.csv", request.common.output, "where the book's prices go; - is stdout");
  line.text("--plot", "FILE", request.plot, "value and boundary of exercise over the spot as SVG");
  add_report_options(line, request.common);
}

double needed(const std::optional<double>& value, std::string_view option) {
  if (!value) throw usage_error(fmt::format("option {} is missing", option), "vouch price -h shows an example");
  return *value;
}

// What would have no effect beside another option is refused.
void check_together(const typed& t, const price_request& request) {
  const auto exclude = [](bool both, std::string_view one, std::string_view other) {
    if (both) throw usage_error(fmt::format("options {} and {} exclude each other", one, other));
  };
  const auto need = [](bool alone, std::string_view option, std::string_view what) {
    if (alone) throw usage_error(fmt::format("option {} has no effect without {}", option, what));
  };
  exclude(t.rate && !t.rates.empty(), "--rate", "--rates");
  exclude(t.volatility && !t.volatilities.empty(), "--volatility", "--volatilities");
  exclude(t.volatility && !t.local.empty(), "--volatility", "--local-volatility");
  exclude(!t.volatilities.empty() && !t.local.empty(), "--volatilities", "--local-volatility");
  need(t.rebate && (t.barrier.empty() || t.barrier == "none"), "--rebate", "--barrier");
  need(t.cash && t.payoff != "cash-digital", "--cash", "--payoff cash-digital");
  need(!t.dividend_model.empty() && t.dividends.empty(), "--dividend-model", "--dividends");
  if (!request.implied) return;
  const std::string_view implied = "--implied";
  exclude(t.volatility.has_value(), implied, "--volatility");
  exclude(!t.volatilities.empty(), implied, "--volatilities");
  exclude(!t.local.empty(), implied, "--local-volatility");
  exclude(!request.plot.empty(), implied, "--plot");
  exclude(!t.scheme.empty(), implied, "--scheme");
  exclude(t.nodes.has_value(), implied, "--grid");
  exclude(!t.space.empty(), implied, "--space");
  exclude(t.solver != "auto", implied, "--solver");
  const bool european = t.exercise.empty() || t.exercise == "european";
  if (european && (t.dividends.empty() || !t.dividend_model.empty()))
    exclude(t.tolerance.has_value(), implied, "--tolerance");
  exclude(request.method.finite_difference.greeks, implied, "--greeks");
  exclude(request.more_greeks, implied, "--more-greeks");
}

void take_plain(const typed& t, price_request& request) {
  plain_option& o = request.option.plain;
  if (t.type.empty()) throw usage_error("option --type is missing", "valid values: call or put");
  o.type = type_of(t.type).value();
  if (!t.payoff.empty()) o.payoff = payoff_of(t.payoff).value();
  if (!t.exercise.empty()) request.option.exercise = exercise_of(t.exercise).value();
  o.spot = needed(t.spot, "--spot");
  o.strike = needed(t.strike, "--strike");
  o.expiry = needed(t.expiry, "--expiry");
  if (!request.implied && t.volatilities.empty() && t.local.empty())
    o.volatility = needed(t.volatility, "--volatility");
  o.rate = t.rate.value_or(0);
  o.dividend = t.dividend.value_or(0);
  o.cash = t.cash.value_or(1);
  o.rebate = t.rebate.value_or(0);
}

void take_barrier(const std::string& text, plain_option& o) {
  if (text.empty()) return;
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const auto found = barrier_of(kind);
  if (!found) {
    const std::string meant = did_you_mean(kind, barrier_words);
    throw usage_error(fmt::format("option --barrier: unknown kind '{}'", kind),
                      meant.empty() ? "valid kinds: " + either(barrier_words) : meant);
  }
  const bool none = *found == barrier_kind::none;
  if (none && colon == std::string::npos) return;
  if (none) throw usage_error("option --barrier: none has no level");
  if (colon == std::string::npos)
    throw usage_error("option --barrier: the level is missing", "as in --barrier up-out:120");
  o.barrier = *found;
  o.barrier_level = parse_real("--barrier", text.substr(colon + 1), any);
}

// What a list on the command line says; its complaint names the option.
template <class Parse>
auto parse_list(std::string_view option, const std::string& list, Parse parse) {
  try {
    return parse(list);
  } catch (const value_error& wrong) {
    throw usage_error(fmt::format("option {}: {}", option, wrong.what()), wrong.hint());
  }
}

void take_method(const typed& t, price_request& request) {
  pricing_options& method = request.method;
  fd_options& fd = method.finite_difference;
  method.force_finite_difference =
      !t.scheme.empty() || !t.space.empty() || t.nodes || t.steps || t.solver != "auto";
  fd.scheme = find_word<time_scheme>(scheme_words, t.scheme).value_or(time_scheme::rannacher);
  fd.grid = find_word<grid_kind>(grid_words, t.space).value_or(grid_kind::logarithmic);
  fd.solver = *find_word<tridiagonal_method>(solvers, t.solver);
  if (t.nodes.has_value() != t.steps.has_value() && !(t.nodes && fd.scheme == time_scheme::exponential))
    throw usage_error("options --grid and --steps come together");
  constexpr std::int64_t most_nodes = 1 << 24;  // some gigabytes
  if (t.nodes && *t.nodes > most_nodes)
    throw usage_error(fmt::format("option --grid: {} is above {}", *t.nodes, most_nodes));
  if (t.nodes && t.tolerance) throw usage_error("options --grid and --tolerance exclude each other");
  fd.space_nodes = t.nodes.value_or(0);
  fd.time_steps = t.steps.value_or(0);
  if (t.tolerance && !(*t.tolerance > 0)) throw usage_error("option --tolerance: it must be positive");
  fd.tolerance = t.tolerance.value_or(request.book.empty() ? 1e-6 : 1e-4);
  if (request.common.precision != "double") fd.precision = solve_precision::mixed;
}

// What has no proof is refused before anything is computed.
void check_verifiable(const price_request& request) {
  if (request.implied) throw usage_error("option --verify: an implied volatility is not verified");
  if (request.method.force_finite_difference || has_exact_enclosure(request.option)) return;
  throw usage_error(
      "option --verify: without a grid only the prices of European calls and puts with constant rates have "
      "proofs",
      "--scheme rannacher prices by steps, whose rounding is bounded");
}

void take_book(const typed& t, const price_request& request) {
  if (request.common.output.empty())
    throw usage_error("-o FILE.csv is missing", "as in vouch price --book options.csv -o prices.csv");
  if (t.spot || t.strike || t.expiry || !t.type.empty())
    throw usage_error("with --book the options stand in its lines",
                      "leave out --type, --spot, --strike and --expiry");
  const bool of_one = t.volatility || t.rate || t.dividend || t.cash || !t.exercise.empty() ||
                      !t.payoff.empty() || t.rebate || !t.dividend_model.empty() || !t.barrier.empty() ||
                      !t.dividends.empty() || !t.dates.empty() || !t.rates.empty() || !t.volatilities.empty() ||
                      !t.local.empty() || request.implied || !request.plot.empty();
  if (of_one || request.method.force_finite_difference)
    throw usage_error("with --book, options of a single price have no meaning",
                      "leave all but -o, --tolerance, --greeks, --more-greeks, --strict and the device");
  if (request.common.json && writes_to_stdout(request))
    throw usage_error("options --json and -o - exclude each other", "stdout carries either prices or a report");
  check_outputs({request.common.output}, {request.book});
}

}  // namespace

bool writes_to_stdout(const price_request& request) { return request.common.output == "/dev/stdout"; }

bool parse_price_request(std::span<const char* const> arguments, price_request& request) {
  command_line line("price", "price options: by formula, by exercise boundary, by finite differences");
  typed t;
  declare(line, request, t);
  if (!line.parse(arguments)) return false;
  parse_device(request.common.device, !request.book.empty());
  take_method(t, request);
  if (request.book == "-") request.book = "/dev/stdin";
  if (request.common.output == "-") request.common.output = "/dev/stdout";
  if (!request.book.empty()) {
    take_book(t, request);
    if (request.verify) throw usage_error("option --verify: books are not verified");
    return true;
  }
  if (!request.common.output.empty()) throw usage_error("-o FILE.csv is for --book");
  if (request.strict) throw usage_error("--strict is for --book");
  check_together(t, request);
  take_plain(t, request);
  take_barrier(t.barrier, request.option.plain);
  if (!t.dates.empty() && request.option.exercise != exercise_style::bermudan)
    throw usage_error("option --dates: only a bermudan option has dates", "--exercise bermudan");
  contract& c = request.option;
  c.exercise_dates = parse_list("--dates", t.dates, parse_times);
  c.dividends = parse_list("--dividends", t.dividends, parse_dividends);
  if (!t.dividend_model.empty()) c.model = dividend_model_of(t.dividend_model).value();
  c.rates = parse_list("--rates", t.rates, parse_curve);
  c.volatilities = parse_list("--volatilities", t.volatilities, parse_curve);
  if (!t.local.empty()) c.local_volatility = read_volatility_table(t.local);
  check_picture(request.plot);
  check_outputs({request.plot}, {t.local});
  if (request.verify) check_verifiable(request);
  return true;
}

}  // namespace vouch::cli
