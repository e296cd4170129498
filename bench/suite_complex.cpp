#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/generate/complex_problems.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cocg.hpp>
#include <vouch/solve/krylov/gmres.hpp>
#include <vouch/sparse/spmv_plan.hpp>

#include "iteration_time.hpp"
#include "peers.hpp"
#include "timing.hpp"

namespace vouch::bench {
namespace {

using complex = std::complex<double>;

struct complex_case {
  const char* problem;                   // of the generator, or "random field"
  complex_problem_options small, large;  // for a CPU or in a hurry, for a GPU
};

std::vector<complex_case> complex_cases() {
  const auto box = [](std::int64_t n) { return complex_problem_options{.nx = n, .ny = n, .nz = n}; };
  const auto square = [](std::int64_t n) { return complex_problem_options{.nx = n, .ny = n}; };
  return {{"magnetic-poisson", square(250), square(2000)},
          {"random field", box(40), box(160)},
          {"helmholtz", box(40), box(160)},
          {"impedance-network", square(250), square(2000)},
          {"power-grid", {.nx = 60000}, {.nx = 4000000}}};
}

// Hermitian positive definite on the grid of helmholtz: the Laplace operator and 1, with a random phase on every edge.
csr<complex> random_field(const device& cpu, const complex_problem_options& size) {
  csr<complex> A = generate_complex(cpu, "helmholtz", size);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = A.col[k];
      const double phase = 6.283185307179586 *
                           random_unit(1, static_cast<std::uint64_t>(std::min(i, j) * A.rows + std::max(i, j)));
      A.val[k] = i == j ? complex(static_cast<double>(A.row_ptr[i + 1] - A.row_ptr[i]))
                        : complex(-std::cos(phase), i < j ? std::sin(phase) : -std::sin(phase));
    }
  return A;
}

csr<complex> matrix_of(const device& cpu, const complex_case& c, bool large) {
  const complex_problem_options& size = large ? c.large : c.small;
  return c.problem == std::string("random field") ? random_field(cpu, size)
                                                  : generate_complex(cpu, c.problem, size);
}

class complex_run {
 public:
  complex_run(const suite_options& options, suite_results& results)
      : options_(options),
        results_(results),
        table_("Seconds, complex numbers", {{"device", true},
                                            {"case", true},
                                            {"precision", true},
                                            {"kept as", true},
                                            {"work", true},
                                            {"floor"},
                                            {"time"},
                                            {"over the floor"},
                                            {"cuSPARSE"}}) {}

  void on(const bench_device& d) {
    const device cpu = device::cpu(options_.threads);
    for (const complex_case& c : complex_cases()) {
      if (options_.stop()) return;
      const bool large = d.dev.is_cuda() && !options_.quick;
      const csr<complex> A = matrix_of(cpu, c, large);
      const csr<double> parts = real_form(cpu, A);
      const complex_symmetry symmetry = symmetry_of(cpu, A);
      const std::string name = fmt::format("{}, n {}", c.problem, A.rows);
      measure<double>(d, name, A, parts, symmetry);
      measure<float>(d, name, A, parts, symmetry);
    }
  }

  void finish() {
    table_.note(
        "Floors: 16 bytes a value (single precision: 8), 4 an index, 8 a row, and the vectors, at the copy "
        "speed of the device.");
    results_.sections.push_back({"Complex systems", {}, {std::move(table_)}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
  }

 private:
  // Seconds to move a complex matrix in CSR and so many vectors.
  template <real T>
  double floor(const bench_device& d, const csr<complex>& A, double vectors) const {
    constexpr double size = 2 * sizeof(T);
    return (static_cast<double>(A.nonzeros()) * (size + 4) +
            static_cast<double>(A.rows) * (8 + vectors * size)) /
           copy_speed(results_.machine, d);
  }

  template <real T>
  void measure(const bench_device& d, const std::string& name, const csr<complex>& A, const csr<double>& parts,
               const complex_symmetry& symmetry) {
    if (options_.stop()) return;
    constexpr const char* precision = sizeof(T) == 4 ? "single" : "double";
    options_.say(fmt::format("{}, {}, {}", d.label, name, precision));
    system_of_ones<T> s(d.dev, parts);
    const int times = options_.quick ? 1 : 3;
    const auto plan = spmv_plan<T>::make(d.dev, s.A, symmetry.hermitian);
    const std::string kept_as = vouch::name(plan.kept_as());
    const auto add = [&](const char* work, double seconds, double least, std::optional<double> peer) {
      bench_row row{name, d.label, precision, fmt::format("time_per_{}", work), seconds, "s", least, peer,
                    {},   {},      {}};
      row.ratio = (peer ? *peer : least) / seconds;
      if (d.dev.is_cuda() && !options_.quick && sizeof(T) == 8) {
        constexpr double bar = 1.15;
        row.bar = bar * least;
        row.pass = seconds <= *row.bar;
      }
      table_.add({d.label, name, precision, kept_as, work, seconds_text(least), seconds_text(seconds),
                  fmt::format("{:.2f}", seconds / least), peer ? seconds_text(*peer) : ""});
      results_.rows.push_back(std::move(row));
    };
    const double product = best_seconds(
        options_.quick ? 0.05 : 0.5, [&] { plan.multiply(T{1}, s.b, T{0}, s.x); },
        [&] { d.dev.synchronize(); });
    add("product", product, floor<T>(d, A, 2), by_cusparse<T>(d, A));
    if (symmetry.hermitian)
      add("cg_iteration",
          seconds_an_iteration(s, times,
                               [&](const stopping_criterion& goal) {
                                 return cg<T>(d.dev, s.A, s.b, s.x, {{goal}, true});
                               }),
          floor<T>(d, A, 9), {});
    if (!symmetry.symmetric) return;
    add("cocg_iteration",
        seconds_an_iteration(s, times,
                             [&](const stopping_criterion& goal) {
                               return cocg<T>(d.dev, s.A, s.b, s.x, {goal, true});
                             }),
        floor<T>(d, A, 15), {});
    // Four passes over half of the basis, on average, and five vectors.
    const auto basis = static_cast<double>(gmres_options{}.restart);
    add("gmres_iteration",
        seconds_an_iteration(
            s, times, [&](const stopping_criterion& goal) { return gmres<T>(d.dev, s.A, s.b, s.x, {goal}); }),
        floor<T>(d, A, 5 + 2 * basis), {});
  }

  template <real T>
  std::optional<double> by_cusparse(const bench_device& d, const csr<complex>& A) {
    if (!d.dev.is_cuda()) return {};
    array<std::complex<T>> values(device::cpu(), A.nonzeros());
    std::transform(A.val.begin(), A.val.end(), values.begin(), [](const complex& value) {
      return std::complex<T>(static_cast<T>(value.real()), static_cast<T>(value.imag()));
    });
    std::string why;
    const std::optional<double> seconds = cusparse_complex_seconds<T>(
        d.dev, {A.rows, A.cols, A.nonzeros(), A.row_ptr.data(), A.col.data(), values.data()}, why);
    if (!seconds) options_.say("no cuSPARSE: " + why);
    return seconds;
  }

  const suite_options& options_;
  suite_results& results_;
  text_table table_;
};

}  // namespace

suite_results run_complex_suite(const suite_options& options) {
  const std::vector<bench_device> devices = open_devices(options);
  suite_results all;
  all.suite = "complex";
  all.title = "Complex systems";
  all.machine = measure_machine(options, devices);
  complex_run run(options, all);
  for (const bench_device& d : devices) run.on(d);
  all.sections.push_back({"The machine", {}, {machine_table(all.machine)}, {}});
  run.finish();
  all.interrupted = options.stop();
  return all;
}

}  // namespace vouch::bench
