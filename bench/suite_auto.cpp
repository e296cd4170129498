#include "suite_auto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/dense_problems.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/coo.hpp>

#include "timing.hpp"

namespace vouch::bench {
namespace {

namespace fs = std::filesystem;

// A x = b with an x of random elements; sparse or dense.
struct test_system {
  std::string name;
  csr<double> sparse;
  matrix<double> dense;
  array<double> b;

  bool is_dense() const { return dense.rows() > 0; }
  std::int64_t rows() const { return b.size(); }
  std::int64_t nonzeros() const { return is_dense() ? rows() * rows() : sparse.all().nonzeros; }
};

// What makes it, and whether the quick selection has it.
struct system_source {
  std::string name;
  std::function<test_system()> make;
  bool quick = false;
};

array<double> random_solution(const device& cpu, std::int64_t n) {
  return make_solution(cpu, known_solution::random, n);
}

test_system sparse_system(const device& cpu, csr<double> A) {
  test_system made;
  if (A.rows == A.cols) made.b = right_hand_side(cpu, A, random_solution(cpu, A.cols));
  made.sparse = std::move(A);
  return made;
}

test_system dense_system(const device& cpu, matrix<double> A) {
  test_system made;
  made.b = right_hand_side(cpu, A.all(), random_solution(cpu, A.cols()));
  made.dense = std::move(A);
  return made;
}

// Every published matrix that is square.
void add_published(const device& cpu, const std::string& data, std::vector<system_source>& all) {
  const fs::path inside = fs::path(data) / "matrices",
                 folder = fs::is_directory(inside) ? inside : fs::path(data);
  if (data.empty() || !fs::is_directory(folder)) return;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (name.find(".mtx") != std::string::npos && name.find("_rhs") == std::string::npos &&
        name.find("_b.") == std::string::npos)
      paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string().substr(0, path.filename().string().find('.'));
    all.push_back({name, [cpu, path] { return sparse_system(cpu, read_csr(cpu, path.string())); },
                   name == "494_bus" || name == "bcsstk14" || name == "sherman1" || name == "west0479"});
  }
}

void add_generated(const device& cpu, const std::string& name, const std::string& problem,
                   const problem_options& options, bool quick, std::vector<system_source>& all) {
  all.push_back({name, [=] { return sparse_system(cpu, generate_problem(cpu, problem, options)); }, quick});
}

// The entries of a matrix as they come.
struct entry_list {
  std::vector<std::int32_t> row, col;
  std::vector<double> val;

  void push(std::int64_t i, std::int64_t j, double value) {
    row.push_back(static_cast<std::int32_t>(i));
    col.push_back(static_cast<std::int32_t>(j));
    val.push_back(value);
  }
  csr<double> matrix(const device& cpu, std::int64_t n) const {
    return to_csr(cpu, {n, n, symmetry::general, array<std::int32_t>::from(cpu, row),
                        array<std::int32_t>::from(cpu, col), array<double>::from(cpu, val)});
  }
};

// Row i has entries in columns that come the more often the smaller their number, as in networks; the diagonal is
// `dominance` times the rest of its row.
csr<double> power_law(const device& cpu, std::int64_t n, double dominance, bool symmetric) {
  entry_list entries;
  std::vector<double> rest(static_cast<std::size_t>(n));
  for (std::int64_t i = 1; i < n; ++i)
    for (std::uint64_t k = 0; k < 4; ++k) {
      const auto at = static_cast<std::uint64_t>(8 * i) + k;
      const double u = random_unit(1, at);
      const auto j = static_cast<std::int64_t>(static_cast<double>(i) * u * u);
      const double value = -random_unit(2, at) - 0.1;
      entries.push(i, j, value);
      rest[static_cast<std::size_t>(i)] -= value;
      if (!symmetric) continue;
      entries.push(j, i, value);
      rest[static_cast<std::size_t>(j)] -= value;
    }
  for (std::int64_t i = 0; i < n; ++i)
    entries.push(i, i, std::max(1.0, dominance * rest[static_cast<std::size_t>(i)]));
  return entries.matrix(cpu, n);
}

// -u_xx - u_yy + wind (u_x + u_y / 2) on an n-by-n grid, first differences against the wind; times the squared spacing.
csr<double> convection(const device& cpu, std::int64_t n, double wind) {
  entry_list entries;
  const double x = wind / static_cast<double>(n), y = x / 2;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = j * n + i;
      entries.push(row, row, 4 + x + y);
      if (i > 0) entries.push(row, row - 1, -1 - x);
      if (i + 1 < n) entries.push(row, row + 1, -1);
      if (j > 0) entries.push(row, row - n, -1 - y);
      if (j + 1 < n) entries.push(row, row + n, -1);
    }
  return entries.matrix(cpu, n * n);
}

matrix<double> random_dense(const device& cpu, std::int64_t n, bool definite) {
  matrix<double> A(cpu, n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t low = std::min(i, j), high = std::max(i, j), k = definite ? high * n + low : j * n + i;
      A(i, j) = random_unit(3, static_cast<std::uint64_t>(k)) - 0.5 +
                (definite && i == j ? 0.7 * std::sqrt(static_cast<double>(n)) : 0);
    }
  return A;
}

std::vector<system_source> systems(const device& cpu, const suite_options& options) {
  std::vector<system_source> all;
  for (const std::string& path : options.matrices)
    all.push_back({path, [cpu, path] { return sparse_system(cpu, read_csr(cpu, path)); }, true});
  if (!all.empty()) return all;
  add_published(cpu, options.data, all);
  const auto sized = [](std::int64_t n) {
    problem_options o;
    o.nx = n;
    return o;
  };
  const auto with = [&](std::int64_t n, const char* coefficient, double contrast) {
    problem_options o = sized(n);
    o.coefficient = coefficient;
    o.contrast = contrast;
    return o;
  };
  const auto weak = [&](std::int64_t n, double epsilon) {
    problem_options o = sized(n);
    o.epsilon = epsilon;
    return o;
  };
  add_generated(cpu, "Poisson 1d, 100,000", "poisson-1d", sized(100000), true, all);
  for (const std::int64_t n : {30, 100, 300, 1000})
    add_generated(cpu, fmt::format("Poisson 2d, {}^2", n), "poisson-2d", sized(n), n < 300, all);
  add_generated(cpu, "Poisson 2d, 9 points, 200^2", "poisson-2d-9", sized(200), false, all);
  for (const std::int64_t n : {10, 30, 60, 100})
    add_generated(cpu, fmt::format("Poisson 3d, {}^3", n), "poisson-3d", sized(n), n < 60, all);
  add_generated(cpu, "Poisson 3d, 27 points, 40^3", "poisson-3d-27", sized(40), false, all);
  add_generated(cpu, "anisotropic 2d, 1e-3, 200^2", "anisotropic-2d", weak(200, 1e-3), false, all);
  add_generated(cpu, "anisotropic 3d, 1e-3, 40^3", "anisotropic-3d", weak(40, 1e-3), false, all);
  add_generated(cpu, "diffusion 2d, jump 1e6, 150^2", "diffusion-2d", with(150, "jump", 1e6), false, all);
  add_generated(cpu, "diffusion 2d, random 1e4, 150^2", "diffusion-2d", with(150, "random", 1e4), false, all);
  add_generated(cpu, "diffusion 3d, jump 1e6, 40^3", "diffusion-3d", with(40, "jump", 1e6), false, all);
  add_generated(cpu, "diffusion 3d, random 1e4, 40^3", "diffusion-3d", with(40, "random", 1e4), false, all);
  add_generated(cpu, "elasticity 2d, 80^2", "elasticity-2d", sized(80), false, all);
  add_generated(cpu, "elasticity 3d, 14^3", "elasticity-3d", sized(14), false, all);
  add_generated(cpu, "elasticity, 11k", "elasticity-11k", {}, false, all);
  add_generated(cpu, "plate, 25^2", "plate", sized(25), true, all);
  add_generated(cpu, "plate, 60^2", "plate", sized(60), false, all);
  add_generated(cpu, "triangles, 120^2", "elements-2d", sized(120), false, all);
  add_generated(cpu, "tetrahedra, 25^3", "elements-3d", sized(25), false, all);
  for (const double dominance : {1.0001, 1.01, 1.5})
    all.push_back({fmt::format("power law, dominance {}", dominance),
                   [=] { return sparse_system(cpu, power_law(cpu, 50000, dominance, false)); }, false});
  all.push_back({"power law, symmetric, 1.001",
                 [=] { return sparse_system(cpu, power_law(cpu, 50000, 1.001, true)); }, false});
  for (const double wind : {10.0, 1000.0})
    for (const std::int64_t n : {50, 250})
      all.push_back({fmt::format("convection, wind {}, {}^2", wind, n),
                     [=] { return sparse_system(cpu, convection(cpu, n, wind)); }, n == 50});
  for (const std::int64_t n : {50, 500, 2000}) {
    all.push_back({fmt::format("dense, random, {}", n),
                   [=] { return dense_system(cpu, random_dense(cpu, n, false)); }, n < 2000});
    all.push_back({fmt::format("dense, definite, {}", n),
                   [=] { return dense_system(cpu, random_dense(cpu, n, true)); }, false});
    dense_problem_options dominant;
    dominant.n = n;
    all.push_back({fmt::format("dense, dominant, {}", n),
                   [=] { return dense_system(cpu, generate_dense(cpu, "dense-dominant", dominant)); }, false});
  }
  if (options.quick) std::erase_if(all, [](const system_source& s) { return !s.quick; });
  return all;
}

// Asks what runs in its scope to end once the seconds are over.
class deadline {
 public:
  explicit deadline(double seconds)
      : timer_([this, seconds] {
          std::unique_lock lock(mutex_);
          if (!done_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; }))
            request_.request();
        }) {}
  ~deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    done_.notify_one();
    timer_.join();
  }
  const cancellation& request() const { return request_; }

 private:
  cancellation request_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool over_ = false;
  std::thread timer_;
};

struct timed_choice {
  std::string what;                                          // "cg, jacobi"
  double seconds = std::numeric_limits<double>::infinity();  // of a solve that converged
  std::string end;                                           // else how it ended; "" where it does not apply
};

// One solve, all of it counted.
timed_choice solve_once(const test_system& system, const bench_device& d, const solve_options& options,
                        double limit) {
  timed_choice made;
  array<double> x(device::cpu(1), system.rows());
  std::fill(x.begin(), x.end(), 0.0);
  const deadline at(limit);
  const cancellation_scope listens(at.request());
  try {
    solve_result result;
    const device home = d.dev.is_cuda() ? device::cpu(0) : d.dev;
    const double seconds = seconds_of([&] {
      result = system.is_dense() ? solve(home, system.dense.all(), system.b, x, options)
                                 : solve(home, system.sparse, system.b, x, options);
    });
    made.what = result.how->name;
    if (result.preconditioner != "none" && !result.preconditioner.empty())
      made.what += ", " + result.preconditioner;
    if (result.status == solve_status::converged)
      made.seconds = seconds;
    else if (result.status == solve_status::interrupted)
      made.end = fmt::format("> {:.2g} s", limit);
    else
      made.end = vouch::name(result.status);
  } catch (const cancelled&) {
    made.end = fmt::format("> {:.2g} s", limit);
  } catch (const error&) {
    made.end = "refused";
  }
  return made;
}

// The best of several, where one is short.
timed_choice solve_timed(const suite_options& suite, const test_system& system, const bench_device& d,
                         const solve_options& options, double limit) {
  constexpr double enough = 0.15;
  timed_choice best = solve_once(system, d, options, limit);
  double spent = best.seconds;
  const std::int64_t most = suite.repeat > 0 ? suite.repeat : 9;
  for (std::int64_t k = 1; k < most && spent < enough && !suite.stop(); ++k) {
    const timed_choice again = solve_once(system, d, options, limit);
    spent += again.seconds;
    if (again.seconds < best.seconds) best = again;
  }
  return best;
}

// Every method of the table, those that take preconditioners with each.
std::vector<solve_options> choices(const test_system& system) {
  constexpr std::int64_t most_rows_dense = 4000;  // of a sparse matrix that is made dense
  std::vector<solve_options> all;
  for (const method* m : methods()) {
    const bool has_form = m->takes.has(system.is_dense() ? matrix_form::dense : matrix_form::sparse) ||
                          m->takes.has(matrix_form::tridiagonal);
    if (!has_form && (system.is_dense() || system.rows() > most_rows_dense)) continue;
    solve_options by_name;
    by_name.method = m->name;
    all.push_back(by_name);
    if (!m->options.has(method_option::preconditioner)) continue;
    for (const char* preconditioner : {"jacobi", "block-jacobi", "ssor", "ic0", "chebyshev"}) {
      by_name.preconditioner = preconditioner_choice{preconditioner};
      all.push_back(by_name);
    }
  }
  return all;
}

class auto_run {
 public:
  explicit auto_run(const suite_options& options) : options_(options), devices_(open_devices(options)) {
    if (options.devices.empty())
      std::erase_if(devices_, [](const bench_device& d) { return d.label == "cpu1"; });
    results_.suite = "auto";
    results_.title = "What auto takes";
    results_.machine = measure_machine(options, devices_);
    table_.note(
        "time: from the matrix in memory to the checked solution, by a new solver. others: the next best.");
  }

  const std::vector<bench_device>& devices() const { return devices_; }

  void measure(const test_system& system, const bench_device& d) {
    solve_options options;
    options.goal.rtol = 1e-8;
    if (d.dev.is_cuda()) options.run_on = d.dev;
    timed_choice taken = solve_timed(options_, system, d, options, longest);
    // The first solve of a program starts threads and loads libraries; those by name come after it.
    constexpr double shortest = 0.5;
    if (taken.seconds < shortest)
      if (const timed_choice again = solve_timed(options_, system, d, options, longest);
          again.seconds < taken.seconds)
        taken = again;
    // Who takes longer than twice auto's time is of no interest.
    const double limit = std::isfinite(taken.seconds) ? std::clamp(2 * taken.seconds, 0.05, longest) : longest;
    std::vector<timed_choice> others;
    for (solve_options by_name : choices(system)) {
      if (options_.stop()) return;
      by_name.goal.rtol = options.goal.rtol;
      by_name.run_on = options.run_on;
      others.push_back(solve_timed(options_, system, d, by_name, limit));
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const timed_choice& a, const timed_choice& b) { return a.seconds < b.seconds; });
    add(system, d, taken, others);
  }

  suite_results finish() {
    results_.interrupted = options_.stop();
    for (const bench_device& d : devices_) add_share(d);
    results_.sections.push_back({"What auto took", {}, {table_}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    return std::move(results_);
  }

 private:
  static constexpr double longest = 30;  // seconds

  static std::string text_of(const timed_choice& c) {
    return std::isfinite(c.seconds) ? fmt::format("{} {}", c.what, seconds_text(c.seconds))
                                    : c.what + " " + c.end;
  }

  void add(const test_system& system, const bench_device& d, const timed_choice& taken,
           const std::vector<timed_choice>& others) {
    const double best = std::min(taken.seconds, others.empty() ? taken.seconds : others.front().seconds);
    bench_row row{system.name, d.label, "double", "auto_over_best", {}, "1", 1.0, {}, {}, {}, {}};
    std::string ratio = "unsolved";
    if (std::isfinite(best)) {
      row.value = taken.seconds / best;  // infinite where auto did not solve what another method did
      row.bar = 10;
      row.pass = *row.value <= 10;
      ratio = fmt::format("{:.2f}", *row.value);
    }
    results_.rows.push_back(row);
    std::string rest;
    for (std::size_t k = 0; k < std::min<std::size_t>(3, others.size()); ++k)
      if (std::isfinite(others[k].seconds)) rest += (rest.empty() ? "" : "; ") + text_of(others[k]);
    table_.add({system.name, d.label, std::to_string(system.rows()), std::to_string(system.nonzeros()),
                text_of(taken), ratio, rest});
  }

  void add_share(const bench_device& d) {
    double solved = 0, near = 0;
    for (const bench_row& row : results_.rows) {
      if (row.device != d.label || !row.value) continue;
      ++solved;
      near += *row.value <= 2;
    }
    if (solved == 0) return;
    results_.rows.push_back({"all systems",
                             d.label,
                             "double",
                             "share_within_twice",
                             near / solved,
                             "1",
                             1.0,
                             {},
                             {},
                             0.9,
                             near / solved >= 0.9});
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  suite_results results_;
  text_table table_{"Time of auto over the least time of any method",
                    {{"system", true},
                     {"device", true},
                     {"rows"},
                     {"nonzeros"},
                     {"auto", true},
                     {"over best"},
                     {"methods by name", true}}};
};

}  // namespace

suite_results run_auto_suite(const suite_options& options) {
  const device cpu = device::cpu(options.threads);
  auto_run run(options);
  for (const system_source& source : systems(cpu, options)) {
    if (options.stop()) break;
    options.say(source.name);
    test_system system;
    try {
      system = source.make();
    } catch (const error& e) {  // complex
      options.say(e.what());
    }
    if (system.rows() == 0) continue;  // nor what is not square
    system.name = source.name;
    for (const bench_device& d : run.devices())
      if (!options.stop()) run.measure(system, d);
  }
  return run.finish();
}

}  // namespace vouch::bench
