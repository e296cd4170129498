// vouch gen fingerprint.
#include <fmt/format.h>

#include <array>

#include <vouch/fingerprint/synthetic_print.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::array<std::string_view, 5> patterns{"A", "L", "R", "T", "W"};

}  // namespace

int gen_fingerprint(std::span<const char* const> arguments) {
  fingerprint::synthetic_options options;
  common_options common;
  std::string pattern = "W";
  std::int64_t seed = 1;
  command_line line("gen fingerprint", "draw a page with a print of nobody, 832 x 768 pixels at 500 dpi");
  line.example("vouch gen fingerprint --class L --seed 7 -o l7.pgm", "a left loop");
  line.choice("--class", "C", pattern, patterns,
              "A arch, L or R left or right loop, T tented arch, W whorl [W]");
  line.count("--seed", seed, 0, "of everything that is drawn [1]");
  line.flag("--rotated", options.rotated, "turned by 4 to 10 degrees to either side");
  line.flag("--blank-paper", options.blank_paper, "paper without noise around it");
  line.text("-o,--output", "FILE", common.output, "the page: .png, else PGM");
  add_threads_option(line, common);
  add_report_options(line, common);
  if (!line.parse(arguments)) return goal_reached;
  if (common.output.empty())
    throw usage_error("-o FILE is missing", "usage: vouch gen fingerprint [options] -o FILE");
  check_outputs({common.output});
  options.pattern = pattern.front();
  options.seed = static_cast<std::uint64_t>(seed);

  const stopwatch clock;
  const device cpu = open_cpu(common);
  const fingerprint::grey_image page = fingerprint::synthetic_print(cpu, options);
  fingerprint::write_grey_image(common.output, page);
  const double seconds = clock.seconds();
  make_console(common).line(fmt::format("{}: a print of class {}, {:.2f} s", common.output, pattern, seconds));
  if (common.json)
    print_json(object_of("gen", {{"problem", "fingerprint"},
                                 {"file", common.output},
                                 {"class", pattern},
                                 {"seed", seed},
                                 {"width", page.width},
                                 {"height", page.height},
                                 {"device", to_json(cpu)},
                                 {"time_s", {{"total", seconds}}}}));
  return goal_reached;
}

}  // namespace vouch::cli
