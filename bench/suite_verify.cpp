#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vouch/generate/poisson.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>

#include "cholmod_peer.hpp"
#include "verify_common.hpp"
#include "verify_plots.hpp"

namespace vouch::bench {
namespace {

struct proof_case {
  std::string name;
  csr<double> A;  // on the CPU
  structure_facts facts;
  std::string precondition = "none";
  bool gpu_only = false;
};

// Seconds, and what was found.
struct proof_figures {
  double solve = 0, certificate = 0, bound = 0, quick_bound = 0, plain_bound = 0;
  bool verified = false;
  std::string method, reason;
  int digits = 0;
  double max_relative = 0, true_error = 0;
  std::optional<double> cholmod;                                      // seconds of its factor and solve
  std::optional<double> sharpness, quick_sharpness, plain_sharpness;  // medians of bound over true error
};

constexpr int quick_smoothing = 5;

array<double> filled(const device& dev, std::int64_t n, double value) {
  return array<double>::from(dev, std::vector<double>(static_cast<std::size_t>(n), value));
}

// A * ones, each sum rounded once; exact for whole numbers.
array<double> row_sums(const device& dev, csr_view<const double> A) {
  array<double> sums(dev, A.rows);
  const array<double> zeros = array<double>::zeros(dev, A.rows), minus = filled(dev, A.rows, -1);
  residual<double>(dev, A, zeros, minus, nullptr, sums);
  return sums;
}

bool whole_numbers(const csr<double>& A) {
  return std::all_of(A.val.begin(), A.val.end(),
                     [](double v) { return v == std::trunc(v) && std::fabs(v) < 0x1p20; });
}

// The best of two runs; the first also loads what is loaded on first use.
proof_figures measure(const device& dev, const proof_case& of) {
  proof_figures best;
  const csr<double> A = of.A.to(dev);
  const array<double> b = row_sums(dev, A);
  for (int run = 0; run < 2; ++run) {
    proof_figures now;
    array<double> x = array<double>::zeros(dev, A.rows);
    cg_options options;
    options.matrix_checked = true;
    const auto M = make_preconditioner<double>(dev, A, of.precondition);
    now.solve = seconds_of_call(dev, [&] { cg<double>(dev, A, b, x, options, M.get()); });
    std::unique_ptr<certificate> proof;
    now.certificate =
        seconds_of_call(dev, [&] { proof = prove_nonsingular(dev, A, of.facts, {}, now.reason); });
    if (proof == nullptr) return now;
    const plain_bound plain = bound_plainly(dev, A, *proof, b, x);
    now.plain_bound = plain.seconds;
    const known_solution known = whole_numbers(of.A) ? all_ones(A.rows) : refined(dev, A, *proof, b, x);
    now.plain_sharpness = median_overestimation(x.to_vector(), plain.radius, known);
    bound_options how;  // refinement is cheap with a factor; without one, the price is that of the bound alone
    how.most_refinements = proof->corrects_cheaply() ? 10 : 0;
    how.relative = proof->corrects_cheaply() ? 1e-6 : 0;
    const error_bound bound = bound_error(dev, A, *proof, b, x, how);
    now.bound = bound.seconds;
    now.verified = bound.verified;
    now.method = bound.method;
    now.digits = bound.digits();
    now.max_relative = bound.max_relative;
    now.true_error = largest_error(x.to_vector(), known);
    now.sharpness = median_overestimation(x.to_vector(), bound.radius.to_vector(), known);
    how.smoothing = quick_smoothing;
    how.looseness = std::numeric_limits<double>::infinity();
    const error_bound quick = bound_error(dev, A, *proof, b, x, how);
    now.quick_bound = quick.seconds;
    now.quick_sharpness = median_overestimation(x.to_vector(), quick.radius.to_vector(), known);
    if (now.method == "cholesky" && !dev.is_cuda() && run == 0)
      now.cholmod = cholmod_seconds(A, {b.data(), static_cast<std::size_t>(b.size())});
    if (run == 0) best = now;
    best.solve = std::min(best.solve, now.solve);
    best.certificate = std::min(best.certificate, now.certificate);
    best.bound = std::min(best.bound, now.bound);
    best.quick_bound = std::min(best.quick_bound, now.quick_bound);
    best.plain_bound = std::min(best.plain_bound, now.plain_bound);
  }
  return best;
}

void add_rows(const proof_case& of, const bench_device& d, const proof_figures& f, suite_results& all,
              text_table& table) {
  const bool sparse_h = f.method == "h-matrix";
  // On the size and the machine that the bars speak of; elsewhere the figures stand for themselves.
  const bool judged = sparse_h && d.dev.is_cuda() && of.facts.rows >= 256 * 256 * 256;
  proof_rows rows(all, of.name, d.label);
  rows.figure("solve_time", f.solve, "s");
  rows.figure("certificate_time", f.certificate, "s");
  rows.figure("bound_time", f.bound, "s");
  rows.figure("quick_bound_time", f.quick_bound, "s");
  rows.figure("plain_bound_time", f.plain_bound, "s");
  rows.figure("cholmod_time", f.cholmod, "s");
  if (f.cholmod) rows.at_most("verification_over_cholmod", (f.certificate + f.bound) / *f.cholmod, 10);
  rows.at_least("digits_proved", f.digits, 6, !sparse_h, f.verified);
  rows.figure("proved_error", f.max_relative);
  rows.figure("true_error", f.true_error);
  rows.at_most("verification_over_solve", (f.certificate + f.bound) / f.solve, 1, judged);
  rows.at_most("further_quick_bound_over_solve", f.quick_bound / f.solve, 0.01, judged);
  if (f.sharpness) rows.at_most("median_bound_over_error", *f.sharpness, 100, sparse_h);
  rows.figure("median_quick_bound_over_error", f.quick_sharpness);
  rows.figure("median_plain_bound_over_error", f.plain_sharpness);
  table.add({of.name, d.label, seconds_text(f.solve), f.cholmod ? seconds_text(*f.cholmod) : "-",
             seconds_text(f.certificate), seconds_text(f.bound), f.verified ? f.method : "not verified",
             small_text(f.max_relative), small_text(f.true_error), small_text(f.sharpness),
             seconds_text(f.quick_bound), small_text(f.quick_sharpness), seconds_text(f.plain_bound),
             small_text(f.plain_sharpness)});
}

proof_case poisson_case(const device& cpu, std::int64_t n, bool gpu_only) {
  proof_case of;
  of.name = fmt::format("poisson 3d {}", n);
  of.A = poisson_3d(cpu, n, n, n);
  of.facts = structure<double>(cpu, of.A);
  of.gpu_only = gpu_only;
  return of;
}

proof_case file_case(const device& cpu, const std::string& path) {
  proof_case of;
  of.name = std::filesystem::path(path).stem().string();
  of.A = read_csr(cpu, path);
  of.facts = structure<double>(cpu, of.A);
  of.precondition = "jacobi";
  return of;
}

}  // namespace

suite_results run_verify_suite(const suite_options& options) {
  suite_results all;
  all.suite = "verify";
  all.title = "Proofs of correctness: cost and sharpness";
  const std::vector<bench_device> devices = open_devices(options);
  all.machine = measure_machine(options, devices);
  const device cpu = device::cpu(options.threads);
  text_table table("Plain solve and proof", {{"system", true},
                                             {"device", true},
                                             {"solve"},
                                             {"CHOLMOD"},
                                             {"certificate"},
                                             {"bound"},
                                             {"proved by", true},
                                             {"relative error"},
                                             {"true error"},
                                             {"bound / error"},
                                             {"quick bound"},
                                             {"bound / error"},
                                             {"literature"},
                                             {"bound / error"}});
  table.note("certificate: once for a matrix; bound: for each right-hand side; bound / error: median.");
  table.note("solve: by conjugate gradients; CHOLMOD: its order, factor and solve.");
  table.note("true error: of whole numbers to the exact solution, else to one refined in pairs of doubles.");
  table.note("quick bound: with few passes of smoothing.");
  table.note("literature: max (r / u) v (Neumaier 1990; Ogita, Oishi, Ushiro 2001), or the norm of r over the");
  table.note("smallest eigenvalue (Rump, Ogita 2007), of the residual of the plain solve.");
  const auto measure_on_all = [&](const proof_case& of) {
    for (const bench_device& d : devices) {
      if (options.stop() || (of.gpu_only && !d.dev.is_cuda())) continue;
      options.say(fmt::format("{} on {}", of.name, d.label));
      add_rows(of, d, measure(d.dev, of), all, table);
    }
  };
  for (const std::string& path : options.matrices) measure_on_all(file_case(cpu, path));
  if (options.matrices.empty()) {
    measure_on_all(poisson_case(cpu, options.quick ? 32 : 64, false));
    if (!options.quick) measure_on_all(poisson_case(cpu, 256, true));
    for (const char* name : {"bcsstk11", "bcsstk13", "bcsstk14", "bcsstk15", "bcsstk16"}) {
      const std::string path = options.data + "/" + name + ".mtx";
      if (!options.data.empty() && std::filesystem::exists(path)) measure_on_all(file_case(cpu, path));
    }
  }
  all.sections.push_back({"Proofs", {}, {table}, {}});
  if (options.matrices.empty()) {
    add_sparse_proofs(options, devices, all);
    add_dense_proofs(options, devices, all);
    add_tridiagonal_proofs(options, devices, all);
  }
  all.sections.front().figures = proof_drawings(all.rows);
  all.interrupted = options.stop();
  all.sections.push_back({"The bars: " + bars_text(all.rows), {}, {bars_table(all.rows)}, {}});
  return all;
}

}  // namespace vouch::bench
