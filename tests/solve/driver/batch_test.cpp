// Batches of tridiagonal systems through vouch/solve/solver.hpp, against factorisations of Eigen in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/solver.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

const device cpu = device::cpu(2);
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Systems with numbers at random; all rows dominate where `centre` is above 2. Gaps hold NaN, and so does what is
// never used.
struct systems {
  batch_shape matrix, vectors;
  std::vector<double> dl, d, du, b, x;
  bool periodic = false;

  systems(const batch_shape& of_matrix, const batch_shape& of_vectors, double centre, bool wraps = false)
      : matrix(of_matrix), vectors(of_vectors), periodic(wraps) {
    for (std::vector<double>* v : {&dl, &d, &du}) v->assign(static_cast<std::size_t>(matrix.extent()), nan);
    for (std::vector<double>* v : {&b, &x}) v->assign(static_cast<std::size_t>(vectors.extent()), nan);
    std::uint64_t counter = 0;
    const auto number = [&] { return 2 * random_unit(7, counter++) - 1; };
    for (std::int64_t s = 0; s < matrix.systems; ++s)
      for (std::int64_t i = 0; i < matrix.rows(s); ++i) {
        const auto k = static_cast<std::size_t>(matrix.at(s, i));
        if (i > 0 || periodic) dl[k] = number();
        d[k] = centre + number();
        if (i + 1 < matrix.rows(s) || periodic) du[k] = number();
      }
    for (std::int64_t s = 0; s < vectors.systems; ++s)
      for (std::int64_t i = 0; i < vectors.rows(s); ++i)
        b[static_cast<std::size_t>(vectors.at(s, i))] = number();
  }

  tridiagonal_view<const double> A() const { return {dl.data(), d.data(), du.data(), matrix, periodic}; }
  batch_view<const double> rhs() const { return {b.data(), vectors}; }
  batch_view<double> solution() { return {x.data(), vectors}; }

  std::vector<double> exact(std::int64_t s) const {
    const std::int64_t n = vectors.rows(s), of = matrix.systems == 1 ? 0 : s;
    using matrix_type = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    matrix_type dense = matrix_type::Zero(n, n);
    Eigen::Matrix<long double, Eigen::Dynamic, 1> right(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(matrix.at(of, i));
      if (i > 0 || periodic) dense(i, (i + n - 1) % n) += static_cast<long double>(dl[k]);
      dense(i, i) += static_cast<long double>(d[k]);
      if (i + 1 < n || periodic) dense(i, (i + 1) % n) += static_cast<long double>(du[k]);
      right(i) = static_cast<long double>(b[static_cast<std::size_t>(vectors.at(s, i))]);
    }
    const Eigen::Matrix<long double, Eigen::Dynamic, 1> found = dense.partialPivLu().solve(right);
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(found(i)));
    return values;
  }
  double largest_error() const {
    double largest = 0;
    for (std::int64_t s = 0; s < vectors.systems; ++s) {
      const std::vector<double> wanted = exact(s);
      for (std::int64_t i = 0; i < vectors.rows(s); ++i) {
        const double error =
            std::fabs(x[static_cast<std::size_t>(vectors.at(s, i))] - wanted[static_cast<std::size_t>(i)]);
        largest = std::isnan(error) ? HUGE_VAL : std::max(largest, error);
      }
    }
    return largest;
  }
  // Elements that belong to no system.
  std::int64_t gaps_kept() const {
    std::vector<bool> used(x.size());
    for (std::int64_t s = 0; s < vectors.systems; ++s)
      for (std::int64_t i = 0; i < vectors.rows(s); ++i)
        used[static_cast<std::size_t>(vectors.at(s, i))] = true;
    std::int64_t kept = 0;
    for (std::size_t k = 0; k < x.size(); ++k) kept += !used[k] && std::isnan(x[k]);
    return kept;
  }
};

const std::vector<std::int64_t> offsets{0, 5, 5, 6, 40, 42};

std::vector<systems> all_layouts() {
  std::vector<systems> all;
  const batch_shape padded{12, 7, 2, 30, nullptr};
  all.emplace_back(contiguous(50), contiguous(50), 4);
  all.emplace_back(contiguous(12, 9), contiguous(12, 9), 3);
  all.emplace_back(interleaved(12, 9), contiguous(12, 9), 3);
  all.emplace_back(contiguous(12, 7), padded, 3);
  all.emplace_back(padded, interleaved(12, 7), 3);
  all.emplace_back(contiguous(12), contiguous(12, 6), 3);
  all.emplace_back(contiguous(12), padded, 3);
  all.emplace_back(ragged(offsets), ragged(offsets), 3);
  all.emplace_back(contiguous(12, 4), contiguous(12, 4), 3, true);
  return all;
}

TEST(solver_of_batches, solves_every_layout_in_every_precision) {
  for (const working_precision p :
       {working_precision::double_, working_precision::single, working_precision::mixed})
    for (systems& given : all_layouts()) {
      solve_options options;
      options.precision = p;
      const std::int64_t gaps = given.gaps_kept();
      const solve_result r = solve(cpu, given.A(), given.rhs(), given.solution(), options);
      const std::string what = std::string(name(p)) + ", " + std::to_string(given.vectors.systems) + " systems";
      EXPECT_EQ(r.status, solve_status::converged) << what << ": " << r.reason;
      EXPECT_EQ(r.precision, name(p)) << what;
      EXPECT_LT(given.largest_error(), p == working_precision::single ? 1e-4 : 1e-8) << what;
      EXPECT_EQ(given.gaps_kept(), gaps) << what;
      ASSERT_TRUE(r.batch);
      EXPECT_EQ(std::ssize(r.batch->systems), given.vectors.systems);
      EXPECT_EQ(r.batch->missed, 0);
      double worst = 0;
      for (const system_verdict& one : r.batch->systems) {
        EXPECT_TRUE(one.converged);
        worst = std::max(worst, one.relative_true);
      }
      EXPECT_EQ(worst, r.relative_true());
      EXPECT_EQ(worst, r.batch->systems[static_cast<std::size_t>(r.batch->worst)].relative_true);
      EXPECT_EQ(r.method_reason, "tridiagonal");
    }
}

TEST(solver_of_batches, every_method_of_the_table_that_takes_one) {
  for (const method* m : methods()) {
    systems given(contiguous(30, 5), contiguous(30, 5), 4);
    solve_options options;
    options.method = m->name;
    if (m->make_batch == nullptr) {
      EXPECT_THROW(solve(cpu, given.A(), given.rhs(), given.solution(), options), value_error) << m->name;
      continue;
    }
    const solve_result r = solve(cpu, given.A(), given.rhs(), given.solution(), options);
    EXPECT_EQ(r.status, solve_status::converged) << m->name;
    EXPECT_EQ(r.how, m);
    EXPECT_LT(given.largest_error(), 1e-12) << m->name;
  }
}

TEST(solver_of_batches, has_a_verdict_for_every_system) {
  systems given(contiguous(4, 5), contiguous(4, 5), 4);
  for (const std::int64_t s : {1, 3})  // singular: a row of zeros
    for (std::vector<double>* v : {&given.dl, &given.d, &given.du})
      (*v)[static_cast<std::size_t>(given.matrix.at(s, 2))] = 0;
  solver S(cpu, given.A());
  solve_result r = S.solve_batch(given.rhs(), given.solution());
  EXPECT_EQ(r.status, solve_status::breakdown);
  EXPECT_EQ(r.batch->missed, 2);
  EXPECT_EQ(r.batch->first_missed, (std::vector<std::int64_t>{1, 3}));
  for (std::size_t s = 0; s < 5; ++s) EXPECT_EQ(r.batch->systems[s].converged, s != 1 && s != 3) << s;
  S.prove_batch(given.rhs(), given.solution(), proof_request{}, r);
  EXPECT_FALSE(r.proof->verified);
  EXPECT_EQ(r.proof->first_unproved, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(r.status, solve_status::breakdown);
}

TEST(solver_of_batches, proves_what_it_found) {
  for (const batch_shape& shape : {contiguous(20, 6), interleaved(20, 6), ragged(offsets)})
    for (const working_precision p : {working_precision::double_, working_precision::single}) {
      systems given(shape, shape, 3);
      solve_options options;
      options.precision = p;
      options.proof = proof_request{1e-12, {}, nullptr};
      const solve_result r = solve(cpu, given.A(), given.rhs(), given.solution(), options);
      EXPECT_EQ(r.status, solve_status::converged) << r.reason;
      ASSERT_TRUE(r.proof);
      EXPECT_TRUE(r.proof->verified && r.proof->reached) << r.proof->reason;
      EXPECT_EQ(r.proof->refinements > 0, p == working_precision::single);
      for (std::int64_t s = 0; s < shape.systems; ++s) {
        const std::vector<double> wanted = given.exact(s);
        for (std::int64_t i = 0; i < shape.rows(s); ++i)
          EXPECT_LE(std::fabs(given.x[static_cast<std::size_t>(shape.at(s, i))] -
                              wanted[static_cast<std::size_t>(i)]),
                    r.proof->radius[shape.at(s, i)] * (1 + 1e-9) + 1e-17);
      }
    }
  systems apart(contiguous(20, 6), contiguous(20, 6), 3);
  solver S(cpu, apart.A());
  std::vector<double> other(120);
  EXPECT_THROW(S.prove_batch(apart.rhs(), {other.data(), interleaved(20, 6)}, proof_request{}), shape_error);
  data_radii radii;
  EXPECT_THROW(S.prove_batch(apart.rhs(), apart.solution(), {0, {}, &radii}), value_error);
}

// One column for all systems, or one system for all columns.
TEST(solver_of_batches, serves_right_hand_sides_that_are_plain_vectors) {
  systems one(contiguous(12), contiguous(12, 6), 3), many(contiguous(12, 6), contiguous(12, 6), 3);
  const auto plain = [](const std::vector<double>& v) {
    return view<const double>(v.data(), static_cast<std::int64_t>(v.size()));
  };
  solver for_one(cpu, one.A()), for_many(cpu, many.A());
  const solve_result r =
      for_one.solve(matrix_view<const double>{one.b.data(), 12, 6, 12}, {one.x.data(), 12, 6, 12});
  EXPECT_EQ(std::ssize(r.batch->systems), 6);
  EXPECT_LT(one.largest_error(), 1e-12);
  for_many.solve(plain(many.b), {many.x.data(), 72});
  EXPECT_LT(many.largest_error(), 1e-12);
  EXPECT_EQ(for_many.facts().rows, 72);
  EXPECT_EQ(for_many.facts().nonzeros, 6 * (3 * 12 - 2));
  EXPECT_EQ(for_many.form(), matrix_form::tridiagonal);
  EXPECT_THROW(for_many.solve(matrix_view<const double>{many.b.data(), 36, 2, 36}, {many.x.data(), 36, 2, 36}),
               shape_error);
}

TEST(solver_of_batches, single_precision_is_judged_by_the_systems_as_given) {
  // In single precision 16777219 is 16777220: that system is solved, and leaves a residual of 1 in the given one.
  const double dl[] = {0, 0, 0}, d[] = {16777219, 1, 2}, du[] = {-16777216, 0, 0}, b[] = {1, 1, 2};
  const std::int64_t at[] = {0, 2, 3};
  double x[3] = {};
  solve_options options;
  options.precision = working_precision::single;
  const solve_result r = solve(cpu, tridiagonal_view<const double>{dl, d, du, ragged(at)}, {b, ragged(at)},
                               {x, ragged(at)}, options);
  EXPECT_EQ(r.status, solve_status::stagnated);
  EXPECT_EQ(r.batch->first_missed, (std::vector<std::int64_t>{0}));
  EXPECT_NEAR(r.batch->systems[0].relative_true, std::sqrt(0.5), 0.01);
  EXPECT_TRUE(r.batch->systems[1].converged);
  const double huge[] = {16777219, 1, 1e300};
  EXPECT_THROW(solve(cpu, tridiagonal_view<const double>{dl, huge, du, ragged(at)}, {b, ragged(at)},
                     {x, ragged(at)}, options),
               value_error);
}

TEST(solver_of_batches, refuses_what_is_none) {
  systems given(contiguous(4, 5), contiguous(4, 5), 4);
  solve_options options;
  options.method = "cg";
  EXPECT_THROW(solver(cpu, given.A(), options).plan(), value_error);
  options = {};
  options.preconditioner = parse_preconditioner("jacobi");
  EXPECT_THROW(solver(cpu, given.A(), options).plan(), value_error);
  EXPECT_THROW(
      solver(cpu, tridiagonal_view<const double>{nullptr, given.d.data(), given.du.data(), given.matrix}),
      value_error);
  given.d[3] = nan;
  EXPECT_THROW(solver(cpu, given.A()), value_error);
  given.d[3] = 4;
  solver S(cpu, given.A());
  EXPECT_THROW(S.solve_batch(given.rhs(), {nullptr, given.vectors}), value_error);
  EXPECT_THROW(S.solve_batch({given.b.data(), contiguous(3, 5)}, given.solution()), shape_error);
  given.b[7] = HUGE_VAL;
  EXPECT_THROW(S.solve_batch(given.rhs(), given.solution()), value_error);
}

// From the CPU to a GPU, and on it.
TEST(solver_of_batches, runs_on_a_gpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front();
  for (const working_precision p :
       {working_precision::double_, working_precision::single, working_precision::mixed})
    for (systems& given : all_layouts()) {
      solve_options options;
      options.precision = p;
      options.run_on = gpu;
      const double tolerance = p == working_precision::single ? 1e-4 : 1e-8;
      const std::int64_t gaps = given.gaps_kept();
      const solve_result r = solve(cpu, given.A(), given.rhs(), given.solution(), options);
      EXPECT_EQ(r.status, solve_status::converged) << name(p) << ": " << r.reason;
      EXPECT_TRUE(r.where.is_cuda());
      EXPECT_LT(given.largest_error(), tolerance) << name(p);
      EXPECT_EQ(given.gaps_kept(), gaps);
      const auto dl = array<double>::from(gpu, given.dl), d = array<double>::from(gpu, given.d),
                 du = array<double>::from(gpu, given.du), b = array<double>::from(gpu, given.b);
      auto x = array<double>::from(gpu, given.x);
      solver S(gpu,
               tridiagonal_view<const double>{dl.data(), d.data(), du.data(), given.matrix, given.periodic},
               options);
      solve_result there = S.solve_batch({b.data(), given.vectors}, {x.data(), given.vectors});
      EXPECT_EQ(there.status, solve_status::converged) << name(p) << ": " << there.reason;
      given.x = x.to_vector();
      EXPECT_LT(given.largest_error(), tolerance) << name(p);
      EXPECT_EQ(given.gaps_kept(), gaps);
      if (gaps > 0 || given.periodic) continue;
      S.prove_batch({b.data(), given.vectors}, {x.data(), given.vectors}, proof_request{}, there);
      EXPECT_TRUE(there.proof->verified) << there.proof->reason;
    }
}

}  // namespace
}  // namespace vouch
