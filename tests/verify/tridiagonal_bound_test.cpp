#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vouch/band/solve.hpp>
#include <vouch/core/error.hpp>

#include "devices.hpp"
#include "verify/tridiagonal_systems.hpp"

namespace vouch {
namespace {

using namespace testing;

TEST(tridiagonal_bound, contains_the_rational_solution_and_singular_matrices_never_verify) {
  int proved = 0, singular = 0, by_factors = 0;
  std::array<std::array<int, kinds>, 2> regular_of{}, proved_of{};  // of chains and rings
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 40000 : 70000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 77000000);
      const bool periodic = c % 7 == 0;
      // Now and then as many rows or systems as vectors hold, and more.
      const int n = 1 + die.below(c % 10 == 0 ? 20 : 9), count = c % 11 == 0 ? 11 : 5;
      std::vector<system_data> systems;
      std::vector<std::optional<std::vector<mpq_class>>> exact;
      std::vector<std::int64_t> offsets{0};
      std::vector<int> kind_of;
      for (int s = 0; s < count; ++s) {
        kind_of.push_back(die.below(kinds));
        systems.push_back(adversarial(die, c % 3 == 2 ? 1 + die.below(9) : n, kind_of.back(), periodic));
        exact.push_back(testing::exact_solution(systems.back().matrix(), systems.back().b));
        put_approximation(systems.back(), exact.back(), die);
        offsets.push_back(offsets.back() + static_cast<std::int64_t>(systems.back().rows()));
      }
      const batch_shape shape = c % 3 == 0   ? contiguous(n, count)
                                : c % 3 == 1 ? interleaved(n, count)
                                             : ragged(offsets);
      bound_options wish;
      wish.relative = c % 4 < 2 ? 1e-14 : 0;
      const outcome found = bounds_of(dev, systems, shape, wish);
      std::int64_t unproved = 0;
      for (std::size_t s = 0; s < systems.size(); ++s) {
        const bool good = proves(found.radius[s]);
        unproved += !good;
        const auto kind = static_cast<std::size_t>(kind_of[s]);
        // In rings of one or two rows entries fall on one place. What a ring leaves without a row may be
        // singular.
        if (!periodic || systems[s].rows() > 2) {
          regular_of[periodic][kind] += exact[s].has_value();
          proved_of[periodic][kind] += exact[s] && good;
        }
        if (!exact[s]) {
          ++singular;
          ASSERT_FALSE(good) << "case " << c << " system " << s;
        } else if (good) {
          ++proved;
          ASSERT_TRUE(testing::contains(*exact[s], found.x[s], found.radius[s])) << "case " << c << ' ' << s;
        }
      }
      ASSERT_EQ(found.bound.systems_unproved, unproved) << "case " << c;
      ASSERT_EQ(found.bound.verified, unproved == 0);
      by_factors += found.bound.method != "h-matrix" && unproved < count;
    }
  EXPECT_GT(proved, 1000);
  EXPECT_GT(singular, 50);
  EXPECT_GT(by_factors, 50);
  for (std::size_t ring = 0; ring < 2; ++ring)
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      const int regular = regular_of[ring][kind], good = proved_of[ring][kind];
      RecordProperty("proved_of_kind_" + std::to_string(kind) + (ring != 0 ? "_in_rings" : ""), good);
      EXPECT_GE(good, (ring != 0 ? 0.5 : 0.9) * regular) << "kind " << kind << " of " << regular;
    }
}

// More systems side by side than a vector has lanes, most by factors, one singular; then one matrix for all.
TEST(tridiagonal_bound, systems_side_by_side_and_one_matrix_for_all) {
  constexpr int n = 12, systems = 21, singular = 9;
  for (const device& dev : testing::devices()) {
    dice die(31);
    std::vector<system_data> all;
    std::vector<std::optional<std::vector<mpq_class>>> exact;
    for (int s = 0; s < systems; ++s) {
      all.push_back(adversarial(die, n, s == singular ? 1 : 5 + s % 2, false));
      if (s == singular) all.back().d.assign(n, 0), all.back().dl[1] = 0, all.back().du[0] = 0;
      exact.push_back(testing::exact_solution(all.back().matrix(), all.back().b));
      put_approximation(all.back(), exact.back(), die);
    }
    const outcome side_by_side = bounds_of(dev, all, interleaved(n, systems), {});
    int proved = 0;
    for (std::size_t s = 0; s < systems; ++s) {
      proved += proves(side_by_side.radius[s]);
      if (!exact[s])
        EXPECT_FALSE(proves(side_by_side.radius[s]));
      else
        EXPECT_TRUE(testing::contains(*exact[s], side_by_side.x[s], side_by_side.radius[s])) << s;
    }
    EXPECT_FALSE(exact[singular]);
    EXPECT_GE(proved, 15);
    for (const int kind : {0, 1, 6}) {
      system_data one = adversarial(die, n, kind, false);
      while (!testing::exact_solution(one.matrix(), one.b)) one = adversarial(die, n, kind, false);
      std::vector<double> b, x;
      std::vector<std::vector<mpq_class>> solutions;
      for (int s = 0; s < systems; ++s) {
        system_data of = one;
        for (double& value : of.b) value = die.number(false);
        const auto solution = testing::exact_solution(of.matrix(), of.b);
        ASSERT_TRUE(solution);
        solutions.push_back(*solution);
        put_approximation(of, solution, die);
        b.insert(b.end(), of.b.begin(), of.b.end());
        x.insert(x.end(), of.x.begin(), of.x.end());
      }
      const auto dl = array<double>::from(dev, one.dl), d = array<double>::from(dev, one.d),
                 du = array<double>::from(dev, one.du), b_dev = array<double>::from(dev, b);
      auto x_dev = array<double>::from(dev, x);
      array<double> radius(dev, x_dev.size());
      const batch_shape shape = contiguous(n, systems);
      const tridiagonal_bound bound =
          bound_error(dev, {dl.data(), d.data(), du.data(), contiguous(n)}, {b_dev.data(), shape},
                      {x_dev.data(), shape}, {radius.data(), shape});
      ASSERT_TRUE(bound.verified) << bound.reason;
      const std::vector<double> found = x_dev.to_vector(), radii = radius.to_vector();
      for (int s = 0; s < systems; ++s) {
        const std::ptrdiff_t from = n * s, to = from + n;
        EXPECT_TRUE(testing::contains(solutions[static_cast<std::size_t>(s)],
                                      {found.begin() + from, found.begin() + to},
                                      {radii.begin() + from, radii.begin() + to}));
      }
    }
  }
}

TEST(tridiagonal_bound, refines_to_the_last_digits) {
  for (const device& dev : testing::devices()) {
    dice die(3);
    system_data of = adversarial(die, 12, 0, false);
    const auto exact = testing::exact_solution(of.matrix(), of.b);
    for (const mpq_class& value : *exact) of.x.push_back(value.get_d() * (1 + 1e-5));
    const outcome found = bounds_of(dev, {of}, contiguous(12), {{}, 4 * 0x1p-53, 10});
    ASSERT_TRUE(found.bound.reached) << found.bound.reason;
    EXPECT_GE(found.bound.refinements, 1);
    EXPECT_EQ(found.bound.digits(), 15);
    EXPECT_TRUE(testing::contains(*exact, found.x[0], found.radius[0]));
  }
}

TEST(tridiagonal_bound, covers_uncertain_data) {
  for (const device& dev : testing::devices())
    for (const double middle : {3.0, 2.0, 0.5})  // dominant, by the comparison matrix, and by factors
      for (const bool ring : {false, true}) {
        const double end = ring ? 1 : 0;
        system_data of{{end, 1, 1, 1}, {middle, 3, middle, 3}, {1, 1, 1, end}, {1, 2, 3, 4}, {}, ring};
        const auto exact = testing::exact_solution(of.matrix(), of.b);
        for (const mpq_class& value : *exact) of.x.push_back(value.get_d());
        const double radius = 0.001;
        const outcome found = bounds_of(dev, {of}, contiguous(4), {{radius, radius}, 0, 0});
        ASSERT_TRUE(found.bound.verified) << found.bound.reason;
        dice die(9);
        for (int c = 0; c < 200; ++c) {
          system_data corner = of;
          for (auto* part : {&corner.dl, &corner.d, &corner.du, &corner.b})
            for (double& value : *part) value *= die.below(2) != 0 ? 1.00099 : 0.99901;
          EXPECT_TRUE(testing::contains(*testing::exact_solution(corner.matrix(), corner.b), found.x[0],
                                        found.radius[0]));
        }
      }
}

TEST(tridiagonal_bound, says_so_where_x_is_no_number) {
  for (const device& dev : testing::devices()) {
    system_data of{{0, -1}, {2, 2}, {-1, 0}, {1, 1}, {1, std::nan("")}, false};
    const outcome found = bounds_of(dev, {of, of}, contiguous(2, 2), {});
    EXPECT_FALSE(found.bound.verified);
    EXPECT_EQ(found.bound.systems_unproved, 2);
    EXPECT_NE(found.bound.reason.find("system 0"), std::string::npos);
  }
}

TEST(tridiagonal_bound, shapes_must_fit) {
  const device cpu = device::cpu(1);
  std::vector<double> of(8, 1.0);
  const batch_shape four = contiguous(4), two = contiguous(2, 2);
  EXPECT_THROW(bound_error(cpu, {of.data(), of.data(), of.data(), four, false}, {of.data(), four},
                           {of.data(), two}, {of.data(), four}),
               shape_error);
  EXPECT_THROW(bound_error(cpu, {of.data(), of.data(), of.data(), two, false}, {of.data(), four},
                           {of.data(), four}, {of.data(), four}),
               shape_error);
}

}  // namespace
}  // namespace vouch
