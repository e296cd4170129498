#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/complex_problems.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/solve/direct/cudss/factors.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/direct/module_factors.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/structure.hpp>

#include "test_systems.hpp"
#include "timing.hpp"

namespace vouch::bench {
namespace {

using complex = std::complex<double>;

struct factor_choice {
  int kind;
  const char* method;
};

// Those that suit a matrix.
std::vector<factor_choice> choices_for(const structure_facts& A) {
  std::vector<factor_choice> all;
  if (not_spd_reason(A).empty()) all.push_back({VOUCH_FACTORS_CHOLESKY, "sparse-cholesky"});
  if (A.symmetric) all.push_back({VOUCH_FACTORS_LDLT, "sparse-ldlt"});
  all.push_back({VOUCH_FACTORS_LU, "sparse-lu"});
  return all;
}

std::vector<factor_choice> choices_for(const complex_symmetry& A) {
  std::vector<factor_choice> all;
  if (A.hermitian && A.diagonal == "real, positive") all.push_back({VOUCH_FACTORS_CHOLESKY, "sparse-cholesky"});
  if (A.symmetric) all.push_back({VOUCH_FACTORS_LDLT, "sparse-ldlt"});
  all.push_back({VOUCH_FACTORS_LU, "sparse-lu"});
  return all;
}

vouch_backend_matrix matrix_of(csr_view<const double> A) {
  return {A.rows, A.cols, A.row_ptr, A.col, A.val, 0};
}
vouch_backend_matrix matrix_of(csr_view<const complex> A) {
  return {A.rows, A.cols, A.row_ptr, A.col, reinterpret_cast<const double*>(A.val), 1};
}

// Seconds of the library; nothing where it does not factorise the matrix, or would take too long.
std::optional<double> library_seconds(const vouch_backend& backend, int kind,
                                      const vouch_backend_matrix& matrix, const double* b) {
  constexpr double most_flops = 2e10;
  vouch_backend_result found{};
  void* made = nullptr;
  std::vector<double> x(static_cast<std::size_t>(matrix.complex != 0 ? 2 * matrix.rows : matrix.rows));
  bool done = false;
  const double seconds = seconds_of([&] {
    if (backend.analyse(kind, &matrix, &made, &found) != VOUCH_BACKEND_DONE || found.flops > most_flops) return;
    if (backend.factorise(made, &matrix, &found) != VOUCH_BACKEND_DONE) return;
    done = backend.solve(made, 0, 1, b, x.data()) == 0;
  });
  if (made != nullptr) backend.release(made);
  if (!done) return {};
  return seconds;
}

// As cuDSS takes it.
number_matrix<double> given_to_library(const device& gpu, csr_view<const double> A) {
  csr<double> copied = copy(gpu, gpu, A);
  return {A.rows, false, std::move(copied.row_ptr), std::move(copied.col), std::move(copied.val)};
}

// The same of cuDSS, for a matrix that is on the GPU.
std::optional<double> library_seconds(const device& gpu, int kind, csr_view<const double> A,
                                      const array<double>& b, int threads) {
  const cudss::kind which = kind == VOUCH_FACTORS_CHOLESKY ? cudss::kind::cholesky
                            : kind == VOUCH_FACTORS_LDLT   ? cudss::kind::ldlt
                                                           : cudss::kind::lu;
  array<double> x(gpu, A.rows);
  bool done = false;
  const double seconds = seconds_of([&] {
    cudss::factors<double> factors(gpu, which, given_to_library(gpu, A), {.threads = threads});
    factors.solve(1, b.data(), x.data());
    done = factors.failed() == 0;
  });
  if (!done) return {};
  return seconds;
}

struct by_vouch {
  double seconds = 0;
  solve_result result;
  std::vector<double> x;
};

// With operands on dev.
by_vouch solve_once(const device& dev, csr_view<const double> A, const array<double>& b,
                    const solve_options& options) {
  by_vouch made;
  array<double> x = array<double>::zeros(dev, A.rows);
  dev.synchronize();
  made.seconds = seconds_of([&] { made.result = solve(dev, A, b.all(), x.all(), options); });
  made.x = x.to_vector();
  return made;
}

// The same of complex numbers; x holds their parts in turns.
by_vouch solve_once(const device& cpu, csr_view<const complex> A, const array<complex>& b,
                    const solve_options& options) {
  by_vouch made;
  array<complex> x = array<complex>::zeros(cpu, A.rows);
  made.seconds = seconds_of([&] { made.result = solve(cpu, A, b.all(), x.all(), options); });
  const auto* parts = reinterpret_cast<const double*>(x.data());
  made.x.assign(parts, parts + 2 * A.rows);
  return made;
}

struct complex_system {
  std::string name;
  csr<complex> A;
  array<complex> b;
};

// The model problems of complex numbers, b random.
std::vector<complex_system> complex_systems(const device& cpu, bool quick) {
  const auto square = [](std::int64_t n) { return complex_problem_options{.nx = n, .ny = n}; };
  const auto box = [](std::int64_t n) { return complex_problem_options{.nx = n, .ny = n, .nz = n}; };
  struct source {
    const char* problem;
    complex_problem_options size;
    bool quick;
  };
  const source sources[] = {{"magnetic-poisson", square(60), true},
                            {"magnetic-poisson", square(300), false},
                            {"helmholtz", box(14), true},
                            {"helmholtz", box(24), false},
                            {"impedance-network", square(60), true},
                            {"impedance-network", square(300), false},
                            {"power-grid", {.nx = 5000}, true},
                            {"power-grid", {.nx = 60000}, false}};
  std::vector<complex_system> all;
  for (const source& s : sources) {
    if (quick && !s.quick) continue;
    csr<complex> A = generate_complex(cpu, s.problem, s.size);
    array<complex> b(cpu, A.rows);
    for (std::int64_t i = 0; i < A.rows; ++i)
      b[i] = {random_unit(1, static_cast<std::uint64_t>(i)) - 0.5,
              random_unit(2, static_cast<std::uint64_t>(i)) - 0.5};
    all.push_back({fmt::format("{}, complex, {} rows", s.problem, A.rows), std::move(A), std::move(b)});
  }
  return all;
}

// A system as the table has it.
struct system_row {
  std::string name;
  std::int64_t rows, nonzeros;
};

class direct_run {
 public:
  explicit direct_run(const suite_options& options) : options_(options), devices_(open_devices(options)) {
    std::erase_if(devices_, [&](const bench_device& d) {
      return d.dev.is_cuda() ? !cudss::missing().empty() : options.devices.empty() && d.label != "cpu1";
    });
    results_.suite = "direct";
    results_.title = "Sparse factorisations by Vouch and by the libraries behind them";
    results_.machine = measure_machine(options, devices_);
    table_.note(
        "Vouch: from the matrix in memory to the checked answer. library: its analysis, factorisation and one "
        "solve. The least of up to five; a BLAS takes the threads that its own environment variables give it.");
  }

  const std::vector<bench_device>& devices() const { return devices_; }

  void measure(const test_system& system, const bench_device& d) {
    const system_row row{system.name, system.rows(), system.nonzeros()};
    if (d.dev.is_cuda()) return measure_on_gpu(system, row, d);
    measure(row, d, system.sparse.all(), system.b, choices_for(structure<double>(d.dev, system.sparse)));
  }

  void measure(const complex_system& system, const bench_device& d) {
    const system_row row{system.name, system.A.rows, system.A.all().nonzeros};
    measure(row, d, system.A.all(), system.b, choices_for(symmetry_of(d.dev, system.A.all())));
  }

  suite_results finish() {
    results_.interrupted = options_.stop();
    for (const auto& [label, logs] : logs_of_ratios_) {
      const double mean =
          std::exp(std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size()));
      results_.rows.push_back(
          {"geometric mean", label, "double", "over_library", mean, "1", {}, {}, {}, 1.1, mean <= 1.1});
    }
    results_.sections.push_back({"Vouch and the libraries", {}, {table_}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    return std::move(results_);
  }

 private:
  // By every library that makes such factors, on the CPU.
  template <class Number>
  void measure(const system_row& row, const bench_device& d, csr_view<const Number> A, const array<Number>& b,
               const std::vector<factor_choice>& choices) {
    constexpr bool is_complex = std::is_same_v<Number, complex>;
    const auto* parts = reinterpret_cast<const double*>(b.data());
    for (const factor_choice& choice : choices)
      for (const sparse_backend& back_end : sparse_backends()) {
        if (options_.stop()) return;
        if (back_end.name == "own" || back_end.on_gpu || !back_end.missing.empty()) continue;
        try {
          const vouch_backend& library = *backends_for(choice.kind, back_end.name, is_complex).front();
          solve_options how;
          how.method = choice.method;
          how.backend = back_end.name;
          measure(
              row, d, how, [&] { return library_seconds(library, choice.kind, matrix_of(A), parts); },
              [&] { return solve_once(d.dev, A, b, how); });
        } catch (const error&) {  // it makes no such factors, or not of this matrix
        }
      }
  }

  void measure_on_gpu(const test_system& system, const system_row& row, const bench_device& d) {
    const device cpu = device::cpu(options_.threads);
    const csr<double> A = copy(d.dev, cpu, system.sparse.all());
    const array<double> b = system.b.to(d.dev);
    for (const factor_choice& choice : choices_for(structure<double>(cpu, system.sparse))) {
      if (options_.stop()) return;
      solve_options how;
      how.method = choice.method;
      how.backend = "cudss";
      how.cpu_threads = options_.threads;
      try {
        measure(
            row, d, how, [&] { return library_seconds(d.dev, choice.kind, A.all(), b, cpu.threads()); },
            [&] { return solve_once(d.dev, A.all(), b, how); });
      } catch (const error&) {  // it does not take this matrix
      }
    }
  }

  // By functions: what library_seconds() and solve_once() say.
  template <class Library, class Solve>
  void measure(const system_row& row, const bench_device& d, const solve_options& how, const Library& library,
               const Solve& solve) {
    constexpr double enough = 2;  // seconds
    const std::int64_t most = options_.repeat > 0 ? options_.repeat : 5;
    std::optional<double> alone = library();
    if (!alone) return;
    by_vouch best = solve();
    std::optional<bool> same_bits;  // of every solve; nothing of a single one
    double spent = *alone + best.seconds;
    for (std::int64_t k = 1; k < most && (k < 3 || spent < enough) && !options_.stop(); ++k) {
      const by_vouch again = solve();
      same_bits = same_bits.value_or(true) &&
                  std::memcmp(again.x.data(), best.x.data(), again.x.size() * sizeof(double)) == 0;
      best.seconds = std::min(best.seconds, again.seconds);
      alone = std::min(*alone, library().value_or(*alone));
      spent += again.seconds + *alone;
    }
    add(row, d, how.method, how.backend, best, *alone, same_bits);
  }

  void add(const system_row& row, const bench_device& d, const std::string& method, const std::string& backend,
           const by_vouch& best, double alone, std::optional<bool> same_bits) {
    const std::string name = fmt::format("{}, {} by {}", row.name, method, backend);
    const double ratio = best.seconds / alone;
    const bool solved = best.result.status == solve_status::converged;
    // Below a millisecond it is the verdict that is measured.
    const bool counts = solved && alone >= 1e-3;
    results_.rows.push_back(
        {name, d.label, "double", "time", best.seconds, "s", {}, alone, alone / best.seconds, {}, {}});
    if (counts) {
      results_.rows.push_back(
          {name, d.label, "double", "over_library", ratio, "1", {}, {}, {}, 1.5, ratio <= 1.5});
      logs_of_ratios_[d.label].push_back(std::log(ratio));
    }
    table_.add({row.name, d.label, method, backend, std::to_string(row.rows), std::to_string(row.nonzeros),
                vouch::name(best.result.status), fmt::format("{:.1e}", best.result.relative_true()),
                report::seconds_text(best.seconds), report::seconds_text(alone), fmt::format("{:.2f}", ratio),
                !same_bits   ? "solved once"
                : *same_bits ? "same"
                             : "differ"});
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  suite_results results_;
  std::map<std::string, std::vector<double>> logs_of_ratios_;  // by device
  text_table table_{"Time of Vouch and of the library alone",
                    {{"system", true},
                     {"device", true},
                     {"method", true},
                     {"back end", true},
                     {"rows"},
                     {"nonzeros"},
                     {"status", true},
                     {"residual"},
                     {"Vouch"},
                     {"library"},
                     {"ratio"},
                     {"bits", true}}};
};

}  // namespace

suite_results run_direct_suite(const suite_options& options) {
  const device cpu = device::cpu(options.threads);
  direct_run run(options);
  for_each_system(cpu, options, [&](const test_system& system) {
    if (system.is_dense()) return;
    for (const bench_device& d : run.devices())
      if (!options.stop()) run.measure(system, d);
  });
  if (options.matrices.empty())
    for (const complex_system& system : complex_systems(cpu, options.quick))
      for (const bench_device& d : run.devices())
        if (!d.dev.is_cuda() && !options.stop()) run.measure(system, d);
  return run.finish();
}

}  // namespace vouch::bench
