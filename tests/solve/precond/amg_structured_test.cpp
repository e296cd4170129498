// The structured hierarchies of multigrid: their parts against dense products, where they serve, and where smoothed
// aggregation must take their place.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/precond/amg/repeated_points.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>
#include <vouch/solve/precond/amg/stencil_product.hpp>
#include <vouch/solve/precond/make.hpp>

#include "devices.hpp"
#include "solve/precond/amg_runs.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

using multigrid::box;
using multigrid::coarsening;
using multigrid::step;
using sizes = std::array<std::int32_t, 3>;

constexpr diagonal_range near_one{1, 1};

// Neighbours on a box, the first direction fastest, coupled by -weight(from, to, step); a row's diagonal entry is the
// sum of its couplings and the shift.
using weight_of = std::function<double(std::int32_t, std::int32_t, const step&)>;
problem on_box(const std::string& name, const sizes& n, double shift, const weight_of& weight) {
  problem p{name, std::int64_t{n[0]} * n[1] * n[2], {}};
  for (std::int32_t i = 0; i < p.n; ++i) p.a[{i, i}] += shift;
  for (std::int32_t i = 0; i < p.n; ++i)
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
          const std::int32_t at[3] = {i % n[0] + x, i / n[0] % n[1] + y, i / (n[0] * n[1]) + z};
          const std::int32_t j = (at[2] * n[1] + at[1]) * n[0] + at[0];
          bool inside = true;
          for (std::size_t a = 0; a < 3; ++a) inside = inside && at[a] >= 0 && at[a] < n[a];
          if (!inside || j <= i) continue;
          const double w = weight(i, j, {x, y, z});
          if (w == 0) continue;
          p.a[{i, j}] = p.a[{j, i}] = -w;
          p.a[{i, i}] += w;
          p.a[{j, j}] += w;
        }
  return p;
}

// Every coupling there can be, from 1 to 3.
problem full_box(const sizes& n, double shift) {
  return on_box("full", n, shift, [](std::int32_t i, std::int32_t j, const step&) {
    return 1 + 2 * random_unit(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
  });
}
// Those along the directions alone.
problem star_box(const sizes& n, double shift, const std::array<double, 3>& strength) {
  return on_box("star", n, shift, [=](std::int32_t i, std::int32_t j, const step& s) {
    if (std::abs(s[0]) + std::abs(s[1]) + std::abs(s[2]) != 1) return 0.0;
    const double along = s[0] != 0 ? strength[0] : s[1] != 0 ? strength[1] : strength[2];
    return along * (1 + random_unit(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)));
  });
}

using dense = std::vector<std::vector<double>>;

dense dense_of(const problem& p) {
  dense A(static_cast<std::size_t>(p.n), std::vector<double>(static_cast<std::size_t>(p.n)));
  for (const auto& [place, value] : p.a)
    A[static_cast<std::size_t>(place.first)][static_cast<std::size_t>(place.second)] = value;
  return A;
}

dense dense_of(const multigrid::stencil_matrix& S) {
  const auto n = static_cast<std::size_t>(S.grid.points());
  dense A(n, std::vector<double>(n));
  for (std::size_t k = 0; k < S.steps.size(); ++k)
    for (std::int64_t i = 0; i < S.grid.points(); ++i) {
      const std::int64_t j = i + multigrid::distance(S.grid, S.steps[k]);
      const double value = S.of(k)[i];
      if (value == 0) continue;
      A[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] += value;
      if (i != j) A[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)] += value;
    }
  return A;
}

// One column a coarse point; a weight out of the box must be zero.
dense dense_of(const multigrid::step_values<double>& P, const box& fine, const coarsening& by) {
  const box& coarse = P.grid;
  dense D(static_cast<std::size_t>(fine.points()),
          std::vector<double>(static_cast<std::size_t>(coarse.points())));
  for (std::size_t k = 0; k < P.steps.size(); ++k)
    for (std::int64_t c = 0; c < coarse.points(); ++c) {
      const std::int64_t at[3] = {c % coarse.size[0], c / coarse.size[0] % coarse.size[1],
                                  c / (coarse.size[0] * coarse.size[1])};
      std::int64_t to[3];
      bool inside = true;
      for (std::size_t a = 0; a < 3; ++a) {
        to[a] = by[a] * at[a] + P.steps[k][a];
        inside = inside && to[a] >= 0 && to[a] < fine.size[a];
      }
      if (!inside) {
        EXPECT_EQ(P.of(k)[c], 0);
        continue;
      }
      const std::int64_t i = (to[2] * fine.size[1] + to[1]) * fine.size[0] + to[0];
      D[static_cast<std::size_t>(i)][static_cast<std::size_t>(c)] = P.of(k)[c];
    }
  return D;
}

dense multiply(const dense& A, const dense& B) {
  dense C(A.size(), std::vector<double>(B.front().size()));
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t k = 0; k < B.size(); ++k)
      for (std::size_t j = 0; A[i][k] != 0 && j < C[i].size(); ++j) C[i][j] += A[i][k] * B[k][j];
  return C;
}

dense transpose(const dense& A) {
  dense B(A.front().size(), std::vector<double>(A.size()));
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < B.size(); ++j) B[j][i] = A[i][j];
  return B;
}

void expect_near(const dense& A, const dense& B, double tolerance, const std::string& what) {
  ASSERT_EQ(A.size(), B.size()) << what;
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < A[i].size(); ++j)
      ASSERT_NEAR(A[i][j], B[i][j], tolerance) << what << ' ' << i << ' ' << j;
}

multigrid::stencil_matrix stencil_of(const problem& p) {
  multigrid::found_stencil found = multigrid::find_stencil<double>(cpu, to_sparse<double>(cpu, p), near_one);
  EXPECT_TRUE(found.matrix) << p.name << ": " << found.why;
  return std::move(*found.matrix);
}

struct coarse_case {
  sizes n;
  coarsening by;
};
const std::vector<coarse_case> coarse_cases{
    {{7, 6, 5}, {2, 2, 2}}, {{6, 7, 4}, {2, 2, 1}}, {{5, 4, 7}, {1, 2, 2}}, {{8, 3, 5}, {2, 1, 1}},
    {{3, 9, 4}, {1, 2, 1}}, {{9, 8, 1}, {2, 2, 1}}, {{6, 5, 1}, {1, 2, 1}}, {{140, 3, 1}, {2, 2, 1}},
    {{3, 3, 3}, {2, 2, 2}}, {{33, 5, 2}, {2, 2, 2}}};

TEST(stencil, is_found_with_its_box_and_entries) {
  for (const coarse_case& c : coarse_cases)
    for (const problem& p : {full_box(c.n, 0.5), star_box(c.n, 0.5, {1, 2, 3})}) {
      const multigrid::stencil_matrix S = stencil_of(p);
      for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(S.grid.size[a], c.n[a]);
      expect_near(dense_of(S), dense_of(p), 0, p.name);
      EXPECT_EQ(multigrid::entries_of(S.grid, S.steps), std::ssize(p.a));
    }
}

TEST(stencil, coarse_matrices_are_galerkin_products) {
  for (const coarse_case& c : coarse_cases)
    for (const problem& p : {full_box(c.n, 0.5), star_box(c.n, 0.5, {1, 2, 3})}) {
      const multigrid::stencil_matrix S = stencil_of(p);
      const multigrid::step_values<double> weights = multigrid::interpolation(cpu, S, c.by);
      const dense P = dense_of(weights, S.grid, c.by);
      const dense expected = multiply(transpose(P), multiply(dense_of(p), P));
      expect_near(dense_of(multigrid::galerkin(cpu, S, weights, c.by)), expected, 1e-12, p.name);
    }
}

// Constant couplings in shapes that end in even and odd numbers, some directions left as they are; and one entry that is
// another.
TEST(stencil, few_points_stand_for_constant_coefficients) {
  struct {
    sizes n;
    coarsening by;
    bool full;
  } cases[] = {
      {{24, 26, 27}, {2, 2, 2}, true}, {{30, 7, 40}, {1, 2, 2}, false}, {{150, 130, 1}, {2, 2, 1}, true}};
  for (const auto& c : cases) {
    const problem p = on_box("constant", c.n, 0.1, [&](std::int32_t, std::int32_t, const step& s) {
      const int parts = std::abs(s[0]) + std::abs(s[1]) + std::abs(s[2]);
      return parts == 1 ? 1 + 0.5 * std::abs(s[1]) : c.full ? 0.1 * (2 + s[0] + s[2]) : 0.0;
    });
    for (const device& dev : devices()) {
      multigrid::stencil_matrix given = stencil_of(p).to(dev);
      std::optional<multigrid::end_points> ends = multigrid::find_repetition(dev, given);
      ASSERT_TRUE(ends);
      for (int depth = 0; depth < 3; ++depth) {
        const multigrid::step_values<double> P = interpolation(dev, given, c.by);
        const multigrid::stencil_matrix direct = galerkin(dev, given, P, c.by);
        multigrid::coarse_stencil made = coarsen(dev, given, c.by, ends);
        EXPECT_EQ(made.P.grid, P.grid);
        EXPECT_EQ(made.A.steps, direct.steps);
        EXPECT_EQ(made.P.values.to_vector(), P.values.to_vector()) << depth;
        EXPECT_EQ(made.A.values.to_vector(), direct.values.to_vector()) << depth;
        given = std::move(made.A);
      }
      multigrid::stencil_matrix other = stencil_of(p);
      other.of(1)[p.n / 2] *= 1 + 1e-15;
      EXPECT_FALSE(multigrid::find_repetition(dev, other.to(dev)));
    }
  }
}

TEST(stencil, interpolation_keeps_constants_where_rows_sum_to_zero) {
  for (const coarse_case& c : coarse_cases)
    for (const problem& p : {full_box(c.n, 0), star_box(c.n, 0, {1, 2, 3})}) {
      const multigrid::stencil_matrix S = stencil_of(p);
      for (const std::vector<double>& row : dense_of(multigrid::interpolation(cpu, S, c.by), S.grid, c.by)) {
        double sum = 0;
        for (const double weight : row) sum += weight;
        ASSERT_NEAR(sum, 1, 1e-13) << p.name;
      }
    }
}

// In the middle of a coarse cell the equation holds for what is interpolated.
TEST(stencil, interpolation_solves_the_equations_inside_of_cells) {
  const sizes n{7, 6, 5};
  const problem p = full_box(n, 0.5);
  const multigrid::stencil_matrix S = stencil_of(p);
  const dense AP =
      multiply(dense_of(p), dense_of(multigrid::interpolation(cpu, S, {2, 2, 2}), S.grid, {2, 2, 2}));
  for (std::int32_t i = 0; i < p.n; ++i)
    if (i % n[0] % 2 == 1 && i / n[0] % n[1] % 2 == 1 && i / (n[0] * n[1]) % 2 == 1) {
      for (const double entry : AP[static_cast<std::size_t>(i)]) ASSERT_NEAR(entry, 0, 1e-13);
    }
}

// P^T A P, by products with vectors in single precision, is the coarse matrix; all with unit diagonals.
TEST(stencil, products_in_single_precision_fit_together) {
  for (const coarse_case& c : {coarse_case{{70, 5, 4}, {2, 2, 2}}, coarse_case{{67, 6, 3}, {1, 2, 2}},
                               coarse_case{{131, 40, 1}, {2, 2, 1}}, coarse_case{{37, 4, 5}, {2, 1, 2}},
                               coarse_case{{64, 5, 4}, {2, 2, 2}}, coarse_case{{63, 6, 3}, {2, 1, 2}}}) {
    const multigrid::stencil_matrix fine = stencil_of(full_box(c.n, 0.5));
    const multigrid::step_values<double> weights = multigrid::interpolation(cpu, fine, c.by);
    const multigrid::stencil_matrix coarse = multigrid::galerkin(cpu, fine, weights, c.by);
    const multigrid::unit_stencil A(cpu, fine), C(cpu, coarse);
    const multigrid::unit_interpolation P(cpu, weights, c.by, fine, coarse);
    const std::vector<float> x = random_vector<float>(C.rows(), 3), u = random_vector<float>(A.rows(), 4);
    const auto vector = [](std::int64_t length) {
      return std::vector<float>(static_cast<std::size_t>(length));
    };
    std::vector<float> up = vector(A.rows()), product = up, down = vector(C.rows()), direct = down;
    P.prolongate(cpu, x.data(), 0, u.data(), up.data());
    A.combine(cpu, {0, nullptr, 0, nullptr, 1, up.data(), product.data()});
    P.restrict_to(cpu, product.data(), down.data());
    C.combine(cpu, {0, nullptr, 0, nullptr, 1, x.data(), direct.data()});
    for (std::size_t i = 0; i < down.size(); ++i) ASSERT_NEAR(down[i], direct[i], 2e-5);
    // What is added to them.
    std::vector<float> sum = u;
    P.prolongate(cpu, x.data(), 3, sum.data(), sum.data());
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], 3 * u[i] + up[i], 1e-5);
    sum = u;
    A.combine(cpu, {2, sum.data(), -3, up.data(), 0.5F, up.data(), sum.data()});
    for (std::size_t i = 0; i < sum.size(); ++i)
      ASSERT_NEAR(sum[i], 2 * u[i] - 3 * up[i] + 0.5F * product[i], 1e-5);
  }
}

// The second product follows the first through the box, by several threads with seams between their parts.
TEST(stencil, two_products_at_once_have_the_bits_of_both) {
  for (const sizes& n : {sizes{61, 60, 40}, sizes{300, 200, 1}, sizes{9, 8, 7}}) {
    const multigrid::unit_stencil A(cpu, stencil_of(star_box(n, 0.5, {1, 2, 3})));
    const auto size = static_cast<std::size_t>(A.rows());
    const std::vector<float> b = random_vector<float>(A.rows(), 3), start = random_vector<float>(A.rows(), 4);
    std::vector<float> x = start, r(size), smoothed(size), residual(size);
    // As in a cycle: down, then up, where the second takes the place of what the first multiplies.
    A.combine(cpu, {0, nullptr, 0.7F, b.data(), -0.3F, b.data(), smoothed.data()});
    A.combine(cpu, {1, b.data(), 0, nullptr, -1, smoothed.data(), residual.data()});
    A.combine(cpu, {1, b.data(), 0, nullptr, -1, x.data(), r.data()});
    A.combine(cpu, {1, x.data(), 0.7F, r.data(), -0.3F, r.data(), x.data()});
    for (int threads = 1; threads <= 5; ++threads) {
      const device some = device::cpu(threads);
      std::vector<float> y(size), q(size);
      A.combine_both(some, {0, nullptr, 0.7F, b.data(), -0.3F, b.data(), y.data()},
                     {1, b.data(), 0, nullptr, -1, y.data(), q.data()});
      EXPECT_EQ(y, smoothed) << threads;
      EXPECT_EQ(q, residual) << threads;
      y = start;
      A.combine_both(some, {1, b.data(), 0, nullptr, -1, y.data(), q.data()},
                     {1, y.data(), 0.7F, q.data(), -0.3F, q.data(), y.data()});
      EXPECT_EQ(y, x) << threads;
      EXPECT_EQ(q, r) << threads;
    }
  }
}

// Coefficients of cells, harmonic means between them, as finite volumes have them.
csr<double> diffusion(const sizes& n, const std::function<double(const std::array<double, 3>&)>& coefficient,
                      const std::array<double, 3>& strength = {1, 1, 1}) {
  const auto of = [&](std::int32_t i) {
    return coefficient(
        {(i % n[0] + 0.5) / n[0], (i / n[0] % n[1] + 0.5) / n[1], (i / (n[0] * n[1]) + 0.5) / n[2]});
  };
  problem p = on_box("diffusion", n, 0, [&](std::int32_t i, std::int32_t j, const step& s) {
    if (std::abs(s[0]) + std::abs(s[1]) + std::abs(s[2]) != 1) return 0.0;
    const double along = s[0] != 0 ? strength[0] : s[1] != 0 ? strength[1] : strength[2];
    return along * 2 * of(i) * of(j) / (of(i) + of(j));
  });
  for (std::int32_t i = 0; i < p.n; ++i)  // held below and above
    if (const std::int32_t z = i / (n[0] * n[1]); z == 0 || z + 1 == n[2])
      p.a[{i, i}] += 2 * of(i) * strength[2];
  return to_sparse<double>(cpu, p);
}

double smooth_of_1e6(const std::array<double, 3>& at) {
  return std::pow(10, 3 * std::sin(5 * at[0] + 3 * at[1]) * std::cos(4 * at[1] - 3 * at[2]));
}

void expect_structured(const char* what, const csr<double>& A, std::int64_t iterations, double complexity) {
  const outcome o = solve_by_amg(cpu, A);
  EXPECT_EQ(o.made.type, amg_type::structured) << what << ": " << o.made.why_not_structured;
  EXPECT_EQ(o.report.status, solve_status::converged) << what << ": " << o.report.reason;
  EXPECT_LE(o.true_residual, 1e-8) << what;
  EXPECT_LE(o.report.iterations, iterations) << what;
  EXPECT_LE(o.complexity, complexity) << what;
}

TEST(structured_amg, solves_diffusion_in_few_iterations) {
  expect_structured("Poisson 32^3", generated("poisson-3d", 32), 8, 1.6);
  expect_structured("27 points", generated("poisson-3d-27", 24), 8, 1.2);
  expect_structured("Poisson 200^2", generated("poisson-2d", 200), 8, 1.7);
  expect_structured("weak", generated("anisotropic-3d", 32, nullptr, 0, 1e-3), 10, 2.3);
  expect_structured("strong", generated("anisotropic-3d", 32, nullptr, 0, 1e3), 10, 3);
  expect_structured("triangles", generated("elements-2d", 60), 10, 1.6);
  expect_structured("three strengths",
                    diffusion({24, 24, 24}, [](const auto&) { return 1.0; }, {1, 1e-2, 1e-4}), 10, 4);
  expect_structured("coefficients over 1e6", diffusion({24, 24, 24}, smooth_of_1e6), 12, 1.7);
  expect_structured("the same, flat", diffusion({24, 24, 24}, smooth_of_1e6, {1, 1, 0.1}), 12, 3);
}

TEST(structured_amg, iterations_hardly_grow) {
  const std::int64_t small = solve_by_amg(cpu, generated("poisson-3d", 16)).report.iterations;
  EXPECT_LE(solve_by_amg(cpu, generated("poisson-3d", 64)).report.iterations, small + 2);
}

TEST(structured_amg, takes_boxes_of_any_shape) {
  for (const sizes& n :
       {sizes{3, 1000, 1}, sizes{1000, 3, 1}, sizes{3, 3, 200}, sizes{200, 3, 3}, sizes{3, 200, 3},
        sizes{17, 19, 23}, sizes{101, 37, 1}, sizes{33, 17, 2}, sizes{64, 64, 1}})
    for (const problem& p : {full_box(n, 0.01), star_box(n, 0.01, {1, 1, 1})}) {
      const outcome o = solve_by_amg(cpu, to_sparse<double>(cpu, p));
      const std::array<std::int64_t, 3> grid{n[0], n[1], n[2]};
      EXPECT_EQ(o.made.levels.front().grid, grid) << p.name << n[0] << ' ' << o.made.why_not_structured;
      EXPECT_EQ(o.report.status, solve_status::converged);
      EXPECT_LE(o.report.iterations, 12) << p.name << ' ' << n[0];
    }
}

TEST(structured_amg, is_symmetric_and_positive) {
  for (const problem& p : {full_box({13, 11, 9}, 0.01), star_box({40, 31, 1}, 0.01, {1, 100, 1})})
    for (const int degree : {1, 2, 3, 4}) {
      amg_options options;
      options.type = amg_type::structured;
      options.degree = degree;
      options.coarsest = 20;
      const auto M = make_amg<double>(cpu, to_sparse<double>(cpu, p).all(), options);
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const std::vector<double> x = random_vector<double>(p.n, 2 * seed),
                                  y = random_vector<double>(p.n, 2 * seed + 1);
        const std::vector<double> mx = apply(cpu, *M, x), my = apply(cpu, *M, y);
        const long double xx = dot(x, mx), yy = dot(y, my);
        EXPECT_GT(xx, 0) << p.name;
        EXPECT_LE(std::abs(dot(y, mx) - dot(x, my)), 2e-5L * std::sqrt(xx * yy))
            << p.name << ", degree " << degree;
      }
    }
}

TEST(structured_amg, coarsens_along_strong_couplings_alone) {
  const auto second = [](const std::array<double, 3>& strength) {
    const csr<double> A = to_sparse<double>(cpu, star_box({12, 12, 12}, 0.01, strength));
    return make_amg<double>(cpu, A.all())->hierarchy().levels.at(1).grid;
  };
  using grid = std::array<std::int64_t, 3>;
  EXPECT_EQ(second({1, 1, 1}), (grid{6, 6, 6}));
  EXPECT_EQ(second({1, 1, 1e-3}), (grid{6, 6, 12}));
  EXPECT_EQ(second({1000, 1, 1}), (grid{6, 12, 12}));
  EXPECT_EQ(second({1e-3, 1, 1}), (grid{12, 6, 6}));
}

// ---- on a GPU

template <class T>
std::vector<T> numbers_of(const multigrid::step_values<T>& all) {
  const multigrid::step_values<T> there = all.to(cpu);
  std::vector<T> numbers;
  for (std::size_t k = 0; k < there.steps.size(); ++k)
    numbers.insert(numbers.end(), there.of(k), there.of(k) + there.grid.points());
  return numbers;
}

std::vector<float> computed(const device& dev, std::int64_t length,
                            const std::function<void(float*)>& compute) {
  array<float> out = array<float>::zeros(dev, length);
  compute(out.data());
  return out.to_vector();
}

void expect_close(const std::vector<float>& a, const std::vector<float>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-6) << what << ' ' << i;
}

// What decides, and all numbers of the set-up, to the last bit; products in single precision to rounding.
TEST(stencil, has_the_same_bits_on_a_gpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = gpus().front();
  std::vector<coarse_case> cases = coarse_cases;
  cases.push_back({{40, 37, 19}, {2, 2, 2}});
  cases.push_back({{66, 50, 1}, {2, 2, 1}});
  for (const coarse_case& c : cases)
    for (const problem& p : {full_box(c.n, 0.5), star_box(c.n, 0.5, {1, 2, 3}), star_box(c.n, 0, {1, 1, 1})}) {
      const csr<double> A = to_sparse<double>(cpu, p), A_there = A.to(gpu);
      const multigrid::found_stencil found = multigrid::find_stencil<double>(cpu, A, near_one),
                                     there = multigrid::find_stencil<double>(gpu, A_there, near_one);
      ASSERT_TRUE(found.matrix && there.matrix) << p.name << ' ' << there.why;
      const multigrid::stencil_matrix &S = *found.matrix, &S_there = *there.matrix;
      ASSERT_EQ(S.grid, S_there.grid);
      ASSERT_EQ(S.steps, S_there.steps);
      ASSERT_EQ(numbers_of(S), numbers_of(S_there)) << p.name;
      const multigrid::stencil_facts facts = multigrid::examine(cpu, S),
                                     facts_there = multigrid::examine(gpu, S_there);
      EXPECT_EQ(facts.strength, facts_there.strength);
      EXPECT_EQ(facts.largest_row_sum, facts_there.largest_row_sum);
      EXPECT_EQ(facts.row_sums_zero, facts_there.row_sums_zero);
      const multigrid::step_values<double> weights = multigrid::interpolation(cpu, S, c.by),
                                           weights_there = multigrid::interpolation(gpu, S_there, c.by);
      ASSERT_EQ(numbers_of(weights), numbers_of(weights_there)) << p.name;
      const multigrid::stencil_matrix C = multigrid::galerkin(cpu, S, weights, c.by),
                                      C_there = multigrid::galerkin(gpu, S_there, weights_there, c.by);
      ASSERT_EQ(C.steps, C_there.steps);
      ASSERT_EQ(numbers_of(C), numbers_of(C_there)) << p.name;
      EXPECT_TRUE(multigrid::is_positive(gpu, C_there, S_there, c.by));
      const multigrid::unit_stencil U(cpu, S), U_there(gpu, S_there);
      const multigrid::unit_interpolation P(cpu, weights, c.by, S, C),
          P_there(gpu, weights_there, c.by, S_there, C_there);
      const array<float> u = array<float>::from(cpu, random_vector<float>(S.grid.points(), 4)),
                         x = array<float>::from(cpu, random_vector<float>(C.grid.points(), 5)),
                         u_there = u.to(gpu), x_there = x.to(gpu);
      const auto combine = [](const device& dev, const multigrid::unit_stencil& W, const array<float>& v) {
        return computed(dev, v.size(), [&](float* out) {
          W.combine(dev, {2, v.data(), -3, v.data(), 0.5F, v.data(), out});
        });
      };
      expect_close(combine(cpu, U, u), combine(gpu, U_there, u_there), "product");
      const auto down = [&](const device& dev, const multigrid::unit_interpolation& W, const array<float>& v) {
        return computed(dev, C.grid.points(), [&](float* out) { W.restrict_to(dev, v.data(), out); });
      };
      expect_close(down(cpu, P, u), down(gpu, P_there, u_there), "restriction");
      const auto up = [](const device& dev, const multigrid::unit_interpolation& W, const array<float>& coarse,
                         const array<float>& fine) {
        return computed(dev, fine.size(),
                        [&](float* out) { W.prolongate(dev, coarse.data(), 0.5F, fine.data(), out); });
      };
      expect_close(up(cpu, P, x, u), up(gpu, P_there, x_there, u_there), "prolongation");
    }
}

TEST(structured_amg, coarsens_on_a_gpu_as_on_a_cpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = gpus().front();
  std::vector<std::pair<const char*, csr<double>>> cases;
  cases.emplace_back("Poisson", generated("poisson-3d", 20));
  cases.emplace_back("27 points", generated("poisson-3d-27", 20));
  cases.emplace_back("a quarter", to_sparse<double>(cpu, star_box({20, 20, 20}, 0.01, {1, 1, 0.25})));
  cases.emplace_back("weak", generated("anisotropic-3d", 20, nullptr, 0, 1e-3));
  cases.emplace_back("strong", generated("anisotropic-3d", 20, nullptr, 0, 1e3));
  cases.emplace_back("odd", to_sparse<double>(cpu, full_box({17, 19, 23}, 0.01)));
  cases.emplace_back("9 points", to_sparse<double>(cpu, full_box({61, 40, 1}, 0.01)));
  cases.emplace_back("smooth coefficients", diffusion({24, 20, 18}, smooth_of_1e6));
  for (const auto& [what, A] : cases) {
    const outcome here = solve_by_amg(cpu, A), there = solve_by_amg(gpu, A);
    EXPECT_EQ(there.made.type, amg_type::structured) << what << ": " << there.made.why_not_structured;
    ASSERT_EQ(here.made.levels.size(), there.made.levels.size()) << what;
    for (std::size_t l = 0; l < here.made.levels.size(); ++l) {
      EXPECT_EQ(here.made.levels[l].grid, there.made.levels[l].grid) << what << ' ' << l;
      EXPECT_EQ(here.made.levels[l].nonzeros, there.made.levels[l].nonzeros) << what << ' ' << l;
    }
    EXPECT_LE(there.true_residual, 1e-8) << what;
    EXPECT_LE(std::abs(there.report.iterations - here.report.iterations), 1) << what;
    EXPECT_EQ(there.made.bytes, here.made.bytes) << what;
  }
}

// What black-box multigrid is slow for is found out, and left to smoothed aggregation.
TEST(structured_amg, leaves_jumps_to_smoothed_aggregation) {
  const csr<double> checkerboard = diffusion({24, 24, 24}, [](const std::array<double, 3>& at) {
    int cells = 0;
    for (const double x : at) cells += static_cast<int>(8 * x);
    return cells % 2 == 0 ? 1e3 : 1e-3;
  });
  const csr<double> spheres = diffusion({24, 24, 24}, [](const std::array<double, 3>& at) {
    for (std::uint64_t k = 0; k < 60; ++k) {
      double square = 0;
      for (std::size_t a = 0; a < 3; ++a) square += std::pow(at[a] - random_unit(k, a), 2);
      if (square < std::pow(0.04 + 0.06 * random_unit(k, 3), 2)) return 1e6;
    }
    return 1.0;
  });
  for (const csr<double>* A : {&checkerboard, &spheres}) {
    const outcome o = solve_by_amg(cpu, *A);
    EXPECT_EQ(o.report.status, solve_status::converged);
    EXPECT_LE(o.report.iterations, A == &checkerboard ? 20 : 24);
  }
  EXPECT_EQ(solve_by_amg(cpu, checkerboard).made.type, amg_type::smoothed_aggregation);
  amg_options options;
  options.type = amg_type::structured;
  EXPECT_THROW(make_amg<double>(cpu, checkerboard.all(), options), value_error);
}

TEST(structured_amg, refuses_what_is_no_grid) {
  problem periodic = star_box({20, 20, 1}, 0.1, {1, 1, 1}), holes = periodic;
  for (std::int32_t y = 0; y < 20; ++y)
    periodic.a[{20 * y, 20 * y + 19}] = periodic.a[{20 * y + 19, 20 * y}] = -0.1;
  problem wrapped = star_box({20, 20, 1}, 0.1, {1, 1, 1});
  for (std::int32_t y = 1; y < 20; ++y)
    wrapped.a[{20 * y - 1, 20 * y}] = wrapped.a[{20 * y, 20 * y - 1}] = -0.1;
  entries without;  // the 7th point of every third line
  const auto number = [](std::int32_t i) { return i - (i + 53) / 60; };
  for (const auto& [place, value] : holes.a)
    if (place.first % 60 != 7 && place.second % 60 != 7)
      without[{number(place.first), number(place.second)}] = value;
  holes = {"holes", number(400), without};
  problem skewed = star_box({20, 20, 1}, 0.1, {1, 1, 1});
  skewed.a[{45, 46}] *= 2;
  std::vector<std::int32_t> order(400);
  for (std::int32_t i = 0; i < 400; ++i) order[static_cast<std::size_t>(i)] = i * 7 % 400;
  problem_options flow;
  flow.nx = 20;
  flow.peclet = 10;
  const std::vector<std::pair<const char*, csr<double>>> cases = [&] {
    std::vector<std::pair<const char*, csr<double>>> all;
    all.emplace_back("periodic", to_sparse<double>(cpu, periodic));
    all.emplace_back("wrapped", to_sparse<double>(cpu, wrapped));
    all.emplace_back("holes", to_sparse<double>(cpu, holes));
    all.emplace_back("not symmetric", to_sparse<double>(cpu, skewed));
    all.emplace_back("permuted",
                     to_sparse<double>(cpu, renumber(star_box({20, 20, 1}, 0.1, {1, 1, 1}), order)));
    all.emplace_back("a chain", to_sparse<double>(cpu, poisson(1, 1, 400)));
    all.emplace_back("lines of two", to_sparse<double>(cpu, poisson(1, 200, 2)));
    all.emplace_back("diagonal", to_sparse<double>(cpu, diagonal_matrix(400)));
    all.emplace_back("convection", generate_problem(cpu, "convection-diffusion-2d", flow));
    all.emplace_back("elasticity", generated("elasticity-2d", 16));
    return all;
  }();
  amg_options options;
  options.type = amg_type::structured;
  for (const auto& [what, A] : cases) {
    const auto M = make_amg<double>(cpu, A.all());
    EXPECT_EQ(M->hierarchy().type, amg_type::smoothed_aggregation) << what;
    EXPECT_FALSE(M->hierarchy().why_not_structured.empty()) << what;
    EXPECT_THROW(make_amg<double>(cpu, A.all(), options), value_error) << what;
    for (const device& gpu : gpus()) {
      const csr<double> there = A.to(gpu);
      const auto of_gpu = make_amg<double>(gpu, there.all());
      EXPECT_EQ(of_gpu->hierarchy().why_not_structured, M->hierarchy().why_not_structured) << what;
    }
  }
  options.type = amg_type::smoothed_aggregation;
  const csr<double> A = generated("poisson-2d", 24);
  EXPECT_EQ(make_amg<double>(cpu, A.all(), options)->hierarchy().type, amg_type::smoothed_aggregation);
  EXPECT_THROW(make_amg<double>(cpu, A.all())->aggregates(0), value_error);
}

// Points cut off, as where values are given there, are a part of the grid; missing couplings are zeros of it.
TEST(structured_amg, takes_grids_with_missing_couplings) {
  problem cut = star_box({40, 40, 1}, 0.01, {1, 1, 1});
  for (const std::int32_t i : {205, 206, 245, 900, 1301})
    for (const std::int32_t j : {i - 1, i + 1, i - 40, i + 40}) {
      cut.a.erase({i, j});
      cut.a.erase({j, i});
    }
  const outcome o = solve_by_amg(cpu, to_sparse<double>(cpu, cut));
  EXPECT_EQ(o.made.type, amg_type::structured) << o.made.why_not_structured;
  EXPECT_LE(o.report.iterations, 12);
}

TEST(structured_amg, is_refilled_with_new_values) {
  const auto matrix = [](double shift, const std::array<double, 3>& strength) {
    return to_sparse<double>(cpu, star_box({20, 19, 18}, shift, strength));
  };
  const csr<double> first = matrix(0.01, {1, 1, 1}), shifted = matrix(0.1, {1, 1, 1}),
                    weak = matrix(0.1, {1, 1, 0.3}), wild = matrix(0.01, {1, 1, 1e-6});
  const auto M = make_amg<double>(cpu, first.all());
  const auto iterations = [&](const csr<double>& A) {
    const array<double> b = array<double>::from(cpu, random_vector<double>(A.rows, 5));
    array<double> x = array<double>::zeros(cpu, A.rows);
    cg_options stop;
    stop.rtol = 1e-8;
    const solve_report report = cg<double>(cpu, A.all(), b, x, stop, M.get());
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    return report.iterations;
  };
  const std::array<std::int64_t, 3> halved{10, 10, 9};
  for (const csr<double>* A : {&first, &shifted, &weak}) {
    M->refill(A->all());
    EXPECT_EQ(M->hierarchy().type, amg_type::structured);
    EXPECT_EQ(M->hierarchy().levels.at(1).grid, halved);  // also where another choice would be made now
    EXPECT_LE(iterations(*A), 12);
  }
  // The refilled one is the one made anew.
  M->refill(shifted.all());
  const std::vector<double> r = random_vector<double>(first.rows, 2);
  EXPECT_EQ(apply(cpu, *M, r), apply(cpu, *make_amg<double>(cpu, shifted.all()), r));
  M->refill(wild.all());  // these directions do not suit it
  EXPECT_EQ(M->hierarchy().type, amg_type::smoothed_aggregation);
  EXPECT_LE(iterations(wild), 20);
  csr<double> negative = matrix(0.01, {1, 1, 1});
  negative.val[0] = -1;
  const std::vector<double> before = apply(cpu, *M, r);
  EXPECT_THROW(M->refill(negative.all()), value_error);
  EXPECT_EQ(apply(cpu, *M, r), before);
}

TEST(structured_amg, singular_systems_that_are_consistent_converge) {
  problem_options o;
  o.boundary = "neumann";
  for (const char* name : {"poisson-2d", "poisson-3d"})
    for (const std::int64_t coarsest : {1, 256}) {
      o.nx = std::string(name) == "poisson-2d" ? 60 : 20;
      const csr<double> A = generate_problem(cpu, name, o);
      std::vector<double> b = random_vector<double>(A.rows, 8);
      double mean = 0;
      for (const double v : b) mean += v / static_cast<double>(A.rows);
      for (double& v : b) v -= mean;
      amg_options options;
      options.type = amg_type::structured;
      options.coarsest = coarsest;
      const auto M = make_amg<double>(cpu, A.all(), options);
      array<double> x = array<double>::zeros(cpu, A.rows);
      cg_options stop;
      stop.rtol = 1e-8;
      const solve_report report = cg<double>(cpu, A.all(), array<double>::from(cpu, b), x, stop, M.get());
      EXPECT_EQ(report.status, solve_status::converged) << report.reason;
      EXPECT_LE(report.iterations, 10);
    }
}

TEST(structured_amg, is_chosen_by_name) {
  const csr<double> A = generated("poisson-2d", 40);
  const auto made = [&](const char* spec) { return make_preconditioner<double>(cpu, A.all(), spec)->name(); };
  EXPECT_NE(made("amg").find("structured"), std::string::npos);
  EXPECT_NE(made("amg:type=auto").find("structured"), std::string::npos);
  EXPECT_NE(made("amg:3,type=structured").find("structured"), std::string::npos);
  EXPECT_NE(made("amg:type=sa").find("smoothed aggregation"), std::string::npos);
  EXPECT_THROW(made("amg:type=box"), value_error);
  for (const char* twice : {"amg:type=sa,type=sa", "amg:type=auto,type=sa", "amg:degree=2,degree=3"})
    EXPECT_THROW(made(twice), value_error) << twice;
  EXPECT_THROW(made("jacobi:type=sa"), value_error);
  preconditioner_choice jacobi{"jacobi"};
  jacobi.type = amg_type::structured;
  EXPECT_THROW(make_preconditioner<double>(cpu, A.all(), jacobi), value_error);
  preconditioner_choice number{"amg", {{"type", 1}}};
  EXPECT_THROW(make_preconditioner<double>(cpu, A.all(), number), value_error);
}

}  // namespace
}  // namespace vouch::testing
