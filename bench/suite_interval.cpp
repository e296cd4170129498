#include "suites.hpp"

#include "interval_results.hpp"

namespace vouch::bench {

suite_results run_interval_suite(const suite_options& options) {
  const std::vector<bench_device> devices = open_devices(options);
  suite_results all;
  all.suite = "interval-blas";
  all.title = "Linear algebra on intervals";
  all.machine = measure_machine(options, devices);
  const interval_results results = measure_intervals(options, devices, all.machine);
  all.interrupted = options.stop();
  all.rows = interval_rows(results);
  all.sections.push_back({"The machine", results.notes, {machine_table(all.machine)}, {}});
  for (report_section& section : interval_sections(results)) all.sections.push_back(std::move(section));
  all.sections.push_back({"The bars: " + bars_text(all.rows), {}, {bars_table(all.rows)}, {}});
  return all;
}

}  // namespace vouch::bench
