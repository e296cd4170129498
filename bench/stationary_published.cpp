#include "stationary_published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>

#include <vouch/core/config.hpp>
#include <vouch/dense/transpose.hpp>
#include <vouch/solve/direct/direct.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/stationary/async.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>

#include <cli/report/statistics.hpp>
#include "stationary_systems.hpp"
#include "sweep_plots.hpp"

namespace vouch::bench {
namespace {

using clock = std::chrono::steady_clock;
using system = dense_system<float>;
using sweeps =
    std::function<solve_report(system&, transpose, matrix_view<const float>, const stopping_criterion&)>;

constexpr double published_rule = 1e-5;  // mean change of an element
constexpr std::int64_t published_runs = 50;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

sweeps by_jacobi(const acceleration& accelerate = {}) {
  return [=](system& s, transpose op, matrix_view<const float> A, const stopping_criterion& goal) {
    return jacobi<float>(s.dev, op, A, s.b, s.x, {goal, 1, accelerate});
  };
}
solve_report by_gauss_seidel(system& s, transpose op, matrix_view<const float> A,
                             const stopping_criterion& goal) {
  return gauss_seidel<float>(s.dev, op, A, s.b, s.x, {goal});
}
solve_report by_ssor(system& s, transpose op, matrix_view<const float> A, const stopping_criterion& goal) {
  return sor<float>(s.dev, op, A, s.b, s.x, {goal, 1.1, sweep_order::symmetric});
}
solve_report by_async(system& s, transpose op, matrix_view<const float> A, const stopping_criterion& goal) {
  return async_relaxation<float>(s.dev, op, A, s.b, s.x, {goal});
}
solve_report by_lu(system& s, transpose op, matrix_view<const float> A, const stopping_criterion& goal) {
  return lu<float>(s.dev, op, A, s.b, s.x, goal);
}

}  // namespace

// One line of the table of sizes.
struct published_tables::way {
  const char* name;
  sweeps solve;
  bool by_change;   // the published rule; else to the residual
  bool by_columns;  // the matrix stands column after column
};

const std::vector<published_tables::way>& published_tables::ways() {
  static const std::vector<way> all{
      {"jacobi", by_jacobi(), true, false},
      {"jacobi", by_jacobi(), true, true},
      {"gauss_seidel", by_gauss_seidel, true, false},
      {"gauss_seidel", by_gauss_seidel, true, true},
      {"ssor_1.1", by_ssor, true, false},
      {"async", by_async, true, false},
      {"jacobi_to_residual", by_jacobi(), false, false},
      {"jacobi_anderson_to_residual", by_jacobi({2}), false, false},
      {"lu", by_lu, false, false},
  };
  return all;
}

// The published system, on its device by rows and by columns, and in pinned memory where that is a GPU.
struct published_tables::system_in_two_orders {
  system rows;
  array<float> columns;
  std::shared_ptr<std::byte> host[2];

  system_in_two_orders(const device& dev, std::int64_t n)
      : rows(dev, dense_family::banded, 0, n), columns(dev, n * n) {
    transpose_into<float>(dev, rows.matrix(), {columns.data(), n, n, n});
    if constexpr (built_with_cuda)
      if (dev.is_cuda())
        for (const int k : {0, 1}) {
          const auto bytes = static_cast<std::size_t>(rows.bytes());
          host[k] = pinned_memory(bytes);
          copy_bytes(host[k].get(), device::cpu(1), k == 0 ? rows.A.data() : columns.data(), dev, bytes);
        }
  }

  transpose op(bool by_columns) const { return by_columns ? transpose::no : transpose::yes; }
  matrix_view<const float> there(bool by_columns) const {
    return {by_columns ? columns.data() : rows.A.data(), rows.n, rows.n, rows.n};
  }
};

published_tables::published_tables(const suite_options& options, suite_results& results)
    : options_(options),
      results_(results),
      sizes_("The published system from host memory, single precision, seconds, means of the runs",
             {{"device", true},
              {"n"},
              {"method", true},
              {"stored by", true},
              {"runs"},
              {"upload"},
              {"setup"},
              {"sweeps take"},
              {"sweeps"},
              {"whole"},
              {"deviation"},
              {"true error"}}),
      families_("Systems of growing difficulty, single precision, to the default residual", {{"device", true},
                                                                                             {"system", true},
                                                                                             {"method", true},
                                                                                             {"status", true},
                                                                                             {"sweeps"},
                                                                                             {"time"},
                                                                                             {"true error"}}),
      norms_("The published system of 100 unknowns by Jacobi, single precision from x = 1",
             {{"device", true}, {"sweep"}, {"||b - Ax|| / ||b|| before it"}}) {}

void published_tables::sizes(const bench_device& d) {
  std::vector<std::int64_t> all{1000, 2000, 4000, 6000, 8000, 10240};
  if (d.dev.is_cuda()) all.insert(all.end(), {20480, 40960});
  if (options_.quick) all.resize(2);
  for (const std::int64_t n : all) {
    if (options_.stop() || 16 * n * n > d.dev.memory_free()) return;
    options_.say(fmt::format("{}, the published system, n {}", d.label, n));
    system_in_two_orders system(d.dev, n);
    for (const way& w : ways()) measure(d, system, w);
  }
}

void published_tables::measure(const bench_device& d, system_in_two_orders& s, const way& w) {
  constexpr double patience = 0.6, slow = 5;  // seconds of a line of the table; of a run that is made once only
  constexpr std::int64_t largest_for_lu = 10240;
  const std::int64_t n = s.rows.n;
  if (options_.stop() || (n > largest_for_lu && std::string_view(w.name) == "lu")) return;
  stopping_criterion goal;
  w.by_change ? void(goal.stop_mean_change = published_rule) : void(goal.rtol = 5e-7);
  std::vector<double> uploads, setups, solves, wholes;
  solve_report report;
  auto begin = clock::now();
  const std::int64_t runs = options_.repeat > 0 ? options_.repeat : published_runs;
  for (std::int64_t k = 0; k <= runs && !options_.stop(); ++k) {  // the first warms up
    fill(d.dev, s.rows.x.data(), w.by_change ? 1.0F : 0.0F, n);
    d.dev.synchronize();
    const auto start = clock::now();
    double sent = 0;
    if (s.host[0] != nullptr) {
      matrix<float> A(d.dev, n, n);
      copy_bytes(A.data(), d.dev, s.host[w.by_columns ? 1 : 0].get(), device::cpu(1),
                 static_cast<std::size_t>(s.rows.bytes()));
      sent = seconds_since(start);
      report = w.solve(s.rows, s.op(w.by_columns), A.read(), goal);
    } else {
      report = w.solve(s.rows, s.op(w.by_columns), s.there(w.by_columns), goal);
    }
    d.dev.synchronize();
    const double whole = seconds_since(start);
    if (k == 0 && runs > 0 && whole < slow) {
      begin = clock::now();
      continue;
    }
    uploads.push_back(sent);
    setups.push_back(report.setup_seconds);
    solves.push_back(report.solve_seconds);
    wholes.push_back(whole);
    if (seconds_since(begin) > patience) break;
  }
  if (wholes.empty()) return;
  const statistics all = summarize(wholes);
  const bool done = has_solution(report.status);
  const char* order = w.by_columns ? "columns" : "rows";
  results_.rows.push_back({fmt::format("banded-dominant, n {}", n),
                           d.label,
                           "single",
                           fmt::format("{}_by_{}_time", w.name, order),
                           done ? std::optional(all.mean) : std::nullopt,
                           "s",
                           {},
                           {},
                           {},
                           {},
                           {}});
  sizes_.add({d.label, count_text(n), w.name, order, count_text(all.count),
              d.dev.is_cuda() ? seconds_text(summarize(uploads).mean) : seconds_text({}),
              seconds_text(summarize(setups).mean), seconds_text(summarize(solves).mean),
              count_text(report.iterations), seconds_text(all.mean), seconds_text(all.deviation),
              done ? small_text(s.rows.relative_error()) : name(report.status)});
}

void published_tables::families(const bench_device& d) {
  struct family {
    const char* name;
    dense_family kind;
    double dominance;
  };
  const family all[] = {{"dominance 1.5", dense_family::positive, 1.5},
                        {"dominance 1.05", dense_family::positive, 1.05},
                        {"dominance 1.01", dense_family::positive, 1.01},
                        {"dominance 1.01, random signs", dense_family::signed_entries, 1.01},
                        {"no dominance (0.7), random signs", dense_family::signed_entries, 0.7},
                        {"no dominance (0.5)", dense_family::positive, 0.5}};
  const std::pair<const char*, sweeps> methods[] = {{"jacobi", by_jacobi()},
                                                    {"jacobi_anderson", by_jacobi({2})},
                                                    {"jacobi_chebyshev", by_jacobi({0, true})},
                                                    {"gauss_seidel", by_gauss_seidel},
                                                    {"ssor_1.1", by_ssor},
                                                    {"async", by_async},
                                                    {"lu", by_lu}};
  const std::int64_t n = options_.quick ? 500 : d.dev.is_cuda() ? 4096 : 2048;
  for (const family& f : all) {
    if (options_.stop()) return;
    options_.say(fmt::format("{}, {}", d.label, f.name));
    system s(d.dev, f.kind, f.dominance, n);
    for (const auto& [method, solve] : methods) {
      if (options_.stop()) return;
      fill(d.dev, s.x.data(), 0.0F, n);
      const auto begin = clock::now();
      const solve_report report = solve(s, transpose::yes, s.matrix(), {});
      d.dev.synchronize();
      const double seconds = seconds_since(begin);
      const bool done = report.status == solve_status::converged;
      results_.rows.push_back({fmt::format("{}, n {}", f.name, n),
                               d.label,
                               "single",
                               fmt::format("{}_solve", method),
                               done ? std::optional(seconds) : std::nullopt,
                               "s",
                               {},
                               {},
                               {},
                               {},
                               {}});
      families_.add({d.label, fmt::format("{}, n {}", f.name, n), method, name(report.status),
                     count_text(report.iterations), seconds_text(seconds),
                     done ? small_text(s.relative_error()) : small_text({})});
    }
  }
}

void published_tables::first_norms(const bench_device& d) {
  if (options_.stop()) return;
  system s(d.dev, dense_family::banded, 0, 100);
  fill(d.dev, s.x.data(), 1.0F, s.n);
  stopping_criterion goal;
  goal.stop_mean_change = published_rule;
  const solve_report report = jacobi<float>(d.dev, transpose::yes, s.matrix(), s.b, s.x, {goal});
  for (const iteration_record& at : report.history)
    norms_.add({d.label, count_text(at.iteration + 1), small_text(at.residual / report.rhs_norm)});
  results_.rows.push_back({"banded-dominant, n 100",
                           d.label,
                           "single",
                           "jacobi_sweeps_by_mean_change",
                           static_cast<double>(report.iterations),
                           "1",
                           {},
                           {},
                           {},
                           {},
                           {}});
}

void published_tables::finish() {
  sizes_.note(
      "From x = 1 until the mean change of an element is below 1e-5, the published rule; to_residual: from");
  sizes_.note("x = 0 to a relative residual of 5e-7.");
  sizes_.note("lu is cuSOLVER's on the GPU, LAPACK's on the CPU, refined. On the GPU from pinned memory.");
  if (!sizes_.empty())
    results_.sections.push_back(
        {"Time over the size", {}, {sizes_}, time_figures("The published system, whole time", results_.rows)});
  if (!families_.empty()) results_.sections.push_back({"Families", {}, {families_}, {}});
  if (!norms_.empty()) results_.sections.push_back({"Sweep by sweep", {}, {norms_}, {}});
}

}  // namespace vouch::bench
