#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <vouch/core/config.hpp>

#include "interval_peers.hpp"
#include "peers.hpp"
#include "stationary_published.hpp"
#include "stationary_systems.hpp"
#include "stationary_transposes.hpp"

namespace vouch::bench {
namespace {
constexpr std::int64_t published_size = 10240;
constexpr double hard = 1.05;                // dominance
constexpr std::int64_t on_chip = 227 << 10;  // bytes of a matrix that a multiprocessor can keep

class stationary_run {
 public:
  stationary_run(const suite_options& options, suite_results& results)
      : options_(options),
        results_(results),
        sweeps_("Seconds a sweep, dominance 1.05", {{"device", true},
                                                    {"precision", true},
                                                    {"n"},
                                                    {"floor"},
                                                    {"jacobi"},
                                                    {"gauss-seidel"},
                                                    {"gemv loop"},
                                                    {"jacobi reads"},
                                                    {"occupancy"}}),
        solves_("Seconds to a true error of 1e-6, all of the call counted",
                {{"device", true}, {"n"}, {"method", true}, {"sweeps"}, {"time"}, {"error"}}),
        copies_("Seconds to a relative residual of 1e-10 in double, dominance 1.05, all of the call counted",
                {{"device", true}, {"n"}, {"method", true}, {"sweeps"}, {"time"}}) {}

  void on_gpu(const device& gpu) {
    const std::int64_t bytes = std::min<std::int64_t>(std::int64_t{1} << 31, gpu.memory_free() / 4);
    const array<std::byte> memory = array<std::byte>::zeros(gpu, bytes);
    speed_ = read_speed(gpu, memory);
    if constexpr (built_with_cuda) travel_ = cuda_travel_seconds(gpu);
    for (const std::int64_t n : sizes({1000, 2048, 4096, published_size, 20480, 40960})) sweeps<float>(gpu, n);
    for (const std::int64_t n : sizes({1000, 2048, published_size})) sweeps<double>(gpu, n);
    time_to_error(gpu);
    over_copies(gpu);
  }

  void on_cpu(const device& cpu) {
    options_.say("cpu, speed of reading");
    speed_ = cpu_read_speed(cpu, options_.quick ? 64 << 20 : 512 << 20);
    for (const std::int64_t n : sizes({1000, 2048, published_size})) sweeps<float>(cpu, n);
    for (const std::int64_t n : sizes({1000, 2048, published_size})) sweeps<double>(cpu, n);
    over_copies(cpu);
  }

  void finish() {
    sweeps_.note(
        "floor: one read of the matrix, at the speed of a loop that only reads, measured in this run; where");
    sweeps_.note(
        "the matrix stays on the chip the time in which all blocks hear a number from each other, for");
    sweeps_.note("Gauss-Seidel (128 unknowns a step, 64 in double) in the rows of the report a trip a step.");
    sweeps_.note("On the CPU what caches hold of a matrix is read faster than that.");
    sweeps_.note("gemv loop: cuBLAS with the norm read back; on the CPU the product of OpenBLAS alone.");
    if (!no_gemv_loop_.empty()) sweeps_.note("no gemv loop of cuBLAS: " + no_gemv_loop_);
    sweeps_.note(
        "occupancy: threads at work over 2048 a multiprocessor; a kernel stays from first sweep to last.");
    results_.sections.push_back({"Sweeps", {}, {sweeps_}, {}});
    if (!solves_.empty()) results_.sections.push_back({"Solves", {}, {solves_}, {}});
    if (!copies_.empty()) results_.sections.push_back({"Mixed precision", {}, {copies_}, {}});
  }

 private:
  static double read_speed(const device& gpu, const array<std::byte>& memory) {
    if constexpr (built_with_cuda)
      return cuda_read_speed(gpu, memory.data(), static_cast<std::size_t>(memory.size()), 5);
    return 0;
  }

  std::vector<std::int64_t> sizes(std::vector<std::int64_t> all) const {
    if (options_.quick) all.resize(2);
    return all;
  }

  // A row; with a bar the value must not exceed it, or, where more is better, must reach it.
  void add(bench_row row, bool more_is_better = false) {
    if (row.value && row.bar) row.pass = more_is_better ? *row.value >= *row.bar : *row.value <= *row.bar;
    if (row.peer && row.value)
      row.ratio = *row.peer / *row.value;
    else if (row.floor && row.value)
      row.ratio = *row.floor / *row.value;
    results_.rows.push_back(std::move(row));
  }

  template <real T>
  static constexpr const char* precision = sizeof(T) == 4 ? "single" : "double";
  static std::string case_of(std::int64_t n) { return fmt::format("dominance 1.05, n {}", n); }

  template <real T>
  void sweeps(const device& dev, std::int64_t n) {
    const std::int64_t bytes = n * n * static_cast<std::int64_t>(sizeof(T));
    if (options_.stop() || 3 * bytes > dev.memory_free()) return;
    const char* label = dev.is_cuda() ? "gpu" : "cpu";
    options_.say(fmt::format("{}, {}, n {}", label, precision<T>, n));
    dense_system<T> system(dev, dense_family::positive, hard, n);
    const double one_read = static_cast<double>(bytes) / speed_;
    const auto count = static_cast<std::int64_t>(std::clamp(0.05 / one_read, 20.0, 1000.0));
    const auto [jacobi, engine] = sweep_seconds(system, sweep_method::jacobi, count, options_);
    const double seidel = sweep_seconds(system, sweep_method::gauss_seidel, count, options_).seconds;
    const std::optional<double> peer = gemv_loop_seconds(system, count);
    const bool resident =
        dev.is_cuda() && n * n * static_cast<std::int64_t>(sizeof(T)) <= on_chip * dev.processors();
    const sweep_floors floors = resident ? travel_floors<T>(n) : sweep_floors{one_read, one_read};
    bench_row row{case_of(n), label, precision<T>, "jacobi_sweep", jacobi, "s", floors.jacobi, peer, {},
                  {},         {}};
    bench_row other{case_of(n), label, precision<T>, "gauss_seidel_sweep", seidel, "s", floors.seidel, peer, {},
                    {},         {}};
    if (dev.is_cuda() && n == published_size) row.bar = 1.10 * one_read;
    if (dev.is_cuda() && n == published_size && sizeof(T) == 4) other.bar = 1.6 * jacobi;
    if (dev.is_cuda() && n == 2048 && sizeof(T) == 4) {
      row.bar = 4e-6;
      other.bar = 30e-6;
    }
    if (!dev.is_cuda() && n == published_size) row.bar = other.bar = one_read / 0.85;
    add(row);
    add(other);
    sweeps_.add({label, precision<T>, count_text(n), seconds_text(row.floor), seconds_text(jacobi),
                 seconds_text(seidel), seconds_text(peer), rate_text(static_cast<double>(bytes) / jacobi),
                 percent_text(occupancy(dev, engine))});
    if constexpr (sizeof(T) == 4)
      if (dev.is_cuda() && (n == published_size || options_.quick))
        for (const std::int64_t done : {1, 3, 8})
          add({case_of(n),
               label,
               "single",
               fmt::format("gauss_seidel_deviation_after_{}", done),
               sweep_deviation(system, done),
               "1",
               {},
               {},
               {},
               1e-5,
               {}});
  }

  // A library's product a sweep: of cuBLAS with the norm read back, of OpenBLAS alone.
  template <real T>
  std::optional<double> gemv_loop_seconds(const dense_system<T>& system, std::int64_t count) {
    if (!system.dev.is_cuda()) return openblas_seconds<T>(blas_routine::gemv, system.n, system.dev.threads());
    const auto from =
        cuda_library_dense<T>(system.dev, system.n, system.A.data(), system.b.data(),
                              static_cast<int>(std::min<std::int64_t>(count, 100)), false, no_gemv_loop_);
    return from ? std::optional(from->sweep_seconds) : std::nullopt;
  }

  // Where the matrix stays on the chip: every block needs all blocks' numbers, and of exact Gauss-Seidel each
  // step's change is known a trip after that of the step before, at the earliest.
  struct sweep_floors {
    double jacobi, seidel;
  };
  template <real T>
  sweep_floors travel_floors(std::int64_t n) const {
    constexpr std::int64_t step = 512 / sizeof(T);
    return {travel_.all_to_all, static_cast<double>((n + step - 1) / step) * travel_.hop};
  }

  // Threads at work over those that all multiprocessors could hold; nothing where the engine does not say.
  static std::optional<double> occupancy(const device& dev, const std::string& engine) {
    constexpr double most = 2048;  // of a multiprocessor
    long long blocks = 0, threads = 0;
    if (!dev.is_cuda() || std::sscanf(engine.c_str(), "%lld blocks of %lld threads", &blocks, &threads) != 2)
      return {};
    return static_cast<double>(blocks * threads) / (most * static_cast<double>(dev.processors()));
  }

  void time_to_error(const device& gpu) {
    const std::int64_t n = options_.quick ? 2048 : published_size;
    if (options_.stop()) return;
    options_.say("gpu, time to an error");
    dense_system<float> system(gpu, dense_family::positive, hard, n);
    for (const auto& [method, bar] :
         {std::pair{sweep_method::mixed_jacobi, 1.2e-3}, std::pair{sweep_method::gauss_seidel, 2.5e-3},
          std::pair{sweep_method::jacobi, 0.0}}) {
      const timed_solve solve = solve_seconds(system, method, 5e-7, options_);
      bench_row row{
          case_of(n), "gpu", "single", fmt::format("{}_time_to_1e-6", name(method)), solve.seconds, "s", {}, {},
          {},         {},    {}};
      if (solve.relative_error > 1e-6) row.value = std::nullopt;
      if (bar > 0 && n == published_size) row.bar = bar;
      add(row);
      add({case_of(n),
           "gpu",
           "single",
           fmt::format("{}_relative_error", name(method)),
           solve.relative_error,
           "1",
           {},
           {},
           {},
           {},
           {}});
      solves_.add({"gpu", count_text(n), name(method), count_text(solve.report.iterations),
                   seconds_text(solve.seconds), small_text(solve.relative_error)});
    }
    std::string why;
    if (options_.stop()) return;
    if (const auto peer = cuda_library_dense<float>(gpu, n, system.A.data(), system.b.data(), 20, true, why))
      solves_.add({"gpu", count_text(n), "LU by cuSOLVER", "", seconds_text(peer->lu_seconds), ""});
    else
      solves_.note("no LU by cuSOLVER: " + why);
  }

  // --precision mixed against the same sweeps in double.
  void over_copies(const device& dev) {
    const std::int64_t n = options_.quick ? 2048 : dev.is_cuda() ? published_size : 4096;
    const char* label = dev.is_cuda() ? "gpu" : "cpu";
    if (options_.stop()) return;
    options_.say(fmt::format("{}, over copies of less precision", label));
    dense_system<double> system(dev, dense_family::positive, hard, n);
    std::optional<double> in_double;
    for (const sweep_method method : {sweep_method::jacobi, sweep_method::copied_jacobi}) {
      const timed_solve solve = solve_seconds(system, method, 1e-10, options_);
      add({case_of(n),
           label,
           solve.report.precision,
           fmt::format("{}_time_to_residual_1e-10", name(method)),
           solve.seconds,
           "s",
           {},
           in_double,
           {},
           {},
           {}});
      in_double = solve.seconds;
      copies_.add({label, count_text(n),
                   method == sweep_method::jacobi
                       ? "double"
                       : solve.report.engine.substr(0, solve.report.engine.find(',')),
                   count_text(solve.report.iterations), seconds_text(solve.seconds)});
    }
  }

  const suite_options& options_;
  suite_results& results_;
  text_table sweeps_, solves_, copies_;
  std::string no_gemv_loop_;  // why
  double speed_ = 0;
  travel_seconds travel_{};
};

}  // namespace

suite_results run_stationary_suite(const suite_options& options) {
  const std::vector<bench_device> devices = open_devices(options);
  suite_results all;
  all.suite = "stationary";
  all.title = "Dense stationary iterations";
  all.machine = measure_machine(options, devices);
  stationary_run run(options, all);
  transpose_table transposes(options, all);
  published_tables published(options, all);
  for (const bench_device& d : devices) {
    if (d.label == "cpu1") continue;
    d.dev.is_cuda() ? run.on_gpu(d.dev) : run.on_cpu(d.dev);
    if (d.dev.is_cuda()) transposes.measure(d.dev);
    published.first_norms(d);
    published.sizes(d);
    published.families(d);
  }
  all.sections.push_back({"The machine", {}, {machine_table(all.machine)}, {}});
  run.finish();
  transposes.finish();
  published.finish();
  all.interrupted = options.stop();
  all.sections.push_back({"The bars: " + bars_text(all.rows), {}, {bars_table(all.rows)}, {}});
  return all;
}

}  // namespace vouch::bench
