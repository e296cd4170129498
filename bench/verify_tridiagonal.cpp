#include "verify_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

#include "tridiagonal_measure.hpp"

namespace vouch::bench {
namespace {

struct batch_figures {
  double solve = 0, checked_solve = 0, bound = 0;
  tridiagonal_bound found;
};

constexpr std::int64_t large_batch = 32768;

struct proof_batch {
  std::int64_t systems;
  bool interleaved;
  band_kind kind;
};

// The small ones for CPUs, too.
std::vector<proof_batch> proof_batches() {
  std::vector<proof_batch> all;
  for (const std::int64_t systems : {std::int64_t{512}, large_batch})
    for (const bool interleaved : {false, true})
      for (const band_kind kind : {band_kind::dominant, band_kind::slow, band_kind::general})
        all.push_back({systems, interleaved, kind});
  return all;
}

batch_figures measure(const device& dev, const suite_options& options, band_systems<double>& systems) {
  batch_figures f;
  tridiagonal_workspace kept;
  tridiagonal_options plain;
  plain.check = false;
  plain.workspace = &kept;
  f.solve = seconds_of(dev, options,
                       [&] { solve<double>(dev, systems.matrix(), systems.rhs(), systems.answer(), plain); });
  f.checked_solve =
      seconds_of(dev, options, [&] { solve<double>(dev, systems.matrix(), systems.rhs(), systems.answer()); });
  array<double> radius(dev, systems.shape.extent());
  f.bound = 1e300;
  for (int run = 0; run < 10; ++run) {
    f.found =
        bound_error(dev, systems.matrix(), systems.rhs(), systems.answer(), {radius.data(), systems.shape});
    f.bound = std::min(f.bound, f.found.seconds);
  }
  return f;
}

// dl, d, du, b, x and the radius.
double floor_of(const machine_facts& machine, const bench_device& d, std::int64_t rows) {
  const double speed = d.dev.is_cuda() ? (machine.gpu ? machine.gpu->copy : 0) : machine.cpu.all.copy;
  return speed > 0 ? 6 * 8 * static_cast<double>(rows) / speed : 0;
}

}  // namespace

void add_tridiagonal_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                            suite_results& all) {
  text_table table("Batches of tridiagonal systems", {{"batch", true},
                                                      {"device", true},
                                                      {"solve"},
                                                      {"checked solve"},
                                                      {"bound"},
                                                      {"floor"},
                                                      {"bound / solve"},
                                                      {"proved by", true},
                                                      {"largest error"}});
  table.note("solve: alone, without looking at matrix or residual; bound: all that a proof takes.");
  table.note("floor: at the copy speed of the memory, dl, d, du, b, x and the bounds once.");
  for (const bench_device& d : devices) {
    if (d.label == "cpu1") continue;
    for (const proof_batch& of : proof_batches()) {
      if (options.stop()) return;
      const bool large = of.systems == large_batch;
      if (large && !d.dev.is_cuda()) continue;
      const std::string name = fmt::format("512 x {}, {}, {}", of.systems,
                                           of.interleaved ? "interleaved" : "contiguous", bench::name(of.kind));
      options.say(fmt::format("{} on {}", name, d.label));
      band_systems<double> systems(d.dev, of.kind,
                                   of.interleaved ? interleaved(512, of.systems) : contiguous(512, of.systems));
      const batch_figures f = measure(d.dev, options, systems);
      const double ratio = f.bound / f.solve;
      const bool judged = d.dev.is_cuda() && large;  // the bar speaks of this size on this machine
      proof_rows rows(all, name, d.label);
      rows.figure("solve_time", f.solve, "s");
      const double floor = floor_of(all.machine, d, systems.rows());
      rows.seconds_over("bound_time", f.bound, floor);
      rows.figure("systems_unproved", static_cast<double>(f.found.systems_unproved));
      rows.at_most("verification_over_solve", ratio, 3, judged, f.found.verified);
      table.add({name, d.label, seconds_text(f.solve), seconds_text(f.checked_solve), seconds_text(f.bound),
                 seconds_text(floor), small_text(ratio), f.found.verified ? f.found.method : "not verified",
                 small_text(f.found.max_absolute)});
    }
  }
  all.sections.push_back({"Tridiagonal systems", {}, {table}, {}});
}

}  // namespace vouch::bench
