#include "test_systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/dense_problems.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/sparse/coo.hpp>

namespace vouch::bench {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

std::vector<system_source> test_systems(const device& cpu, const suite_options& options) {
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

void for_each_system(const device& cpu, const suite_options& options,
                     const std::function<void(const test_system&)>& use,
                     const std::function<bool(const std::string&)>& wanted) {
  for (const system_source& source : test_systems(cpu, options)) {
    if (options.stop()) return;
    if (wanted && !wanted(source.name)) continue;
    options.say(source.name);
    test_system system;
    try {
      system = source.make();
    } catch (const error& e) {  // complex, or a file that is none
      options.say(e.what());
    }
    if (system.rows() == 0) continue;
    system.name = source.name;
    use(system);
  }
}

}  // namespace vouch::bench
