// vouch gen matrix-set.

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include <vouch/generate/matrix_set.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

// "lo:hi".
void parse_range(const std::string& text, matrix_set_problem& problem) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw usage_error(fmt::format("option --range: '{}' is no range of integers", text),
                      "LO:HI, like -99999:99999");
  problem.least = parse_count("--range", text.substr(0, colon), lowest);
  problem.most = parse_count("--range", text.substr(colon + 1), lowest);
}

}  // namespace

int gen_matrix_set(std::span<const char* const> arguments) {
  matrix_set_problem problem;
  common_options common;
  std::string shape = "3x3", range = "0:9";
  std::int64_t seed = 1;
  command_line line("gen matrix-set", "write a set of random matrices for vouch reduce");
  line.example("vouch gen matrix-set --count 10000000 -o set.txt", "220 MB of one-digit 3x3 matrices");
  line.example("vouch gen matrix-set --count 1000 --shape 2x5 --range -99:99 -o set.txt", "another kind");
  line.count("--count", problem.count, 1, "matrices [1]");
  line.text("--shape", "RxC", shape, "rows and columns of each [3x3]");
  line.text("--range", "LO:HI", range, "values are whole and uniform from LO to HI [0:9]");
  line.count("--seed", seed, 0, "of the values [1]");
  line.text("-o,--output", "FILE", common.output, "the set");
  add_threads_option(line, common);
  add_report_options(line, common);
  if (!line.parse(arguments)) return goal_reached;
  const set_shape parsed = parse_shape("--shape", shape);
  problem.rows = parsed.rows;
  problem.cols = parsed.cols;
  problem.seed = static_cast<std::uint64_t>(seed);
  parse_range(range, problem);
  if (common.output.empty())
    throw usage_error("-o FILE is missing", "usage: vouch gen matrix-set [options] -o FILE");
  check_outputs({common.output});

  const stopwatch clock;
  const device cpu = open_cpu(common);
  const console log = make_console(common);
  with_sign_of_life(log, "writing", [&] { write_matrix_set(cpu, common.output, problem); });
  const double seconds = clock.seconds();
  std::error_code ignored;
  const auto bytes = std::filesystem::is_regular_file(common.output, ignored)
                         ? static_cast<std::int64_t>(std::filesystem::file_size(common.output, ignored))
                         : 0;
  log.line(fmt::format("{}: {} matrices, {} by {}, {:.3f} GB, {:.3f} s", common.output, problem.count,
                       problem.rows, problem.cols, static_cast<double>(bytes) * 1e-9, seconds));
  if (common.json)
    print_json(object_of("gen", {{"problem", "matrix-set"},
                                 {"file", common.output},
                                 {"count", problem.count},
                                 {"rows", problem.rows},
                                 {"cols", problem.cols},
                                 {"range", json::array({problem.least, problem.most})},
                                 {"seed", seed},
                                 {"bytes", bytes},
                                 {"device", to_json(cpu)},
                                 {"time_s", {{"total", seconds}}}}));
  return goal_reached;
}

}  // namespace vouch::cli
