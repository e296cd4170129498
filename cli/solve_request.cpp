#include "solve_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/verified_solve.hpp>
#include <vouch/sparse/csr.hpp>

#include "command_line.hpp"
#include "outputs.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::array<std::string_view, 15> methods{
    "auto",      "cg",   "jacobi", "gauss-seidel",     "sor", "ssor",     "async", "lu", "cholesky",
    "sparse-lu", "band", "thomas", "cyclic-reduction", "pcr", "partition"};
constexpr std::size_t first_band_method = 10;
constexpr std::array<std::string_view, 3> sweeps{"forward", "backward", "symmetric"};
constexpr std::array<std::string_view, 2> orderings{"natural", "multicolor"};
constexpr std::array<std::string_view, 2> rhs_words{"ones", "row-sums"};
constexpr std::array<std::string_view, 2> initial_words{"zeros", "ones"};

// "block-jacobi[:size]" without what is in brackets.
std::vector<std::string> plain_precondition_names() {
  std::vector<std::string> names;
  for (const std::string& shown : precondition_names()) names.push_back(shown.substr(0, shown.find('[')));
  return names;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// A name that does not exist, or a parameter out of range, shows on any matrix: here on (1).
void check_precondition(const std::string& spec) {
  const std::vector<std::string> names = plain_precondition_names();
  const std::string name = spec.substr(0, spec.find(':'));
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string meant = did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
    throw usage_error(fmt::format("option --precond: unknown value '{}'", spec),
                      (meant.empty() ? "" : meant + " ") + "valid values: " + list(precondition_names()));
  }
  const device cpu = device::cpu(1);
  const csr<double> one{1, 1, array<std::int64_t>::from(cpu, std::array<std::int64_t, 2>{0, 1}),
                        array<std::int32_t>::from(cpu, std::array<std::int32_t, 1>{0}),
                        array<double>::from(cpu, std::array<double, 1>{1.0})};
  try {
    make_preconditioner<double>(cpu, one, spec);
  } catch (const value_error& e) {
    throw usage_error(fmt::format("option --precond: {}", e.what()), e.hint());
  }
}

// "NAME:VALUE" of an option; what says what the value is.
std::pair<std::string, std::string> named_value(const char* option, const std::string& given,
                                                std::span<const std::string_view> names, const char* what,
                                                const char* value) {
  const std::size_t colon = given.find(':');
  const std::string name = given.substr(0, colon);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string meant = did_you_mean(name, names);
    throw usage_error(fmt::format("option {}: unknown value '{}'", option, name),
                      (meant.empty() ? "" : meant + " ") + fmt::format("there is {}", either(names)));
  }
  if (colon == std::string::npos)
    throw usage_error(fmt::format("option {}: {} needs a {}", option, name, what),
                      fmt::format("as in {} {}:{}", option, name, value));
  return {name, given.substr(colon + 1)};
}

void parse_stop(const std::string& rule, solve_request& request) {
  constexpr std::array<std::string_view, 2> rules{"recurrence", "mean-change"};
  const auto [name, value] = named_value("--stop", rule, rules, "bound", "1e-5");
  (name == "recurrence" ? request.stop_recurrence : request.stop_mean_change) = parse_real("--stop", value, 0);
}

void parse_acceleration(const std::string& given, solve_request& request) {
  constexpr std::array<std::string_view, 2> names{"anderson", "chebyshev"};
  request.chebyshev = given == "chebyshev";
  if (request.chebyshev) return;
  if (given.starts_with("chebyshev"))
    throw usage_error("option --accel: chebyshev takes no parameter", "it estimates the spectrum by itself");
  const auto [name, value] = named_value("--accel", given, names, "depth", "2");
  request.anderson = static_cast<int>(parse_count("--accel", value, 1, 16));
}

// What some methods do not take.
void check_method(const solve_request& request) {
  const std::string& m = request.method;
  const auto refuse = [&](bool given, const char* option, const char* who) {
    if (given) throw usage_error(fmt::format("option {}: --method {} takes none", option, m), who);
  };
  refuse(request.omega && (!request.is_stationary() || m == "gauss-seidel"), "--omega",
         "jacobi, sor, ssor and async do");
  if (request.omega_auto && m != "sor" && m != "ssor")
    throw usage_error(fmt::format("option --omega: --method {} takes no auto", m), "sor and ssor do");
  refuse(!request.sweep.empty() && m != "gauss-seidel" && m != "sor", "--sweep", "gauss-seidel and sor do");
  refuse(!request.ordering.empty() && (!request.is_stationary() || m == "jacobi" || m == "async"), "--ordering",
         "gauss-seidel, sor and ssor do");
  if (!request.is_stationary() || m == "async")
    refuse(request.anderson > 0 || request.chebyshev, "--accel", "jacobi, gauss-seidel, sor and ssor do");
  if (!request.is_stationary()) {
    refuse(request.stop_mean_change.has_value(), "--stop mean-change", "sweeps do");
    if (!request.is_direct() && !is_band_method(m)) return;
    refuse(m == "sparse-lu" && parse_device(request.common.device).cuda, "--device cuda", "it runs on the CPU");
    refuse(request.precondition != "none", "--precond", "cg does");
    refuse(request.is_direct() && request.common.precision == "mixed", "--precision mixed",
           "take double or single");
    refuse(!request.by_residual(), request.fixed_iterations ? "--fixed-iterations" : "--stop",
           "cg and sweeps do");
    return;
  }
  if (request.omega && !(*request.omega > 0 && *request.omega < 2))
    throw usage_error(fmt::format("option --omega: {} does not lie between 0 and 2", *request.omega),
                      "outside of it the iteration diverges");
  refuse(request.precondition != "none", "--precond", "cg does");
}

// A file is a file; but a missing one whose name is nearly a word of this option is that word mistyped.
void check_word(std::string_view option, const std::string& given, std::span<const std::string_view> words) {
  std::error_code ignored;
  if (std::filesystem::exists(given, ignored)) return;
  if (std::find(words.begin(), words.end(), given) != words.end()) return;
  const std::string meant = did_you_mean(given, words);
  if (!meant.empty()) throw usage_error(fmt::format("option {}: there is no file '{}'", option, given), meant);
}

// "" for a word.
std::string file_of(const std::string& given, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), given) == words.end() ? given : "";
}

void declare(command_line& line, solve_request& request, std::string& stop, std::string& accelerate,
             std::string& omega) {
  line.example("vouch solve A.mtx", "A x = (1, ..., 1), how good x is");
  line.example("vouch solve A.mtx --rhs b.txt -o x.txt", "with a right-hand side; x to a file");
  line.example("vouch solve A.mtx --plot curve.svg --json", "convergence plot; result for programs");
  line.argument("A", request.matrix, "Matrix Market file (.gz as well), dense ones also .npy");

  line.section("System");
  line.text("--rhs", "B", request.rhs, "ones, row-sums (A*ones) or a file: .mtx, .npy, text [ones]");
  line.flag("--batch", request.batch,
            "A has tridiagonal systems: lines of dl d du b, or .npz with these arrays");
  line.text("--initial", "X", request.initial, "the start: zeros, ones or a file [zeros]");
  line.text("-o,--output", "FILE", request.common.output, "write x to FILE: .txt, .mtx or .npy");

  line.section("Method");
  line.choice("--method", "NAME", request.method, methods,
              "cg, jacobi, gauss-seidel, sor, ssor, async, lu, cholesky [auto],");
  line.note("", "sparse-lu; tridiagonal: band, thomas, cyclic-reduction, pcr, partition");
  line.text("--omega", "X", omega, "relaxation of jacobi, sor, ssor, async, in (0, 2); sor, ssor: auto [1]");
  line.choice("--sweep", "ORDER", request.sweep, sweeps,
              "of gauss-seidel, sor: forward, backward or symmetric");
  line.choice("--ordering", "NAME", request.ordering, orderings,
              "of gauss-seidel, sor, ssor: natural or multicolor [natural]");
  line.text("--accel", "NAME", accelerate,
            "of sweeps: anderson:M mixes 1 to 16 iterates; chebyshev, real spectra");
  line.text("--precond", "NAME", request.precondition, "preconditioner, with its parameter if any [none]:");
  line.note("", list(precondition_names()));
  add_precision_option(line, request.common);
  line.note("", "mixed: fewer bits inside, a double answer (cg and sweeps)");
  add_device_options(line, request.common);

  line.section("When to stop");
  line.real("--rtol", request.rtol, 0, "||b - Ax|| <= X ||b||, checked [1e-8; single 1e-5]");
  line.real("--atol", request.atol, 0, "or ||b - Ax|| <= X [0]");
  line.count("--max-iterations", request.max_iterations, 1, "give up after N [1e6 or 20 n, the larger]");
  line.count("--fixed-iterations", request.fixed_iterations, 0, "do exactly N, whatever the residual");
  line.text("--stop", "RULE", stop, "recurrence:EPS, ||r|| < EPS by the recurrence;");
  line.note("", "mean-change:EPS, mean |x_new - x_old| < EPS (sweeps)");

  add_verification_options(line, request.verification);

  line.section("Reports");
  line.text("--history", "FILE", request.history, "residual of every recorded iteration as CSV");
  line.text("--plot", "FILE", request.plot, "convergence curve as SVG");
  line.count("--repeat", request.common.repeat, 1, "solve N times; mean and deviation of the time [1]");
  add_talk_options(line, request.common);
}

}  // namespace

double solve_request::relative_tolerance() const {
  return rtol.value_or(common.precision == "single" ? default_rtol<float> : default_rtol<double>);
}

bool is_band_method(const std::string& method) {
  return std::find(methods.begin() + first_band_method, methods.end(), method) != methods.end();
}

bool parse_solve_request(std::span<const char* const> arguments, solve_request& request) {
  command_line line("solve", "solve A x = b and say how good x is");
  std::string stop, accelerate, omega;
  declare(line, request, stop, accelerate, omega);
  if (!line.parse(arguments)) return false;

  if (!stop.empty()) parse_stop(stop, request);
  if (!accelerate.empty()) parse_acceleration(accelerate, request);
  request.omega_auto = omega == "auto";
  if (!omega.empty() && !request.omega_auto)
    request.omega = parse_real("--omega", omega, -std::numeric_limits<double>::max());
  check_method(request);
  if (!stop.empty() && request.fixed_iterations)
    throw usage_error("options --stop and --fixed-iterations exclude each other");
  if (request.batch && (request.rhs != "ones" || request.initial != "zeros" || request.precondition != "none"))
    throw usage_error("option --batch: the file holds the right-hand sides; no --rhs, --initial or --precond");
  if (request.batch && (!request.by_residual() || request.wants_iterations()))
    throw usage_error("option --batch: no --fixed-iterations, --max-iterations, --stop, --history or --plot",
                      "batches are solved without iterations");
  if (request.batch && request.common.output.ends_with(".mtx"))
    throw usage_error("option --batch: x is written as .npy or text, not as .mtx");
  if (request.batch && request.method != "auto" && !is_band_method(request.method))
    throw usage_error(fmt::format("option --batch: {} does not solve tridiagonal batches", request.method));
  check_word("--rhs", request.rhs, rhs_words);
  check_word("--initial", request.initial, initial_words);
  check_precondition(request.precondition);
  parse_device(request.common.device);
  check_verification(request.verification);
  if (request.batch && request.verification.has_radii_of_entries())
    throw usage_error("option --batch: radii are numbers there, no files, and there is no --decimal");
  check_outputs({request.common.output, request.history, request.plot, request.verification.bounds},
                {request.matrix, file_of(request.rhs, rhs_words), file_of(request.initial, initial_words),
                 request.verification.matrix_file, request.verification.rhs_file});
  return true;
}

}  // namespace vouch::cli
