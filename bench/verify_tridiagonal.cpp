#include "verify_tridiagonal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include <vouch/band/solve.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

#include "tridiagonal_measure.hpp"

namespace vouch::bench {
namespace {

struct batch_figures {
  double solve = 0, checked_solve = 0, bound = 0;
  tridiagonal_bound found;
};

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

}  // namespace

void add_tridiagonal_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                            suite_results& all) {
  text_table table("Batches of tridiagonal systems", {{"batch", true},
                                                      {"device", true},
                                                      {"solve"},
                                                      {"checked solve"},
                                                      {"bound"},
                                                      {"bound / solve"},
                                                      {"proved by", true},
                                                      {"largest error"}});
  table.note("solve: alone, without looking at matrix or residual; bound: all that a proof takes.");
  for (const bench_device& d : devices) {
    if (d.label == "cpu1") continue;
    const std::int64_t count = d.dev.is_cuda() ? 32768 : 512;
    for (const band_kind kind : {band_kind::dominant, band_kind::slow}) {
      if (options.stop()) return;
      const std::string name = fmt::format("512 x {}, contiguous, {}", count, bench::name(kind));
      options.say(fmt::format("{} on {}", name, d.label));
      band_systems<double> systems(d.dev, kind, contiguous(512, count));
      const batch_figures f = measure(d.dev, options, systems);
      const double ratio = f.bound / f.solve;
      const bool judged = d.dev.is_cuda();
      all.rows.push_back({name, d.label, "double", "solve_time", f.solve, "s", {}, {}, {}, {}, {}});
      all.rows.push_back({name, d.label, "double", "bound_time", f.bound, "s", {}, {}, {}, {}, {}});
      all.rows.push_back({name,
                          d.label,
                          "double",
                          "verification_over_solve",
                          ratio,
                          "1",
                          {},
                          {},
                          {},
                          judged ? std::optional<double>(3) : std::nullopt,
                          judged ? std::optional<bool>(f.found.verified && ratio <= 3) : std::nullopt});
      table.add({name, d.label, seconds_text(f.solve), seconds_text(f.checked_solve), seconds_text(f.bound),
                 small_text(ratio), f.found.verified ? f.found.method : "not verified",
                 small_text(f.found.max_absolute)});
    }
  }
  all.sections.push_back({"Tridiagonal systems", {}, {table}, {}});
}

}  // namespace vouch::bench
