#include "verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <vouch/interval/rounding.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/text/number.hpp>
#include <vouch/verify/bound_text.hpp>

#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr double most_digits = 15;
constexpr std::array<std::string_view, 2> bounds_forms{"lower-upper", "mid-radius"};

// A file, or else a number, of which the bound is at least as large as its decimals.
void take_radius(const char* option, const std::string& given, double& number, std::string& file) {
  std::error_code ignored;
  if (given.empty()) return;
  if (std::filesystem::exists(given, ignored)) {
    file = given;
    return;
  }
  const char* const end = given.data() + given.size();
  const auto [value, stop, error] = vouch::parse_real(given.data(), end);
  if (stop != end || error == number_error::malformed)
    throw usage_error(
        fmt::format("option {}: '{}' is neither a number nor a file that is there", option, given));
  number =
      error == number_error::overflow ? parse_real(option, given, 0) : add_up(value, decimal_radius(given));
  if (!(value >= 0)) throw usage_error(fmt::format("option {}: {} is below 0", option, given));
}

}  // namespace

double verification_request::relative() const {
  const double asked_for = digits.value_or(0);
  return asked_for >= 1 ? std::pow(10.0, -asked_for) : asked_for;
}

void add_bound_options(command_line& line, verification_request& request) {
  line.text("--bounds", "FILE", request.bounds, "lower and upper bound of every component");
  line.choice("--bounds-form", "FORM", request.bounds_form, bounds_forms,
              "lower-upper or mid-radius [lower-upper]");
  line.text("--matrix-radius", "R", request.matrix_radius, "data known to R: relative, or a file of radii");
  line.text("--rhs-radius", "R", request.rhs_radius, "");
  line.flag("--decimal", request.decimal,
            "bound for the decimal numbers of the files, not their nearest doubles");
}

void add_verification_options(command_line& line, verification_request& request) {
  line.optional_real("--verify", "X", request.wanted, request.digits, 0,
                     "prove x correct: to X digits, or to a relative error X below 1");
  add_bound_options(line, request);
}

void check_verification(verification_request& request, const char* option) {
  take_radius("--matrix-radius", request.matrix_radius, request.within.matrix, request.matrix_file);
  take_radius("--rhs-radius", request.rhs_radius, request.within.rhs, request.rhs_file);
  const bool more = !request.bounds.empty() || request.within.matrix > 0 || request.within.rhs > 0 ||
                    request.has_radii_of_entries();
  request.wanted = request.wanted || more || request.digits;
  if (request.within.matrix >= 1) throw usage_error("option --matrix-radius: must be below 1");
  if (!request.digits) return;
  if (*request.digits == 0)
    throw usage_error(fmt::format("option {}: 0 is neither a number of digits nor an error", option),
                      "leave the number out for whatever can be proved");
  if (*request.digits >= 1 && (*request.digits != std::floor(*request.digits) || *request.digits > most_digits))
    throw usage_error(
        fmt::format("option {}: {:g} is no number of digits from 1 to 15", option, *request.digits),
        fmt::format("a number below 1 is a relative error, as in {} 1e-12", option));
}

proof_request proof_for(const device& cpu, const verification_request& request, const linear_system& system,
                        data_radii& radii) {
  proof_request asked{request.relative(), request.within, nullptr};
  if (system.complex_entries && request.has_radii_of_entries())
    throw value_error("files of radii and --decimal are not for complex matrices",
                      "--matrix-radius and --rhs-radius take a number, relative to real and imaginary parts");
  if (!request.has_radii_of_entries()) return asked;
  radii = read_radii(cpu, {request.within, request.matrix_file, request.rhs_file, request.decimal}, system);
  asked.radii = &radii;
  return asked;
}

void withhold_overflow(const verification_request& request, view<const double> x, solution_proof& proof) {
  if (!proof.verified || request.bounds.empty() || request.bounds_form == "mid-radius") return;
  for (std::int64_t k = 0; k < x.size(); ++k)
    if (!std::isfinite(sub_down(x[k], proof.radius[k])) || !std::isfinite(add_up(x[k], proof.radius[k]))) {
      proof.verified = proof.reached = false;
      proof.reason = "a bound of component " + std::to_string(k) + " overflows";
      return;
    }
}

json size_json(const solution_proof& v) {
  const auto known = [&](double number) { return v.verified ? or_null(number) : json(); };
  return {{"max_absolute", known(v.max_absolute)},
          {"max_relative", known(v.max_relative)},
          {"median_relative", known(v.median_relative)}};
}

void log_verification(const console& log, const solution_proof& v) {
  if (!v.verified) return log.line("proved     nothing: " + v.reason);
  using vouch::detail::rounded_above;
  log.line(fmt::format("proved     error at most {}, relative {} (half of all below {})",
                       rounded_above(v.max_absolute), rounded_above(v.max_relative),
                       rounded_above(v.median_relative)));
  log.line(fmt::format("           by {}, {} refinement{}, {:.3g} s{}", v.method, v.refinements,
                       v.refinements == 1 ? "" : "s", v.seconds,
                       std::isfinite(v.condition_estimate)
                           ? fmt::format("; condition number about {:.2g}", v.condition_estimate)
                           : ""));
}

namespace {

const char* exact_solution(const solution_proof& v) {
  if (v.problem == "least-squares") return "the exact least-squares solution";
  return v.problem == "least-norm" ? "the exact shortest solution" : "the exact solution";
}

}  // namespace

std::string sentence(const solution_proof& v) {
  if (!v.verified) return fmt::format("not verified: {}\n", v.reason);
  std::string text = fmt::format("proved: no component of x is farther than {} from {}\n",
                                 vouch::detail::rounded_above(v.max_absolute), exact_solution(v));
  if (v.digits > 0)
    text = fmt::format("proved: every component of x is correct to at least {} digit{}{}\n", v.digits,
                       v.digits == 1 ? "" : "s",
                       v.problem == "square" ? "" : std::string(" of ") + exact_solution(v));
  if (!v.reached) text += fmt::format("that is less than was asked: {}\n", v.reason);
  return text;
}

void write_bounds(atomic_files& files, const verification_request& request, const array<double>& x,
                  const solution_proof& v, bool by_parts) {
  if (request.bounds.empty() || !v.verified) return;
  const bool middle = request.bounds_form == "mid-radius";
  const std::int64_t parts = by_parts ? 2 : 1;  // of a component, one after the other
  const std::int64_t n = v.rows / parts, columns = n > 0 ? x.size() / n : 0;
  array<double> bounds(device::cpu(1), 2 * x.size());
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = (j / parts * n + i) * parts + j % parts;
      const double value = x[at], radius = v.radius[at];
      bounds[2 * j * n + i] = middle ? value : sub_down(value, radius);
      bounds[(2 * j + 1) * n + i] = middle ? radius : add_up(value, radius);
    }
  const std::array sides{middle ? text_side::nearest : text_side::below, text_side::above};
  write_vectors(files.open(request.bounds), bounds, n, 2 * columns, sides);
}

}  // namespace vouch::cli
