// vouch verify: how far a given x is from the exact solution of A x = b, proved.
#include <fmt/format.h>

#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/verify/bound_text.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "solve_output.hpp"
#include "usage.hpp"
#include "verification.hpp"

namespace vouch::cli {
namespace {

struct verify_options {
  common_options common;
  verification_request verification;
  std::string matrix, solution;
  std::string rhs = "ones";
};

bool parse(std::span<const char* const> arguments, verify_options& options) {
  command_line line("verify", "prove how good a solution is that came from anywhere");
  line.example("vouch verify A.mtx x.txt -b b.txt", "how far x is from the exact solution");
  line.example("vouch verify A.mtx x.txt -b b.txt --digits 12 -o y.txt",
               "improve x until 12 digits are proved");
  line.example("vouch verify A.mtx x.txt --matrix-radius 1e-6", "for all matrices that near to A");
  line.argument("A", options.matrix, matrix_files);
  line.argument("X", options.solution, "the solution: .mtx, .npy or text");
  line.section("Options");
  line.text("-b,--rhs", "B", options.rhs, "ones, row-sums (A*ones) or a file: .mtx, .npy, text [ones]");
  line.real("--digits", options.verification.digits, 0,
            "ask for X digits, or for a relative error X below 1 [any]");
  add_bound_options(line, options.verification);
  line.text("-o,--output", "FILE", options.common.output, "write x, improved where that was needed, to FILE");
  add_device_options(line, options.common, "; cuda:all or cuda:0,1: several share a dense inverse");
  add_report_options(line, options.common);
  if (!line.parse(arguments)) return false;
  options.verification.wanted = true;
  check_verification(options.verification, "--digits");
  check_outputs(
      {options.common.output, options.verification.bounds},
      {options.matrix, options.solution, options.rhs == "ones" || options.rhs == "row-sums" ? "" : options.rhs,
       options.verification.matrix_file, options.verification.rhs_file});
  parse_device(options.common.device, true);
  return true;
}

// The vectors of the system, whose matrix is there.
void read_vectors(const device& cpu, const verify_options& options, linear_system& system, array<double>& x) {
  take_rhs(cpu, options.rhs, system);
  vectors given = read_system_vectors(cpu, options.solution, system, system.unknowns());
  const bool as_wide = given.cols == system.columns || given.rows == 0;  // text has no columns without rows
  if (!as_wide)
    throw shape_error(fmt::format("{}: {} by {}, but the solution is {} by {}", options.solution,
                                  system.unknowns(), given.cols, system.unknowns(), system.columns));
  x = std::move(given.values);
}

// What was proved of the solution as it was given and as corrections improved it. The verdict is about the one
// that the user has in the end: the improved one where it is written.
struct proved_solutions {
  solution_proof given, improved;
  bool written = false;

  const solution_proof& verdict() const { return written ? improved : given; }
};

// Seconds of the parts.
struct verify_times {
  double read = 0, write = 0, total = 0;
};

// Those of the GPUs asked for that took part: several share an approximate inverse, nothing else.
std::vector<int> sharing(const std::vector<int>& gpus, const proved_solutions& proved) {
  return proved.verdict().method.starts_with("approximate inverse") ? gpus : std::vector<int>{};
}

json as_json(const verify_options& options, const json& matrix, const device& dev, const std::vector<int>& gpus,
             const proved_solutions& proved, const verify_times& times) {
  json object = object_of("verify");
  object["matrix"] = matrix;
  object["solution"] = options.solution;
  object["device"] = to_json(dev, gpus);
  object["problem"] = proved.improved.problem;
  object["error_bound"] = described(proved.verdict());
  object["given"] = size_json(proved.given);
  object["improved"] = size_json(proved.improved);
  object["improved"]["corrections"] = proved.improved.refinements;
  object["time_s"] = {{"read", times.read},
                      {"verify", proved.improved.seconds},
                      {"write", times.write},
                      {"total", times.total}};
  return object;
}

// Where corrections moved x: what is proved of the other one.
std::string sentence_beside(const proved_solutions& proved) {
  if (!proved.improved.verified || proved.improved.refinements == 0) return "";
  if (!proved.written)
    return fmt::format(
        "-o FILE writes an improved x, no component of which is farther than {} from the exact solution\n",
        vouch::detail::rounded_above(proved.improved.max_absolute));
  return fmt::format(
      "that is x as improved; no component of the x given is farther than {} from the exact solution\n",
      vouch::detail::rounded_above(proved.given.max_absolute));
}

}  // namespace

int cmd_verify(std::span<const char* const> arguments) {
  const stopwatch clock;
  verify_options options;
  if (!parse(arguments, options)) return exit_code::goal_reached;
  const console log = make_console(options.common);
  const device cpu = open_cpu(options.common);
  const device dev = open_device(options.common);
  array<double> x;
  verify_times times;
  linear_system system =
      with_sign_of_life(log, "reading", [&] { return read_linear_system(cpu, dev, options.matrix); });
  solve_options asked;
  asked.run_on = dev;
  asked.gpus = parse_device(options.common.device, true).gpus;
  asked.cpu_threads = cpu.threads();
  asked.names.matrix = options.matrix;
  solver A = make_solver(cpu, system, asked);
  read_vectors(cpu, options, system, x);
  times.read = clock.seconds();
  const array<double> given = x.to(cpu);
  proved_solutions proved;
  proved.written = !options.common.output.empty();
  {
    const sign_of_life proving(log, "proving");
    data_radii radii;
    const proof_request request = proof_for(cpu, options.verification, system, radii);
    proved.improved = A.prove(system.block_of_b(), system.block_of_x(x), request);
    if (system.complex_entries) take_moduli(proved.improved, x, request.relative);
    withhold_overflow(options.verification, x, proved.improved);
  }
  proved.given =
      about_given(given, x, proved.improved, options.verification.relative(), system.complex_entries ? 2 : 1);
  log_verification(log, proved.verdict());
  const stopwatch writing;
  atomic_files files;
  write_bounds(files, options.verification, x, proved.improved, system.complex_entries.has_value());
  if (!options.common.output.empty()) write_solution(files.open(options.common.output), system, x);
  files.commit();
  times.write = writing.seconds();
  times.total = clock.seconds();
  if (options.common.json)
    print_json(
        as_json(options, matrix_json(system, A.facts()), dev, sharing(asked.gpus, proved), proved, times));
  else
    fmt::print("{}{}", sentence(proved.verdict()), sentence_beside(proved));
  return proved.verdict().reached ? exit_code::goal_reached : exit_code::goal_missed;
}

}  // namespace vouch::cli
