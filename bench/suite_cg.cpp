#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/loop/choose_device.hpp>

#include "cg_cases.hpp"
#include "cg_measure.hpp"
#include "cg_results.hpp"

namespace vouch::bench {
namespace {

constexpr double published_stop = 1e-5;
constexpr std::int64_t published_limit = 999999;
constexpr const char* preconditioners[] = {"jacobi", "block-jacobi", "ssor", "ic0", "chebyshev"};

class cg_run {
 public:
  cg_run(const suite_options& options, const std::vector<bench_device>& devices, const machine_facts& machine)
      : options_(options), devices_(devices), machine_(machine), host_(device::cpu(options.threads)) {
    results_.published_set = options.matrices.empty();
  }

  cg_results run() {
    for (const cg_case_source& source : published_cases(options_)) {
      if (options_.stop()) break;
      options_.say(source.name);
      const cg_case one = load(host_, source);
      results_.cases.push_back({one.name, one.A.rows, one.A.nonzeros(), one.figures, one.remark});
      solve_case<double>(one);
      solve_case<float>(one);
      note_automatic(one);
    }
    if (results_.published_set)
      for (const int dimensions : {2, 3})
        for (const poisson_size& size : poisson_sizes(dimensions, options_.quick)) scale(size);
    return std::move(results_);
  }

 private:
  template <real T>
  void solve_case(const cg_case& one) {
    std::optional<std::int64_t> cpu_iterations;
    const csr<T> host_matrix = convert_values<T, double>(host_, one.A.all());
    for (const bench_device& d : devices_) {
      if (options_.stop()) return;
      options_.say(fmt::format("{}, {}, {}", one.name, d.label, precision_name<T>));
      system_on<T> system(d, one.A);
      solve_request published;
      published.rule.stop_recurrence = published_stop;
      published.rule.max_iterations = published_limit;
      const std::int64_t iterations = solve(system, one.name, published, published_rule);
      if (!d.dev.is_cuda()) {
        cpu_iterations = iterations;
      } else if (cpu_iterations) {
        solve_request fixed;
        fixed.rule.fixed_iterations = *cpu_iterations;
        solve(system, one.name, fixed, fixed_rule);
      }
      const std::int64_t needed = solve(system, one.name, {}, true_rule);
      if constexpr (sizeof(T) == sizeof(double)) try_variants(system, one.name);
      iteration_request request;
      request.most_iterations = std::clamp<std::int64_t>(needed, 50, 5000);
      iteration_cell cell = measure_iterations<T>(system, host_matrix, request, machine_, options_);
      cell.case_name = one.name;
      if (cell.seconds > 0) results_.iterations.push_back(std::move(cell));
    }
  }

  // Adds the cell, returns its iterations.
  template <real T>
  std::int64_t solve(system_on<T>& system, const std::string& name, const solve_request& request,
                     const char* rule) {
    if (options_.stop()) return 0;
    solve_cell cell = measure_solve(system, request, options_);
    cell.case_name = name;
    cell.rule = rule;
    if (std::string_view(rule) != true_rule) cell.report.history.clear();  // only this one is drawn
    results_.solves.push_back(std::move(cell));
    return results_.solves.back().report.iterations;
  }

  void try_variants(system_on<double>& system, const std::string& name) {
    if (system.where.label == "cpu1") return;
    solve_request mixed;
    mixed.mixed = true;
    solve(system, name, mixed, true_rule);
    for (const char* M : preconditioners) {
      solve_request preconditioned;
      preconditioned.preconditioner = M;
      solve(system, name, preconditioned, true_rule);
    }
  }

  // What --device auto would take, where there is a choice.
  void note_automatic(const cg_case& one) {
    const bool gpu =
        std::any_of(devices_.begin(), devices_.end(), [](const bench_device& d) { return d.dev.is_cuda(); });
    if (!gpu || devices_.size() == 1) return;
    const device_choice choice = choose_device(one.A.rows, one.A.nonzeros(), host_.threads(), true);
    results_.choices.push_back({one.name, choice.dev.is_cuda(), choice.why});
  }

  void scale(const poisson_size& size) {
    const std::int64_t bytes = size.rows() * (12 * (2 * size.dimensions + 1) + 8 + 9 * 8);
    if (options_.stop() || 3 * bytes > host_.memory_free()) return;
    options_.say(size.name());
    const csr<double> A = poisson_matrix(host_, size);
    scale_in<double>(size, A);
    scale_in<float>(size, A);
  }

  template <real T>
  void scale_in(const poisson_size& size, const csr<double>& A) {
    constexpr std::int64_t largest_for_one_thread = std::int64_t{1} << 21;
    constexpr std::int64_t smallest_in_csr = 1000000;
    const csr<T> host_matrix = convert_values<T, double>(host_, A.all());
    for (const bench_device& d : devices_) {
      if (options_.stop()) return;
      if (d.label == "cpu1" && (sizeof(T) < sizeof(double) || size.rows() > largest_for_one_thread)) continue;
      system_on<T> system(d, A);
      iteration_request request;
      request.most_iterations = 20 * size.side;
      add_scaling(size, measure_iterations<T>(system, host_matrix, request, machine_, options_));
      if (d.dev.is_cuda() && sizeof(T) == sizeof(double) && size.rows() >= smallest_in_csr) {
        request.kept_as = layout::csr;
        request.with_peer = false;
        add_scaling(size, measure_iterations<T>(system, host_matrix, request, machine_, options_));
      }
      if constexpr (sizeof(T) == sizeof(double)) solve_large(system, size);
    }
  }

  // Double against mixed where the memory decides.
  void solve_large(system_on<double>& system, const poisson_size& size) {
    constexpr std::int64_t least = 250000, most_on_cpu = 2500000;
    if (size.dimensions != 3 || size.rows() < least || system.where.label == "cpu1") return;
    if (!system.where.dev.is_cuda() && size.rows() > most_on_cpu) return;
    solve(system, size.name(), {}, true_rule);
    solve_request mixed;
    mixed.mixed = true;
    solve(system, size.name(), mixed, true_rule);
  }

  void add_scaling(const poisson_size& size, iteration_cell cell) {
    cell.case_name = size.name();
    if (cell.seconds > 0) results_.scaling.push_back(std::move(cell));
  }

  const suite_options& options_;
  const std::vector<bench_device>& devices_;
  const machine_facts& machine_;
  device host_;
  cg_results results_;
};

}  // namespace

suite_results run_cg_suite(const suite_options& options) {
  for (const std::string& file : options.matrices)
    read_matrix_market_header(file);  // rather now than in minutes
  const std::vector<bench_device> devices = open_devices(options);
  suite_results all;
  all.suite = "cg";
  all.title = "Conjugate gradients";
  all.machine = measure_machine(options, devices);
  const cg_results results = cg_run(options, devices, all.machine).run();
  all.interrupted = options.stop();
  all.rows = cg_rows(results);
  all.sections.push_back({"The machine", {}, {machine_table(all.machine)}, {}});
  for (report_section& section : cg_sections(results)) all.sections.push_back(std::move(section));
  all.sections.push_back({"The bars: " + bars_text(all.rows), {}, {bars_table(all.rows)}, {}});
  return all;
}

}  // namespace vouch::bench
