// Two GPUs of this machine beside one: iterations of conjugate gradients, multigrid from the matrix to the answer, dense
// proofs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/device_group.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/verify/prove.hpp>

#include "fastest.hpp"
#include "suites.hpp"

namespace vouch::bench {
namespace {

// Seconds of the same work.
struct pair_times {
  double one = 0, two = 0;
};

struct cg_times {
  double iteration = 0;  // of the solve, verdict included
  double all = 0;        // and what the GPUs need beforehand
};

class pair_bench {
 public:
  pair_bench(const suite_options& options, suite_results& results)
      : options_(options), results_(results), gpu_(device::cuda(0)) {}

  void measure_grid(std::int64_t N) {
    if (options_.stop()) return;
    options_.say(fmt::format("{}^3 on two GPUs", N));
    problem_options grid;
    grid.nx = N;
    const csr<double> A = generate_problem(device::cpu(), "poisson-3d", grid).to(gpu_);
    for (const char* M : {"none", "chebyshev"}) {
      const pair_times of_iteration =
          on_both([&](const std::vector<int>& gpus) { return solve(A, M, gpus).iteration; });
      add(fmt::format("seven points, {}^3{}", N, *M == 'n' ? "" : ", chebyshev"), "time_per_iteration",
          of_iteration, {});
    }
    if (N < 256) return;
    const pair_times of_answer =
        on_both([&](const std::vector<int>& gpus) { return solve(A, "amg", gpus).all; });
    add(fmt::format("seven points, {}^3, amg, set-up and solve", N), "time", of_answer,
        N == 512 ? std::optional<double>(1.7) : std::nullopt);
  }

  void measure_proof(std::int64_t n) {
    if (options_.stop()) return;
    options_.say(fmt::format("a proof for {} rows on two GPUs", n));
    std::vector<double> entries(static_cast<std::size_t>(n * n));
#pragma omp parallel for
    for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = random_unit(1, k) - 0.5;
    const auto A = matrix<double>::from(gpu_, n, n, entries);
    const auto proving = [&](const device_group& devices) {
      return fastest(options_, [&] {
        std::string reason;
        if (prove_nonsingular(devices, A.read(), {}, reason) == nullptr) throw value_error(reason);
      });
    };
    const double one = proving(gpu_), two = proving(device_group({gpu_, device::cuda(1)}));
    add(fmt::format("proof by a dense inverse, {} rows", n), "time", {one, two}, {});
  }

  void finish() { results_.sections.push_back({"GPUs of this machine", {}, {table_}, {}}); }

 private:
  template <class Work>
  pair_times on_both(const Work& seconds) const {
    const auto best = [&](const std::vector<int>& gpus) {
      double least = HUGE_VAL;
      for (int k = 0; k < 3 && !options_.stop(); ++k) least = std::min(least, seconds(gpus));
      return least;
    };
    const double one = best({});
    return {one, best({0, 1})};
  }

  cg_times solve(const csr<double>& A, const std::string& preconditioner, const std::vector<int>& gpus) const {
    const array<double> b =
        array<double>::from(gpu_, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
    array<double> x = array<double>::zeros(gpu_, A.rows);
    cg_options how;
    how.matrix_checked = true;
    how.gpus = gpus;
    if (preconditioner != "amg") how.fixed_iterations = 200;
    cg_times found;
    solve_report report;
    found.all = seconds_of([&] {
      const auto M = make_preconditioner<double>(gpu_, A.all(), preconditioner);
      gpu_.synchronize();
      found.iteration = seconds_of([&] { report = cg<double>(gpu_, A.all(), b, x, how, M.get()); });
    });
    found.iteration = (found.iteration - report.setup_seconds) / static_cast<double>(report.iterations);
    return found;
  }

  void add(const std::string& name, const char* metric, const pair_times& times,
           const std::optional<double>& bar) {
    table_.add({name, seconds_text(times.one), seconds_text(times.two), ratio_text(times.one / times.two)});
    results_.rows.push_back({name + ", two GPUs",
                             "gpu",
                             "double",
                             metric,
                             times.two,
                             "s",
                             {},
                             times.one,
                             times.one / times.two,
                             bar,
                             {}});
    if (bar && !options_.quick) results_.rows.back().pass = times.one / times.two >= *bar;
  }

  const suite_options& options_;
  suite_results& results_;
  device gpu_;
  text_table table_{"Two GPUs beside one", {{"work", true}, {"one"}, {"two"}, {"faster"}}};
};

}  // namespace

void measure_pairs(const suite_options& options, suite_results& results) {
  pair_bench pair(options, results);
  for (const std::int64_t N : {64, 128, 160, 256, 384, 512})
    if (!options.quick || N <= 160) pair.measure_grid(N);
  for (const std::int64_t n : {2048, 8192, 16384})
    if (!options.quick || n <= 2048) pair.measure_proof(n);
  pair.finish();
}

}  // namespace vouch::bench
