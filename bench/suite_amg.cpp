#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/sparse/ordering.hpp>

#include "amgcl_peer.hpp"
#include "timing.hpp"

namespace vouch::bench {
namespace {

// What must be reached: iterations anywhere, seconds of set-up and solve on a GPU and on 16 cores.
struct bars {
  double iterations = 0;
  double gpu_setup = 0, gpu_solve = 0;
  double cpu_setup = 0, cpu_solve = 0;
};

struct amg_case {
  std::string name;
  const char* problem;
  problem_options options;
  bars must{};
  amg_type type = amg_type::smoothed_aggregation;
};

problem_options sized(std::int64_t n) {
  problem_options o;
  o.nx = n;
  return o;
}

std::vector<amg_case> cases(bool quick) {
  const auto with = [](problem_options o, auto change) {
    change(o);
    return o;
  };
  const auto jump = [](problem_options& o) { o.coefficient = "jump", o.contrast = 1e6; };
  const auto random = [](problem_options& o) { o.coefficient = "random", o.contrast = 1e4; };
  const auto weak = [](problem_options& o) { o.epsilon = 1e-3; };
  const auto shuffled = [](problem_options& o) { o.order = "random"; };
  const auto convection = [](double peclet) { return [=](problem_options& o) { o.peclet = peclet; }; };
  const auto eddy = [](double peclet) {
    return [=](problem_options& o) { o.peclet = peclet, o.flow = "recirculating"; };
  };
  // Two products an iteration.
  constexpr bars of_convection{13, 25e-3, 25e-3, 0.5, 0.6};
  constexpr auto structured = amg_type::structured;
  if (quick)
    return {{"Poisson 7 points, 40^3", "poisson-3d", sized(40), {11}},
            {"Poisson 7 points, 40^3, structured", "poisson-3d", sized(40), {10}, structured},
            {"anisotropic 1e-3, 32^3, structured", "anisotropic-3d", with(sized(32), weak), {13}, structured},
            {"diffusion, jumps of 1e6, 32^3", "diffusion-3d", with(sized(32), jump), {24}},
            {"eddy, Peclet 10, 32^3", "convection-diffusion-3d", with(sized(32), eddy(10)), {15}}};
  return {
      {"Poisson 7 points, 64^3", "poisson-3d", sized(64), {12}},
      {"Poisson 7 points, 128^3", "poisson-3d", sized(128), {13}},
      {"Poisson 7 points, 256^3", "poisson-3d", sized(256), {14, 60e-3, 34e-3, 1.3, 1.0}},
      {"Poisson 7 points, 64^3, structured", "poisson-3d", sized(64), {10}, structured},
      {"Poisson 7 points, 256^3, structured",
       "poisson-3d",
       sized(256),
       {10, 8e-3, 18e-3, 0.15, 0.6},
       structured},
      {"Poisson 27 points, 256^3, structured",
       "poisson-3d-27",
       sized(256),
       {10, 110e-3, 50e-3, 3, 1.6},
       structured},
      {"Poisson 5 points, 2000^2, structured", "poisson-2d", sized(2000), {10}, structured},
      {"anisotropic 1e-3, 200^3, structured",
       "anisotropic-3d",
       with(sized(200), weak),
       {13, 40e-3, 24e-3, 1, 1},
       structured},
      {"Poisson 7 points, 256^3, rows permuted",
       "poisson-3d",
       with(sized(256), shuffled),
       {15, 120e-3, 60e-3, 2.5, 2.0}},
      {"Poisson 27 points, 256^3", "poisson-3d-27", sized(256), {10, 110e-3, 50e-3, 3, 1.6}},
      {"anisotropic 1e-3, 200^3", "anisotropic-3d", with(sized(200), weak), {13, 40e-3, 24e-3, 1, 1}},
      {"diffusion, jumps of 1e6, 200^3", "diffusion-3d", with(sized(200), jump), {24, 40e-3, 36e-3, 1, 1}},
      {"diffusion, random 1e4, 128^3", "diffusion-3d", with(sized(128), random), {55, 20e-3, 24e-3, 0.4, 0.7}},
      {"Poisson 5 points, 2000^2", "poisson-2d", sized(2000)},
      {"triangles, 1000^2", "elements-2d", sized(1000), {26, 15e-3, 14e-3, 0.3, 0.4}},
      {"convection, Peclet 0.1, 128^3", "convection-diffusion-3d", with(sized(128), convection(0.1)),
       of_convection},
      {"convection, Peclet 10, 128^3", "convection-diffusion-3d", with(sized(128), convection(10)),
       of_convection},
      {"convection, Peclet 1000, 128^3", "convection-diffusion-3d", with(sized(128), convection(1000)),
       of_convection},
      {"eddy, Peclet 0.1, 128^3", "convection-diffusion-3d", with(sized(128), eddy(0.1)), of_convection},
      {"eddy, Peclet 10, 128^3", "convection-diffusion-3d", with(sized(128), eddy(10)), of_convection},
      {"eddy, Peclet 1000, 128^3", "convection-diffusion-3d", with(sized(128), eddy(1000)), of_convection}};
}

bool is_symmetric(const amg_case& one) {
  const std::span<const problem_facts> all = problems();
  return std::find_if(all.begin(), all.end(),
                      [&](const problem_facts& facts) { return facts.name == one.problem; })
      ->symmetric;
}

class amg_run {
 public:
  explicit amg_run(const suite_options& options) : options_(options), devices_(open_devices(options)) {
    results_.suite = "amg";
    results_.title = "Algebraic multigrid";
    results_.machine = measure_machine(options, devices_);
    table_.note(
        "iterations: of conjugate gradients, for convection of BiCGStab (two products each), to a recomputed "
        "residual of 1e-8 of b, b "
        "of random elements.");
    table_.note("floor: the bytes of a cycle and of an iteration around it over the speed of a copy.");
  }

  suite_results run() {
    const device cpu = device::cpu(options_.threads);
    for (const amg_case& one : cases(options_.quick)) {
      if (options_.stop()) break;
      options_.say(one.name);
      const csr<double> A = generate_problem(cpu, one.problem, one.options);
      for (const bench_device& d : devices_) {
        if (options_.stop()) break;
        try {
          measure(one, A, d);
        } catch (const cancelled&) {  // what was measured before stays
        }
      }
    }
    results_.interrupted = options_.stop();
    results_.sections.push_back({"Set-up and solve", {}, {table_}, {}});
    if (!peers_.empty()) results_.sections.push_back({"Beside AMGCL", {}, {peers_}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    return std::move(results_);
  }

 private:
  void measure(const amg_case& one, const csr<double>& host, const bench_device& d) {
    const bool made_symmetric = is_symmetric(one);
    const csr<double> A = host.to(d.dev);
    std::vector<double> elements(static_cast<std::size_t>(A.rows));
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = random_unit(1, i) - 0.5;
    const array<double> b = array<double>::from(d.dev, elements);
    array<double> x(d.dev, A.rows);
    double setup = 1e9, solve = 1e9;
    solve_report report;
    amg_hierarchy made;
    amg_options how;
    how.type = one.type;
    const std::int64_t times = options_.repeat > 0 ? options_.repeat : 3;
    for (std::int64_t k = 0; k < times && !options_.stop(); ++k) {
      std::unique_ptr<amg<double>> M;
      setup = std::min(setup, seconds_of([&] { M = make_amg<double>(d.dev, A.all(), how); }));
      x = array<double>::zeros(d.dev, A.rows);
      cg_options stop;
      stop.rtol = 1e-8;
      report = made_symmetric ? cg<double>(d.dev, A.all(), b, x, stop, M.get())
                              : bicgstab<double>(d.dev, A.all(), b, x, {stop}, M.get());
      solve = std::min(solve, report.solve_seconds);
      made = M->hierarchy();
    }
    add(one, d, made, report, setup, solve);
    if (!d.dev.is_cuda() && one.type != amg_type::structured) add_amgcl(one, host, elements, d, setup + solve);
  }

  // The same system by AMGCL, whose hierarchy is smoothed aggregation, too.
  void add_amgcl(const amg_case& one, const csr<double>& A, const std::vector<double>& b, const bench_device& d,
                 double ours) {
    const std::optional<amgcl_times> peer =
        amgcl_solve(A.all(), {b.data(), A.rows},
                    is_symmetric(one) ? amgcl_kind::cg_amg : amgcl_kind::bicgstab_amg, d.dev.threads());
    if (!peer) return;
    const double seconds = peer->converged ? peer->setup + peer->solve : INFINITY;
    bench_row row{one.name,       d.label, "double", "setup_and_solve", ours, "s", {}, seconds,
                  seconds / ours, {},      {}};
    results_.rows.push_back(std::move(row));
    peers_.add({one.name, d.label, seconds_text(ours), seconds_text(peer->setup), seconds_text(peer->solve),
                peer->converged ? std::to_string(peer->iterations) : "not converged",
                fmt::format("{:.2f}", seconds / ours)});
  }

  void add(const amg_case& one, const bench_device& d, const amg_hierarchy& made, const solve_report& report,
           double setup, double solve) {
    const bool gpu = d.dev.is_cuda(), all_cores = d.label == "cpu";
    const auto n = static_cast<double>(made.levels.front().rows);
    // Around the cycle: the product by diagonals, five vectors read and three written; of BiCGStab two of each, the product by rows
    // of seven entries, 25 vectors.
    const double iteration_bytes = is_symmetric(one)
                                       ? static_cast<double>(made.cycle_bytes) + 104 * n
                                       : 2 * static_cast<double>(made.cycle_bytes) + 2 * 100 * n + 200 * n;
    const double floor = iteration_bytes / copy_speed(results_.machine, d);
    const double each = report.iterations > 0 ? solve / static_cast<double>(report.iterations) : 0;
    const auto row = [&](const char* metric, double value, const char* unit, std::optional<double> least,
                         double bar) {
      bench_row r{one.name, d.label, "double", metric, value, unit, least, {}, {}, {}, {}};
      if (least) r.ratio = *least / value;
      if (bar > 0) r.bar = bar, r.pass = value <= bar;
      results_.rows.push_back(std::move(r));
    };
    const bool converged = report.status == solve_status::converged;
    row("iterations", converged ? static_cast<double>(report.iterations) : 1e9, "1", {}, one.must.iterations);
    row("operator_complexity", made.operator_complexity(), "1", {}, 0);
    row("setup", setup, "s", {}, gpu ? one.must.gpu_setup : all_cores ? one.must.cpu_setup : 0);
    row("solve", solve, "s", {}, gpu ? one.must.gpu_solve : all_cores ? one.must.cpu_solve : 0);
    row("time_per_iteration", each, "s", floor, 0);
    row("memory", static_cast<double>(made.bytes), "B", {}, 0);
    row("true_residual", report.relative_true(), "1", {}, 0);
    table_.add({one.name, d.label, std::to_string(made.levels.size()),
                fmt::format("{:.2f}", made.operator_complexity()),
                fmt::format("{:.2f} GB", static_cast<double>(made.bytes) * 1e-9), seconds_text(setup),
                seconds_text(solve),
                converged ? std::to_string(report.iterations) : std::string(name(report.status)),
                seconds_text(each), seconds_text(floor), fmt::format("{:.1e}", report.relative_true())});
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  suite_results results_;
  text_table peers_{"Beside AMGCL: smoothed aggregation, spai0, as many threads",
                    {{"system", true},
                     {"device", true},
                     {"Vouch, in all"},
                     {"AMGCL set-up"},
                     {"solve"},
                     {"iterations"},
                     {"times ours"}}};
  text_table table_{"Smoothed aggregation, and structured hierarchies on grids, to 1e-8",
                    {{"system", true},
                     {"device", true},
                     {"levels"},
                     {"complexity"},
                     {"memory"},
                     {"set-up"},
                     {"solve"},
                     {"iterations"},
                     {"an iteration"},
                     {"floor"},
                     {"residual"}}};
};

}  // namespace

suite_results run_amg_suite(const suite_options& options) { return amg_run(options).run(); }

}  // namespace vouch::bench
