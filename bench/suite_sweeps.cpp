#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <vouch/generate/poisson.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>

#include "sweep_plots.hpp"
#include "system_of_ones.hpp"

namespace vouch::bench {
namespace {

enum class way { jacobi, natural, colours };
constexpr std::pair<way, const char*> ways[] = {
    {way::jacobi, "jacobi"}, {way::natural, "gauss_seidel"}, {way::colours, "gauss_seidel_by_colours"}};

template <real T>
solve_report sweep(const device& dev, system_of_ones<T>& s, way how, const stopping_criterion& goal) {
  if (how == way::jacobi) return jacobi<T>(dev, s.A, s.b.all(), s.x, {goal, 1, {}});
  const auto ordering = how == way::colours ? sweep_ordering::multicolor : sweep_ordering::natural;
  return gauss_seidel<T>(dev, s.A, s.b.all(), s.x, {goal, sweep_order::forward, {}, ordering});
}

class sweeps_run {
 public:
  sweeps_run(const suite_options& options, suite_results& results)
      : options_(options),
        results_(results),
        speeds_("Seconds a sweep, Poisson problems", {{"device", true},
                                                      {"case", true},
                                                      {"precision", true},
                                                      {"one read"},
                                                      {"jacobi"},
                                                      {"gauss-seidel"},
                                                      {"by colours"}}),
        solves_("Poisson 2D to a relative residual of 1e-8, double",
                {{"device", true}, {"iteration", true}, {"iterations"}, {"setup"}, {"solve"}}) {}

  void on(const bench_device& d) {
    const device cpu = device::cpu(options_.threads);
    const std::vector<std::int64_t> squares =
        options_.quick ? std::vector<std::int64_t>{60, 120} : std::vector<std::int64_t>{150, 300, 500};
    for (const std::int64_t n : squares) both(d, "poisson 2d", poisson_2d(cpu, n, n));
    for (const std::int64_t n :
         options_.quick ? std::vector<std::int64_t>{20} : std::vector<std::int64_t>{40, 100})
      both(d, "poisson 3d", poisson_3d(cpu, n, n, n));
    solve_all(d, poisson_2d(cpu, options_.quick ? 60 : 150, options_.quick ? 60 : 150));
  }

  void finish() {
    results_.sections.push_back({"Sweeps", {}, {speeds_}, sweep_figures("Sparse sweeps", results_.rows)});
    results_.sections.push_back({"Solves", {}, {solves_}, std::move(convergence_)});
  }

 private:
  void both(const bench_device& d, const std::string& family, const csr<double>& A) {
    constexpr std::int64_t large = 500000;  // rows: set up for seconds
    speeds<double>(d, family, A);
    if (A.rows < large) speeds<float>(d, family, A);
  }

  double copy_speed(const device& dev) const {
    return dev.is_cuda() ? results_.machine.gpu->copy : results_.machine.cpu.all.best();
  }

  template <real T>
  static double seconds_of_sweeps(const device& dev, system_of_ones<T>& s, way how, std::int64_t count) {
    stopping_criterion goal;
    goal.fixed_iterations = count;
    return sweep(dev, s, how, goal).solve_seconds;
  }

  // The difference of two counts: what a solve does before and after its sweeps does not show.
  template <real T>
  double seconds_a_sweep(const device& dev, system_of_ones<T>& s, way how, double floor) {
    constexpr std::int64_t few = 5, some = 20;
    constexpr double enough = 0.04;  // seconds
    const double cold = seconds_of_sweeps(dev, s, how, few);
    const double least = std::min(cold, seconds_of_sweeps(dev, s, how, few));
    double guess = 1.5 * floor + 3e-6;
    if (how == way::natural || !dev.is_cuda())
      guess = std::max(floor, (seconds_of_sweeps(dev, s, how, few + some) - least) / some);
    const auto many = static_cast<std::int64_t>(std::clamp(enough / guess, 10.0, 5000.0));
    return (seconds_of_sweeps(dev, s, how, few + many) - least) / static_cast<double>(many);
  }

  template <real T>
  void speeds(const bench_device& d, const std::string& family, const csr<double>& A) {
    if (options_.stop()) return;
    const char* precision = sizeof(T) == 4 ? "single" : "double";
    const std::string name = fmt::format("{}, n {}", family, A.rows);
    options_.say(fmt::format("{}, {}, {}", d.label, name, precision));
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    const double floor =
        static_cast<double>(A.nonzeros() * (size + 4) + A.rows * (8 + 4 * size)) / copy_speed(d.dev);
    system_of_ones<T> system(d.dev, A);
    std::vector<std::string> cells{d.label, name, precision, seconds_text(floor)};
    for (const auto& [how, metric] : ways) {
      bench_row row{name, d.label, precision, fmt::format("{}_sweep", metric), {}, "s", floor, {}, {}, {}, {}};
      row.value = seconds_a_sweep(d.dev, system, how, floor);
      row.ratio = floor / *row.value;
      cells.push_back(seconds_text(row.value));
      results_.rows.push_back(std::move(row));
    }
    speeds_.add(std::move(cells));
  }

  void solve_all(const bench_device& d, const csr<double>& A) {
    std::vector<named_history> histories;
    const auto solve = [&](const char* name, auto run) {
      if (options_.stop()) return;
      options_.say(fmt::format("{}, {} iterations", d.label, name));
      system_of_ones<double> s(d.dev, A);
      solve_report report = run(s);
      results_.rows.push_back(
          {fmt::format("poisson 2d, n {}", A.rows),
           d.label,
           "double",
           fmt::format("{}_time", name),
           report.status == solve_status::converged ? std::optional(report.solve_seconds) : std::nullopt,
           "s",
           {},
           {},
           {},
           {},
           {}});
      solves_.add({d.label, name, count_text(report.iterations), seconds_text(report.setup_seconds),
                   seconds_text(report.solve_seconds)});
      histories.push_back({name, std::move(report)});
    };
    const device& dev = d.dev;
    const acceleration chebyshev{0, true};
    const auto colours = sweep_ordering::multicolor;
    const auto symmetric = sweep_order::symmetric;
    using system = system_of_ones<double>;
    solve("jacobi", [&](system& s) { return jacobi<double>(dev, s.A, s.b.all(), s.x, {}); });
    solve("jacobi_chebyshev", [&](system& s) {
      return jacobi<double>(dev, s.A, s.b.all(), s.x, {{}, 1, chebyshev});
    });
    solve("jacobi_chebyshev_mixed", [&](system& s) {
      return jacobi<double>(dev, s.A, s.b.all(), s.x, {{}, 1, chebyshev, true});
    });
    solve("gauss_seidel_by_colours", [&](system& s) {
      return gauss_seidel<double>(dev, s.A, s.b.all(), s.x, {{}, sweep_order::forward, {}, colours});
    });
    solve("sor_auto_by_colours", [&](system& s) {
      return sor<double>(dev, s.A, s.b.all(), s.x, {{}, 1, sweep_order::forward, {}, colours, false, true});
    });
    solve("symmetric_chebyshev_by_colours", [&](system& s) {
      return gauss_seidel<double>(dev, s.A, s.b.all(), s.x, {{}, symmetric, chebyshev, colours});
    });
    if (!histories.empty())
      convergence_.push_back(
          convergence_figure(fmt::format("Poisson 2D, {} unknowns, {}", A.rows, d.label), histories));
  }

  const suite_options& options_;
  suite_results& results_;
  text_table speeds_, solves_;
  std::vector<figure> convergence_;
};

}  // namespace

suite_results run_sweeps_suite(const suite_options& options) {
  const std::vector<bench_device> devices = open_devices(options);
  suite_results all;
  all.suite = "sweeps";
  all.title = "Sweeps over sparse matrices";
  all.machine = measure_machine(options, devices);
  sweeps_run run(options, all);
  for (const bench_device& d : devices)
    if (d.label != "cpu1") run.on(d);
  all.sections.push_back({"The machine", {}, {machine_table(all.machine)}, {}});
  run.finish();
  all.interrupted = options.stop();
  return all;
}

}  // namespace vouch::bench
