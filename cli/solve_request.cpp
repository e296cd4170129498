#include "solve_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/distributed/petsc.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/text/tokens.hpp>

#include "command_line.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::array<std::string_view, 3> amg_types{"auto", "sa", "structured"};
constexpr std::array<std::string_view, 2> engines{"ranks", "petsc"};
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

preconditioner_choice parse_precondition(const std::string& spec) {
  const std::vector<std::string> names = plain_precondition_names();
  const std::string name = spec.substr(0, spec.find(':'));
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw usage_error(fmt::format("option --precond: unknown value '{}'", spec),
                      did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()),
                                   "valid values: " + list(precondition_names())));
  try {
    preconditioner_choice choice = parse_preconditioner(spec);
    check_parameters(choice);
    return choice;
  } catch (const value_error& e) {
    throw usage_error(fmt::format("option --precond: {}", e.what()), e.hint());
  }
}

// PETSc's are others, without parameters.
void check_petsc(const solve_request& request) {
  if (request.engine != "petsc") {
    if (!request.petsc_words.empty())
      throw usage_error("option --petsc: there is no --engine petsc", "its options are for PETSc");
    return;
  }
  const std::span<const std::string_view> names = petsc_preconditioner_names();
  if (request.precondition.empty() ||
      std::find(names.begin(), names.end(), request.precondition) != names.end())
    return;
  throw usage_error(fmt::format("option --precond: '{}' is not one of PETSc's here", request.precondition),
                    did_you_mean(request.precondition, names, "there is " + either(names)));
}

// "NAME:VALUE" of an option; what says what the value is.
std::pair<std::string, std::string> named_value(const char* option, const std::string& given,
                                                std::span<const std::string_view> names, const char* what,
                                                const char* value) {
  const std::size_t colon = given.find(':');
  const std::string name = given.substr(0, colon);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw usage_error(fmt::format("option {}: unknown value '{}'", option, name),
                      did_you_mean(name, names, "there is " + either(names)));
  if (colon == std::string::npos)
    throw usage_error(fmt::format("option {}: {} needs a {}", option, name, what),
                      fmt::format("as in {} {}:{}", option, name, value));
  return {name, given.substr(colon + 1)};
}

void parse_stop(const std::string& rule, solve_request& request) {
  constexpr std::array<std::string_view, 2> rules{"recurrence", "mean-change"};
  const auto [name, value] = named_value("--stop", rule, rules, "bound", "1e-5");
  stopping_criterion& goal = request.options.goal;
  (name == "recurrence" ? goal.stop_recurrence : goal.stop_mean_change) = parse_real("--stop", value, 0);
}

void parse_acceleration(const std::string& given, solve_request& request) {
  constexpr std::array<std::string_view, 2> names{"anderson", "chebyshev"};
  acceleration& accelerate = request.options.accelerate;
  accelerate.chebyshev = given == "chebyshev";
  if (accelerate.chebyshev) return;
  if (given.starts_with("chebyshev"))
    throw usage_error("option --accel: chebyshev takes no parameter", "it estimates the spectrum by itself");
  const auto [name, value] = named_value("--accel", given, names, "depth", "2");
  accelerate.anderson = static_cast<int>(parse_count("--accel", value, 1, 16));
}

// What the method does not take.
void check_method(const solve_request& request) {
  const solve_options& asked = request.options;
  const std::optional<refused_option> refused =
      find_refused_option(asked, parse_device(request.common.device, true).cuda);
  if (refused)
    throw usage_error(
        fmt::format("option --{}: --method {} takes {}", refused->option, asked.method, refused->what),
        refused->hint);
  if (asked.omega && !(*asked.omega > 0 && *asked.omega < 2))
    throw usage_error(fmt::format("option --omega: {} does not lie between 0 and 2", *asked.omega),
                      "outside of it the iteration diverges");
}

// "auto" and the names of the table.
const std::vector<std::string_view>& method_names() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names{"auto"};
    for (const method* m : methods()) names.emplace_back(m->name);
    return names;
  }();
  return all;
}

// The names of the table, for help.
std::string method_list() {
  std::string any, tridiagonal;
  for (const method* m : methods()) {
    std::string& list = solves_tridiagonal(m->name) ? tridiagonal : any;
    list += (list.empty() ? "" : ", ") + std::string(m->name);
  }
  return any + "; tridiagonal: " + tridiagonal;
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

// Options as they are typed.
struct typed_options {
  std::string stop, accelerate, omega, sweep, ordering, every, rhs, initial;
  std::optional<std::int64_t> max_iterations;
};

void declare(command_line& line, solve_request& request, typed_options& typed) {
  line.example("vouch solve A.mtx", "A x = (1, ..., 1), how good x is");
  line.example("vouch solve A.mtx --rhs b.txt -o x.txt", "with a right-hand side; x to a file");
  line.example("vouch solve A.mtx --plot curve.svg --json", "convergence plot; result for programs");
  line.argument("A", request.matrix, matrix_files);

  line.section("System");
  line.text("--rhs", "B", typed.rhs, "ones, row-sums (A*ones) or a file: .mtx, .npy, text [ones]");
  line.flag("--batch", request.batch,
            "A has systems: lines of dl d du b, .npz of these or of CSR (indptr, ...)");
  line.text("--initial", "X", typed.initial, "the start: zeros, ones or a file [zeros]");
  line.text("-o,--output", "FILE", request.common.output, "write x to FILE: .txt, .mtx or .npy");

  line.section("Method");
  line.choice("--method", "NAME", request.options.method, method_names(), "[auto] " + method_list());
  line.text("--omega", "X", typed.omega,
            "relaxation of jacobi, sor, ssor, async, in (0, 2); sor, ssor: auto [1]");
  line.choice("--sweep", "ORDER", typed.sweep, sweep_words,
              "of gauss-seidel, sor: forward, backward or symmetric");
  line.choice("--ordering", "NAME", typed.ordering, ordering_words,
              "of gauss-seidel, sor, ssor: natural or multicolor [natural]");
  line.text("--accel", "NAME", typed.accelerate,
            "of sweeps: anderson:M mixes 1 to 16 iterates; chebyshev, real spectra");
  line.text("--precond", "NAME", request.precondition,
            "[none, or what auto takes] " + list(precondition_names()));
  line.suggest(plain_precondition_names());
  line.choice("--amg-type", "NAME", request.amg_type, amg_types,
              "of amg: structured, for grids; sa, smoothed aggregation [auto]");
  line.text("--coordinates", "FILE", request.coordinates,
            "of amg for elasticity: a node a line, 2 or 3 numbers; rigid body modes");
  line.text("--near-nullspace", "FILE", request.near_nullspace,
            "of amg: columns that the matrix nearly annihilates, to 12");
  line.choice("--backend", "NAME", request.options.backend, sparse_backend_names(),
              "library of sparse factorisations [auto]");
  line.choice("--engine", "NAME", request.engine, engines, "ranks or petsc: rows shared by what mpirun starts");
  line.text("--petsc", "OPTIONS", request.petsc_words,
            "of --engine petsc: its own, \"-ksp_view\"; --precond asm, gamg, boomeramg");
  add_precision_option(line, request.common, ", fewer bits inside (cg, sweeps, cudss)");
  add_device_options(line, request.common, "; cuda:all, cuda:0,1: cg, proofs, batch");

  line.section("When to stop");
  line.real("--rtol", request.options.goal.rtol, 0, "||b - Ax|| <= X ||b||, checked [1e-8; single 1e-5]");
  line.real("--atol", request.options.goal.atol, 0, "or ||b - Ax|| <= X [0]");
  line.count("--max-iterations", typed.max_iterations, 1, "give up after N [1e6 or 20 n, the larger]");
  line.count("--fixed-iterations", request.options.goal.fixed_iterations, 0,
             "do exactly N, whatever the residual");
  line.text("--stop", "RULE", typed.stop,
            "recurrence:EPS on ||r||, mean-change:EPS on |x_new - x_old| (sweeps)");

  line.section("Proof and checkpoints");
  add_verification_options(line, request.verification);
  line.text("--checkpoint", "FILE", request.checkpoint_file,
            "save the iteration to FILE from time to time, and when it is interrupted");
  line.text("--checkpoint-every", "TIME", typed.every, "as in 30s, 5min, 2h or seconds [5min]");
  line.text("--resume", "FILE", request.resume_file,
            "go on from a checkpoint of this A and B, its options, to the same bits");

  line.section("Reports");
  line.text("--history", "FILE", request.history, "residual of every recorded iteration as CSV");
  line.text("--plot", "FILE", request.plot, "convergence curve as SVG");
  line.count("--repeat", request.common.repeat, 1, "solve N times; mean and deviation of the time [1]");
  add_report_options(line, request.common);
}

// What the coarse levels of multigrid are made for, and who makes them; asks for multigrid.
void check_multigrid(solve_request& request) {
  const bool by_type = request.amg_type != amg_types.front();
  if (request.coordinates.empty() && request.near_nullspace.empty() && !by_type) return;
  const char* const option = !request.coordinates.empty()      ? "--coordinates"
                             : !request.near_nullspace.empty() ? "--near-nullspace"
                                                               : "--amg-type";
  if (!request.engine.empty())
    throw usage_error(fmt::format("option {}: is not there on ranks", option), "see vouch solve -h, --engine");
  if (!request.coordinates.empty() && !request.near_nullspace.empty())
    throw usage_error("options --coordinates and --near-nullspace exclude each other");
  if (request.precondition.empty()) request.precondition = "amg";
  if (request.precondition.substr(0, request.precondition.find(':')) != "amg")
    throw usage_error(fmt::format("option {}: --precond {} takes none", option, request.precondition),
                      "--precond amg does");
}

void take_options(const typed_options& typed, solve_request& request) {
  check_multigrid(request);
  solve_options& options = request.options;
  options.precision = *find_word<working_precision>(precision_words, request.common.precision);
  if (!typed.stop.empty()) parse_stop(typed.stop, request);
  if (!typed.accelerate.empty()) parse_acceleration(typed.accelerate, request);
  options.estimate_omega = typed.omega == "auto";
  if (!typed.omega.empty() && !options.estimate_omega)
    options.omega = parse_real("--omega", typed.omega, -std::numeric_limits<double>::max());
  options.sweep = find_word<sweep_order>(sweep_words, typed.sweep);
  options.ordering = find_word<sweep_ordering>(ordering_words, typed.ordering);
  if (!typed.stop.empty() && options.goal.fixed_iterations)
    throw usage_error("options --stop and --fixed-iterations exclude each other");
  if (typed.max_iterations && options.goal.fixed_iterations)
    throw usage_error("options --max-iterations and --fixed-iterations exclude each other");
  options.goal.max_iterations = typed.max_iterations.value_or(0);
  check_petsc(request);
  if (!request.precondition.empty() && request.engine != "petsc")
    options.preconditioner = parse_precondition(request.precondition);
  if (request.amg_type != amg_types.front()) options.preconditioner->type = parse_amg_type(request.amg_type);
  if (!typed.every.empty()) {
    if (request.checkpoint_file.empty())
      throw usage_error("option --checkpoint-every: there is no --checkpoint", "it names the file");
    request.checkpoint_seconds = parse_duration("--checkpoint-every", typed.every);
  }
  check_companions_of_checkpoint(request);
  if (request.engine.empty()) {
    take_checkpoint(request);
    request.settle_tolerance();
  }
  options.prefer_iterations = typed.max_iterations || !request.history.empty() || !request.plot.empty() ||
                              request.initial != "zeros" || request.kept;
  options.names = {request.matrix, request.rhs, request.initial};
  options.gpus = parse_device(request.common.device, true).gpus;
  options.cpu_threads = static_cast<int>(request.common.threads);
  check_method(request);
}

// PETSc's viewers write files of their own: "-ksp_monitor ascii:FILE", "-log_view :FILE".
void check_viewers(const std::string& words, const std::vector<std::string>& inputs) {
  std::istringstream parts(words);
  for (std::string word; parts >> word;)
    for (std::size_t colon = word.find(':'); colon != word.npos; colon = word.find(':', colon + 1)) {
      const std::string name = word.substr(colon + 1, word.find(':', colon + 1) - colon - 1);
      for (const std::string& input : inputs)
        if (!name.empty() && !input.empty() && is_same_file(name, input))
          throw usage_error(fmt::format("'{}' is read, and --petsc would write to it", name),
                            "name another file");
    }
}

}  // namespace

void solve_request::settle_tolerance() {
  if (!options.goal.rtol)
    options.goal.rtol =
        options.precision == working_precision::single ? default_rtol<float> : default_rtol<double>;
}

bool solves_tridiagonal(const std::string& name) {
  return find_method(name)->takes.has(matrix_form::tridiagonal);
}

bool parse_solve_request(std::span<const char* const> arguments, solve_request& request) {
  command_line line("solve", "solve A x = b and say how good x is");
  typed_options typed;
  declare(line, request, typed);
  if (!line.parse(arguments)) return false;

  if (!typed.rhs.empty()) request.rhs = typed.rhs;
  if (!typed.initial.empty()) request.initial = typed.initial;
  take_options(typed, request);
  const solve_options& asked = request.options;
  if (request.batch && (!typed.rhs.empty() || !typed.initial.empty() || !request.precondition.empty()))
    throw usage_error("option --batch: the file holds the right-hand sides; no --rhs, --initial or --precond");
  if (request.batch && (!asked.goal.by_residual() || asked.prefer_iterations))
    throw usage_error("option --batch: no --fixed-iterations, --max-iterations, --stop, --history or --plot",
                      "batches are solved without iterations");
  if (request.batch && request.common.output.ends_with(".mtx"))
    throw usage_error("option --batch: x is written as .npy or text, not as .mtx");
  check_word("--rhs", request.rhs, rhs_words);
  check_word("--initial", request.initial, initial_words);
  check_verification(request.verification);
  request.options.proof_follows = request.verification.asked();
  if (request.batch && request.verification.has_radii_of_entries())
    throw usage_error("option --batch: radii are numbers there, no files, and there is no --decimal");
  // The next checkpoint may take the place of the last one.
  const bool replaces = !request.checkpoint_file.empty() && !request.resume_file.empty() &&
                        is_same_file(request.resume_file, request.checkpoint_file);
  const std::vector<std::string> inputs{request.matrix,
                                        request.coordinates,
                                        request.near_nullspace,
                                        file_of(request.rhs, rhs_words),
                                        file_of(request.initial, initial_words),
                                        request.verification.matrix_file,
                                        request.verification.rhs_file,
                                        replaces ? "" : request.resume_file};
  check_picture(request.plot);
  check_outputs({request.common.output, request.history, request.plot, request.verification.bounds,
                 request.checkpoint_file},
                inputs);
  check_viewers(request.petsc_words, inputs);
  return true;
}

}  // namespace vouch::cli
