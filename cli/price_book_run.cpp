#include "price_request.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/price/book.hpp>
#include <vouch/text/tokens.hpp>

#include "command.hpp"
#include "interrupt.hpp"
#include "json.hpp"

namespace vouch::cli {
namespace {

constexpr std::size_t most_shown = 20;
// Bytes of a file from which a GPU's start (a quarter of a second) is paid back by American options on one
// core.
constexpr std::uintmax_t bytes_for_a_gpu_a_thread = 400'000;

device_group choose(const price_request& request) {
  const device_request wanted = parse_device(request.common.device, true);
  if (wanted.cuda) return open_gpus(wanted);
  const device cpu = open_cpu(request.common);
  if (!wanted.automatic || !cuda_may_be_present()) return cpu;
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(request.book, unknown);
  if (unknown || bytes < bytes_for_a_gpu_a_thread * static_cast<std::uintmax_t>(cpu.threads())) return cpu;
  return cuda_devices().empty() ? cpu : device::cuda(0);
}

// "NVIDIA H200", "2 GPUs, NVIDIA H200"
std::string devices_text(const device_group& devices) {
  const std::string name = devices.front().name();
  return devices.size() == 1 ? name : fmt::format("{} GPUs, {}", devices.size(), name);
}

void log_lines(const console& log, const price_request& request, const std::vector<book_failure>& lines) {
  for (std::size_t k = 0; k < std::min(lines.size(), most_shown); ++k) {
    const book_failure& f = lines[k];
    log.warning(f.column > 0 ? fmt::format("{}:{}:{}: {}", request.book, f.line, f.column, f.message)
                             : fmt::format("{}:{}: {}", request.book, f.line, f.message));
  }
}

void log_failures(const console& log, const price_request& request, const book_report& report) {
  log_lines(log, request, report.failures);
  if (report.failed > static_cast<std::int64_t>(most_shown))
    log.warning(fmt::format("{} more lines could not be priced; {} names all of them",
                            report.failed - static_cast<std::int64_t>(most_shown), request.common.output));
}

void log_warnings(const console& log, const price_request& request, const book_report& report) {
  log_lines(log, request, report.warnings);
  if (report.warned > static_cast<std::int64_t>(most_shown))
    log.warning(fmt::format("{} more lines are as unlikely to be meant",
                            report.warned - static_cast<std::int64_t>(most_shown)));
  std::string names;
  for (const std::string& name : report.passed) names += (names.empty() ? "" : ", ") + vouch::quoted(name);
  if (!names.empty()) log.warning("columns that are not known go to the output as they are: " + names);
}

json lines_json(const std::vector<book_failure>& lines) {
  json all = json::array();
  for (const book_failure& f : lines)
    all.push_back({{"line", f.line}, {"column", known_if(f.column > 0, f.column)}, {"message", f.message}});
  return all;
}

void print_object(const price_request& request, const book_report& report, const device_group& devices,
                  double seconds) {
  json object = object_of("price");
  object["book"] = request.book;
  object["output"] = request.common.output;
  object["options"] = report.options;
  object["priced"] = report.priced;
  object["failed"] = report.failed;
  object["inaccurate"] = report.inaccurate;
  object["tolerance"] = request.method.finite_difference.tolerance;
  object["failures"] = lines_json(report.failures);
  object["warned"] = report.warned;
  object["warnings"] = lines_json(report.warnings);
  object["passed_columns"] = report.passed;
  object["methods"] = {{"closed-form", report.european},
                       {"andersen-lake", report.american},
                       {"finite-difference", report.by_finite_differences}};
  object["precision"] = "double";
  object["device"] = to_json(devices);
  object["time_s"] = {{"total", seconds}};
  object["memory_bytes"] = memory_json();
  print_json(object);
}

}  // namespace

int run_book(const price_request& request) {
  const stopwatch clock;
  const console log = make_console(request.common);
  book_options options;
  options.dev = choose(request);
  options.threads = static_cast<int>(request.common.threads);
  options.greeks = request.method.finite_difference.greeks;
  options.more_greeks = request.more_greeks;
  options.strict = request.strict;
  options.tolerance = request.method.finite_difference.tolerance;
  options.stop = [] { return interrupt_signal() != 0; };
  const book_report report = with_sign_of_life(
      log, "pricing", [&] { return price_book(request.book, request.common.output, options); });
  if (report.stopped) {
    log.warning("interrupted: no prices written");
    return 128 + interrupt_signal();
  }
  if (request.common.precision != "double") log.warning("computed in double precision, as books always are");
  log_warnings(log, request, report);
  log_failures(log, request, report);
  if (report.inaccurate > 0)
    log.warning(
        fmt::format("{} prices did not reach the tolerance {:.1e}; {} says beside each how far off it may be",
                    report.inaccurate, options.tolerance, request.common.output));
  const double seconds = clock.seconds();
  if (request.common.json)
    print_object(request, report, options.dev, seconds);
  else if (!writes_to_stdout(request))
    fmt::print("{} of {} options priced in {:.3f} s on {}; {} written\n", report.priced, report.options,
               seconds, devices_text(options.dev), printable(request.common.output));
  return report.failed == 0 && report.inaccurate == 0 ? goal_reached : goal_missed;
}

}  // namespace vouch::cli
