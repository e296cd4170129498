#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/fcg.hpp>
#include <vouch/solve/krylov/gmres.hpp>
#include <vouch/solve/krylov/idr.hpp>
#include <vouch/solve/krylov/least_squares.hpp>
#include <vouch/solve/krylov/minres.hpp>

#include "amgcl_peer.hpp"
#include "iteration_time.hpp"
#include "test_systems.hpp"
#include "timed_solve.hpp"
#include "timing.hpp"

namespace vouch::bench {
namespace {

// A method, the bytes an unknown that one of its iterations must move in double precision where seven diagonals hold
// the matrix (72 a product; vectors fused as far as the recurrence permits; 8 directions of fcg), and how many iterations of conjugate
// gradients it may take where everything stays on the chip.
struct krylov_method {
  const char* name;
  bool for_symmetric;
  double bytes;
  double bar_in_cg;  // 0: none
  std::function<solve_report(const device&, system_of_ones<double>&, const stopping_criterion&)> solve;
};

std::vector<krylov_method> krylov_methods() {
  using system = system_of_ones<double>;
  using goal = stopping_criterion;
  return {
      {"cg", true, 120, 0,
       [](const device& dev, system& s, const goal& until) {
         return cg<double>(dev, s.A, s.b, s.x, {{until}, true});
       }},
      {"fcg", true, 256, 0,
       [](const device& dev, system& s, const goal& until) {
         return fcg<double>(dev, s.A, s.b, s.x, {until});
       }},
      {"minres", true, 128, 1.3,
       [](const device& dev, system& s, const goal& until) {
         return minres<double>(dev, s.A, s.b, s.x, {until});
       }},
      {"bicgstab(1)", false, 272, 2.1,
       [](const device& dev, system& s, const goal& until) {
         return bicgstab<double>(dev, s.A, s.b, s.x, {until, 1});
       }},
      {"bicgstab(2)", false, 264, 0,
       [](const device& dev, system& s, const goal& until) {
         return bicgstab<double>(dev, s.A, s.b, s.x, {until, 2});
       }},
      {"gmres(30)", false, 360, 2.6,
       [](const device& dev, system& s, const goal& until) {
         return gmres<double>(dev, s.A, s.b, s.x, {until, 30, 30});
       }},
      {"idr(4)", false, 252, 0,
       [](const device& dev, system& s, const goal& until) {
         return idr<double>(dev, s.A, s.b, s.x, {until, 4});
       }},
      {"lsmr", true, 216, 0,
       [](const device& dev, system& s, const goal& until) {
         return lsmr<double>(dev, s.A, s.b, s.x, {until, true});
       }},
  };
}

csr<double> grid(const device& cpu, std::int64_t n, bool symmetric) {
  problem_options o;
  o.nx = n;
  if (!symmetric) o.peclet = 1;
  return generate_problem(cpu, symmetric ? "poisson-3d" : "convection-diffusion-3d", o);
}

// The collection on which the methods for nonsymmetric systems were tried before they were written.
const std::set<std::string>& nonsymmetric_names() {
  static const std::set<std::string> names{"sherman5", "orsirr_1", "jpwh_991",      "watt__1",  "epb0",
                                           "pde900",   "vem2",     "ani4",          "utm300",   "e05r0200",
                                           "spe1",     "cavity14", "adder_dcop_05", "west0479", "gemat11",
                                           "fs_760_3", "rajat19",  "nnc1374"};
  return names;
}

class krylov_run {
 public:
  explicit krylov_run(const suite_options& options) : options_(options), devices_(open_devices(options)) {
    if (options.devices.empty())
      std::erase_if(devices_, [](const bench_device& d) { return d.label == "cpu"; });
    results_.suite = "krylov";
    results_.title = "Krylov methods";
    results_.machine = measure_machine(options, devices_);
    iterations_.note(
        "By the difference of 60 and 30 iterations, without a preconditioner. An iteration of bicgstab has "
        "two "
        "products, of lsmr one with A and one with its transpose; of gmres(30) it is the mean of a restart. "
        "floor: "
        "the bytes that it must move at the speed of a copy; on a grid of 16^3, which stays in caches or on "
        "the "
        "chip, in iterations of cg.");
    systems_.note(
        "To 1e-8 of a right-hand side with a random solution, recomputed; from the matrix in memory to the "
        "checked "
        "solution. Rows of a matrix with a zero or weak diagonal are matched and scaled before ILU.");
  }

  suite_results run() {
    try {
      for (const bench_device& d : devices_) iterations_on(d);
      nonsymmetric();
    } catch (const cancelled&) {  // what was measured before stays
    }
    results_.sections.push_back({"The machine", {}, {machine_table(results_.machine)}, {}});
    results_.sections.push_back({"An iteration", {}, {std::move(iterations_)}, {}});
    if (!counts_.empty()) results_.sections.push_back({"Nonsymmetric systems", {}, {std::move(systems_)}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    results_.interrupted = options_.stop();
    return std::move(results_);
  }

 private:
  void iterations_on(const bench_device& d) {
    const std::int64_t large = options_.quick ? 48 : d.dev.is_cuda() ? 256 : 100;
    for (const std::int64_t n : {std::int64_t{16}, large}) {
      double of_cg = 0;
      const device cpu = device::cpu(options_.threads);
      system_of_ones<double> convection(d.dev, grid(cpu, n, false)), poisson(d.dev, grid(cpu, n, true));
      for (const krylov_method& m : krylov_methods()) {
        if (options_.stop()) return;
        const std::string name = fmt::format("{}, {}^3", m.name, n);
        options_.say(d.label + ", " + name);
        system_of_ones<double>& s = m.for_symmetric ? poisson : convection;
        const double seconds =
            seconds_an_iteration(s,
                                 options_.quick ? 1
                                 : n == large   ? 3
                                                : 20,
                                 [&](const stopping_criterion& until) { return m.solve(d.dev, s, until); });
        if (std::string(m.name) == "cg") of_cg = seconds;
        add_iteration(d, name, m, seconds, n == large ? static_cast<double>(n * n * n) : 0, of_cg);
      }
    }
  }

  // Rows: of a system that has to come from memory; 0 of one that stays near.
  void add_iteration(const bench_device& d, const std::string& name, const krylov_method& m, double seconds,
                     double rows, double of_cg) {
    bench_row row{name, d.label, "double", "time_per_iteration", seconds, "s", {}, {}, {}, {}, {}};
    constexpr double bar = 1.15;
    const bool has_bar = d.dev.is_cuda() && !options_.quick;
    if (rows > 0) {
      row.floor = rows * m.bytes / copy_speed(results_.machine, d);
      row.ratio = *row.floor / seconds;
      if (has_bar) row.bar = bar * *row.floor;
    } else if (has_bar && m.bar_in_cg > 0) {
      row.bar = m.bar_in_cg * of_cg;
    }
    if (row.bar) row.pass = seconds <= *row.bar;
    iterations_.add({d.label, name, seconds_text(seconds), row.floor ? seconds_text(*row.floor) : "",
                     row.floor ? fmt::format("{:.2f}", seconds / *row.floor) : "",
                     fmt::format("{:.2f}", seconds / of_cg)});
    results_.rows.push_back(std::move(row));
  }

  void nonsymmetric() {
    suite_options taken = options_;
    taken.quick = false;
    const auto wanted = [&](const std::string& name) {
      if (!options_.matrices.empty()) return true;
      return options_.quick ? name == "sherman5" || name == "west0479" : nonsymmetric_names().contains(name);
    };
    for_each_system(
        device::cpu(1), taken,
        [&](const test_system& system) {
          for (const bench_device& d : devices_) by_all(system, d);
        },
        wanted);
    for (const bench_device& d : devices_) add_count(d);
  }

  // Iterative methods with the better of two incomplete factorisations each, what auto takes, and AMGCL's BiCGStab.
  void by_all(const test_system& system, const bench_device& d) {
    options_.say(d.label + ", " + system.name);
    solve_options how;
    how.goal.rtol = 1e-8;
    how.goal.max_iterations = 4000;
    if (d.dev.is_cuda()) how.run_on = d.dev;
    constexpr double longest = 5;  // seconds
    const timed_solve by_auto = best_solve(options_, system, d, how, longest);
    timed_solve best;
    std::vector<std::string> line{system.name, d.label, std::to_string(system.rows())};
    for (const char* method : {"bicgstab", "gmres", "idr"})
      for (const char* M : {"ilu0", "ilut"}) {
        how.method = method;
        how.preconditioner = preconditioner_choice{M};
        const timed_solve made = best_solve(options_, system, d, how, longest);
        results_.rows.push_back({fmt::format("{}, {} with {}", system.name, method, M),
                                 d.label,
                                 "double",
                                 "iterations",
                                 std::isfinite(made.seconds) ? static_cast<double>(made.iterations) : INFINITY,
                                 "1",
                                 {},
                                 {},
                                 {},
                                 {},
                                 {}});
        line.push_back(std::isfinite(made.seconds) ? std::to_string(made.iterations) : made.end);
        if (made.seconds < best.seconds) best = made;
      }
    std::optional<amgcl_times> peer;
    if (!d.dev.is_cuda())
      peer = amgcl_solve(system.sparse.all(), system.b, amgcl_kind::bicgstab_ilu0, d.dev.threads());
    bench_row row{system.name, d.label, "double", "auto_time", by_auto.seconds, "s", {}, {}, {}, {}, {}};
    if (peer && peer->converged) row.peer = peer->setup + peer->solve, row.ratio = *row.peer / by_auto.seconds;
    results_.rows.push_back(row);
    line.push_back(text_of(best));
    line.push_back(text_of(by_auto));
    line.push_back(std::isfinite(by_auto.seconds) ? fmt::format("{:.1e}", by_auto.residual) : "");
    line.push_back(!peer ? "" : peer->converged ? seconds_text(peer->setup + peer->solve) : "not converged");
    systems_.add(line);
    counts_.push_back({d.label, std::isfinite(best.seconds), std::isfinite(by_auto.seconds)});
  }

  void add_count(const bench_device& d) {
    double all = 0, iteratively = 0, by_auto = 0;
    for (const outcome& one : counts_) {
      if (one.device != d.label) continue;
      ++all;
      iteratively += one.iteratively;
      by_auto += one.by_auto;
    }
    if (all == 0) return;
    const bool whole = all == static_cast<double>(nonsymmetric_names().size());
    const auto add = [&](const char* metric, double value, double bar) {
      bench_row row{"nonsymmetric systems", d.label, "double", metric, value, "1", all, {}, {}, {}, {}};
      if (whole) row.bar = bar, row.pass = value >= bar;
      results_.rows.push_back(row);
    };
    add("solved_iteratively", iteratively, 15);
    add("solved_by_auto", by_auto, all);
  }

  struct outcome {
    std::string device;
    bool iteratively, by_auto;
  };

  const suite_options& options_;
  std::vector<bench_device> devices_;
  suite_results results_;
  std::vector<outcome> counts_;
  text_table iterations_{
      "Seconds an iteration",
      {{"device", true}, {"method", true}, {"time"}, {"floor"}, {"over the floor"}, {"over cg"}}};
  text_table systems_{"Iterations, and times of the best and of auto",
                      {{"system", true},
                       {"device", true},
                       {"rows"},
                       {"bicgstab, ilu0"},
                       {"ilut"},
                       {"gmres, ilu0"},
                       {"ilut"},
                       {"idr, ilu0"},
                       {"ilut"},
                       {"best iteration", true},
                       {"auto", true},
                       {"residual"},
                       {"AMGCL"}}};
};

}  // namespace

suite_results run_krylov_suite(const suite_options& options) { return krylov_run(options).run(); }

}  // namespace vouch::bench
