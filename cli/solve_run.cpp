#include "solve_run.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vouch/solve/complex.hpp>

namespace vouch::cli {
namespace {

// Those of the first run say how the method was found.
void add_earlier(const std::vector<std::string>& before, std::vector<std::string>& warnings) {
  std::vector<std::string> all = before;
  for (std::string& w : warnings)
    if (std::find(before.begin(), before.end(), w) == before.end()) all.push_back(std::move(w));
  warnings = std::move(all);
}

}  // namespace

std::optional<device> open_device(const solve_request& request, const device& cpu) {
  const device_request wanted = parse_device(request.common.device, true);
  if (wanted.automatic) return {};
  return wanted.cuda ? device::cuda(wanted.index) : cpu;
}

solve_outcome run_solve(const solve_request& request, const linear_system& system, const device& cpu, solver& A,
                        solve_watch& watch) {
  solve_outcome outcome;
  solve_times spent;
  std::optional<checkpoint_scope> saves;
  if (request.kept) saves.emplace(*request.kept);
  for (std::int64_t run = 0; run < request.common.repeat; ++run) {
    const stopwatch clock;
    outcome.x = system.start.to(cpu);
    spent.transfer += clock.seconds();
    watch.begin_run(run);
    const std::vector<std::string> before = std::move(outcome.result.warnings);
    outcome.result = A.solve(system.block_of_b(), system.block_of_x(outcome.x));
    if (system.complex_entries) take_numbers(outcome.result);
    add_earlier(before, outcome.result.warnings);
    const solve_times& times = outcome.result.times;
    outcome.repeats.push_back(times.solve);
    spent.cuda_start += times.cuda_start;
    spent.setup += times.setup;
    spent.transfer += times.transfer;
    spent.solve += times.solve;
    const solve_status status = outcome.result.status;
    if (status == solve_status::interrupted || !has_solution(status)) break;
  }
  outcome.result.times = spent;
  return outcome;
}

}  // namespace vouch::cli
