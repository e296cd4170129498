// vouch verify: how far a given x is from the exact solution of A x = b, proved.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/vectors.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "solve_system.hpp"
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
  line.argument("A", options.matrix, "matrix, Matrix Market (.gz as well) or .npy");
  line.argument("X", options.solution, "the solution: .mtx, .npy or text");
  line.section("Options");
  line.text("-b,--rhs", "B", options.rhs, "ones, row-sums (A*ones) or a file: .mtx, .npy, text [ones]");
  line.real("--digits", options.verification.digits, 0,
            "ask for X digits, or for a relative error X below 1 [any]");
  add_bound_options(line, options.verification);
  line.text("-o,--output", "FILE", options.common.output, "write x, improved where that was needed, to FILE");
  add_device_options(line, options.common);
  add_talk_options(line, options.common);
  if (!line.parse(arguments)) return false;
  if (!options.verification.asked()) options.verification.digits = 0;
  check_verification(options.verification, "--digits");
  check_writable(options.common.output);
  parse_device(options.common.device);
  return true;
}

linear_system read(const device& cpu, const verify_options& options, array<double>& x) {
  linear_system system;
  system.file = options.matrix;
  std::variant<csr<double>, vectors> matrix = read_matrix(cpu, options.matrix);
  if (auto* dense = std::get_if<vectors>(&matrix)) {
    system.dense = std::move(*dense);
    system.facts.rows = system.dense->rows;
    system.facts.cols = system.dense->cols;
  } else {
    system.A = std::move(std::get<csr<double>>(matrix));
    system.facts = structure<double>(cpu, system.A);
  }
  if (system.facts.rows != system.facts.cols)
    throw shape_error(fmt::format("{}: the matrix is {} by {}, not square", options.matrix, system.facts.rows,
                                  system.facts.cols));
  take_rhs(cpu, options.rhs, system);
  vectors given = read_vectors(cpu, options.solution);
  if (given.rows != system.rows() || given.cols != system.columns)
    throw shape_error(fmt::format("{}: {} by {}, but the solution is {} by {}", options.solution, given.rows,
                                  given.cols, system.rows(), system.columns));
  x = std::move(given.values);
  return system;
}

nlohmann::ordered_json as_json(const verify_options& options, const linear_system& system, const device& dev,
                               const verification& verified, double total_seconds) {
  nlohmann::ordered_json object{{"schema", "vouch.verify/1"}, {"version", version}};
  object["matrix"] = {
      {"file", system.file},
      {"rows", system.facts.rows},
      {"cols", system.facts.cols},
      {"nonzeros", system.dense ? system.facts.rows * system.facts.cols : system.facts.nonzeros}};
  object["solution"] = options.solution;
  object["device"] = to_json(dev);
  object["error_bound"] = to_json(verified);
  object["time_s"] = {{"verify", verified.seconds}, {"total", total_seconds}};
  return object;
}

}  // namespace

int cmd_verify(std::span<const char* const> arguments) {
  const stopwatch clock;
  verify_options options;
  if (!parse(arguments, options)) return exit_code::goal_reached;
  const console log = make_console(options.common);
  const device cpu = open_cpu(options.common);
  const device_request wanted = parse_device(options.common.device);
  const device dev = wanted.cuda ? device::cuda(wanted.index) : cpu;
  array<double> x;
  const linear_system system = read(cpu, options, x);
  const verification verified = verify_columns(options.verification, cpu, dev, system, x);
  log_verification(log, verified);
  write_bounds(options.verification, x, verified);
  if (!options.common.output.empty()) write_vectors(options.common.output, x, system.rows(), system.columns);
  if (options.common.json)
    print_json(as_json(options, system, dev, verified, clock.seconds()));
  else
    fmt::print("{}", sentence(verified));
  return verified.reached ? exit_code::goal_reached : exit_code::goal_missed;
}

}  // namespace vouch::cli
