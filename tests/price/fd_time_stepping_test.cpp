// The kernel that keeps its state on the chip: what its plan promises, and its results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/price/finite_difference/exponential.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>
#include <vouch/price/finite_difference/time_stepping_cuda.hpp>

#include "contracts.hpp"
#include "devices.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;

// V := 2 (I - implicit L)^-1 V - V on rows [from, to) of the factors, nothing known of the others.
void step_window(const stepping_factors& f, std::int64_t from, std::int64_t to, std::vector<double>& v) {
  std::vector<double> p(v.size());
  double t = 0;
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t i = from; i < to; ++i) p[at(i)] = t = v[at(i)] + f.lower[at(i)] * t;
  t = 0;
  for (std::int64_t i = to - 1; i >= from; --i) {
    t = v[at(i)] + f.upper[at(i)] * t;
    v[at(i)] = 2 * f.inverse[at(i)] * (p[at(i)] + t - v[at(i)]) - v[at(i)];
  }
}

// What the factors give, put into the equations.
TEST(stepping_plan, elimination_from_both_ends_solves_the_equations) {
  const contract c = call_at_the_money();
  for (const grid_kind kind : {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated})
    for (const std::int64_t n : {3, 4, 500}) {
      const fd_grid grid = make_grid(c, kind, n);
      const fd_operator L = make_operator(c, grid, 0);
      const double implicit = 0.01;
      const stepping_factors f = factor_for_stepping(L, implicit);
      std::vector<double> v;
      for (const double s : grid.spot) v.push_back(std::max(s - 100, 0.0) + 1);
      std::vector<double> w = v;
      step_window(f, 0, n, w);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.5 * (w[i] + v[i]);
      EXPECT_DOUBLE_EQ(w.front(), v.front());
      EXPECT_DOUBLE_EQ(w.back(), v.back());
      for (std::size_t i = 1; i + 1 < w.size(); ++i) {
        const double a = implicit * L.lower[i], b = implicit * L.upper[i];
        EXPECT_NEAR(w[i] + a * (w[i] - w[i - 1]) + b * (w[i] - w[i + 1]) + implicit * L.rate * w[i], v[i],
                    1e-12 * (1 + a + b) * (1 + v[i]));
      }
    }
}

// Where the plan lets a block go on alone, its own rows come out as if it had seen all.
TEST(stepping_plan, blocks_may_go_on_alone) {
  const contract c = call_at_the_money();
  for (const grid_kind kind : {grid_kind::logarithmic, grid_kind::uniform}) {
    const fd_grid grid = make_grid(c, kind, 16384);
    const fd_operator L = make_operator(c, grid, 0);
    const double implicit = 0.5 / 32768;
    const stepping_factors f = factor_for_stepping(L, implicit);
    const auto plan = plan_stepping(L, f, implicit, 132);
    ASSERT_TRUE(plan);
    EXPECT_GE(plan->own * plan->blocks, grid.size());
    EXPECT_LE(plan->own + 2 * plan->halo, 256 * stepping_rows_a_thread);
    EXPECT_GE(plan->alone, 16);
    for (const int block : {3, plan->blocks / 2, plan->blocks - 12}) {
      std::vector<double> all, window;
      for (const double s : grid.spot) all.push_back(std::max(s - 100, 0.0));
      window = all;
      const std::int64_t first = block * plan->own, from = std::max<std::int64_t>(first - plan->halo, 0);
      for (std::int64_t k = 0; k < plan->alone; ++k) {
        step_window(f, 0, grid.size(), all);
        step_window(f, from, std::min(first + plan->own + plan->halo, grid.size()), window);
      }
      for (std::int64_t i = first; i < first + plan->own; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_NEAR(window[at], all[at], 1e-10 * (1 + all[at])) << block << ' ' << i;
      }
    }
  }
}

TEST(stepping_plan, there_is_none_where_everything_hangs_together) {
  const contract c = call_at_the_money();
  const fd_grid grid = make_grid(c, grid_kind::logarithmic, 16384);
  const fd_operator L = make_operator(c, grid, 0);
  EXPECT_FALSE(plan_stepping(L, factor_for_stepping(L, 0.05), 0.05, 132));
}

TEST(step_in_time_on_gpu, agrees_with_the_cpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front();
  for (const option_type type : {option_type::call, option_type::put})
    for (const grid_kind kind : {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated})
      for (const std::int64_t n : {64, 1000, 2048, 2049, 5003, 16384})
        for (const time_scheme scheme :
             {time_scheme::rannacher, time_scheme::crank_nicolson, time_scheme::implicit_euler}) {
          contract c = call_at_the_money();
          c.plain.type = type;
          c.plain.dividend = 0.02;
          const fd_grid grid = make_grid(c, kind, n);
          const auto segments = make_segments(c, n);
          const auto got = step_in_time_on_gpu(gpu, c, grid, {}, segments, {scheme});
          if (!got) continue;
          const auto want = step_in_time(c, grid, {}, segments, {scheme});
          for (std::size_t i = 0; i < want.size(); ++i)
            ASSERT_NEAR((*got)[i], want[i], 1e-9 * (1 + std::abs(want[i])))
                << static_cast<int>(kind) << ' ' << n << ' ' << static_cast<int>(scheme) << ' ' << i;
          EXPECT_EQ(step_in_time_on_gpu(gpu, c, grid, {}, segments, {scheme}), got);
        }
}

TEST(step_in_time_on_gpu, the_contour_agrees_with_the_cpu) {
  VOUCH_NEEDS_GPU();
  if constexpr (built_with_cuda)
    for (const option_type type : {option_type::call, option_type::put})
      for (const grid_kind kind : {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated})
        for (const std::int64_t n : {16, 500, 4096, 4097, 16000, 16384}) {
          contract c = call_at_the_money();
          c.plain.type = type;
          c.plain.dividend = 0.02;
          const fd_grid grid = make_grid(c, kind, n);
          const auto got = exponential_by_contour_cuda(testing::gpus().front(), c, grid, {});
          ASSERT_TRUE(got);
          const auto want = exponential_by_contour(c, grid, {});
          // Rounding is magnified by the size of the contour's weights.
          for (std::size_t i = 0; i < want.size(); ++i)
            ASSERT_NEAR((*got)[i], want[i], 2e-8 * (100 + std::abs(want[i])))
                << static_cast<int>(kind) << ' ' << n;
        }
}

TEST(step_in_time_on_gpu, a_barrier_with_a_rebate) {
  VOUCH_NEEDS_GPU();
  contract c = call_at_the_money();
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 130;
  const fd_grid grid = make_grid(c, grid_kind::logarithmic, 4001);
  const auto segments = make_segments(c, 4000);
  const fd_payment payment{0, 3};
  const auto got =
      step_in_time_on_gpu(testing::gpus().front(), c, grid, payment, segments, {time_scheme::rannacher});
  ASSERT_TRUE(got);
  const auto want = step_in_time(c, grid, payment, segments, {});
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR((*got)[i], want[i], 1e-9) << i;
}

// Dates of exercise, dividends and curves cut the steps into segments.
TEST(step_in_time_on_gpu, events_between_the_steps) {
  VOUCH_NEEDS_GPU();
  std::vector<contract> all(3, call_at_the_money());
  all[0].plain.type = option_type::put;
  all[0].exercise = exercise_style::bermudan;
  all[0].exercise_dates = {0, 0.25, 0.5, 0.75};
  all[1].dividends = {{0.4, 2.5}, {0.7, 1}};
  all[2].rates = {{0.3, 0.01}, {1, 0.08}};
  all[2].volatilities = {{0.6, 0.3}, {1, 0.15}};
  for (const contract& c : all) {
    const fd_grid grid = make_grid(c, grid_kind::logarithmic, 4001);
    const auto segments = make_segments(c, 2000);
    ASSERT_GT(segments.size(), 2U);
    const auto got =
        step_in_time_on_gpu(testing::gpus().front(), c, grid, {}, segments, {time_scheme::rannacher});
    ASSERT_TRUE(got);
    const auto want = step_in_time(c, grid, {}, segments, {});
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR((*got)[i], want[i], 1e-9 * (1 + want[i])) << i;
  }
}

// American exercise: one block and many, both sides, every grid.
TEST(step_in_time_on_gpu, american_exercise) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front();
  int taken = 0;
  for (const option_type type : {option_type::call, option_type::put})
    for (const grid_kind kind : {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated})
      for (const std::int64_t n : {64, 801, 1025, 4001})
        for (const time_scheme scheme : {time_scheme::rannacher, time_scheme::implicit_euler}) {
          contract c = call_at_the_money();
          c.plain.type = type;
          c.plain.dividend = 0.07;
          c.exercise = exercise_style::american;
          if (n == 801) c.dividends = {{0.4, 2.5}};
          const fd_grid grid = make_grid(c, kind, n);
          const auto segments = make_segments(c, n);
          const auto got = step_in_time_on_gpu(gpu, c, grid, {}, segments, {scheme});
          if (!got) continue;
          ++taken;
          const auto want = step_in_time(c, grid, {}, segments, {scheme});
          for (std::size_t i = 0; i < want.size(); ++i)
            ASSERT_NEAR((*got)[i], want[i], 1e-9 * (1 + std::abs(want[i])))
                << static_cast<int>(kind) << ' ' << n << ' ' << static_cast<int>(scheme) << ' ' << i;
          EXPECT_EQ(step_in_time_on_gpu(gpu, c, grid, {}, segments, {scheme}), got);
        }
  EXPECT_GE(taken, 24);
}

}  // namespace
}  // namespace vouch
