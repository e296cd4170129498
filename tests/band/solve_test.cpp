#include <gtest/gtest.h>

#include <vouch/band/solve.hpp>
#include <vouch/band/verdict.hpp>
#include <vouch/core/error.hpp>

#include "band/families.hpp"
#include "band/on_device.hpp"
#include "devices.hpp"

namespace {

using namespace vouch;
using method = tridiagonal_method;
using vouch::testing::backward_error;
using vouch::testing::band_system;
using vouch::testing::devices;
using vouch::testing::on_device;
using vouch::testing::random_system;
using vouch::testing::rows_of;
using vouch::testing::unit;

template <class T>
struct answer {
  std::vector<T> x;
  tridiagonal_report report;
};

template <class T>
answer<T> solved(const device& dev, const band_system<T>& s, const tridiagonal_options& options) {
  on_device<T> all(dev, s, contiguous(s.n()));
  const tridiagonal_report report = solve(dev, all.A, all.rhs, all.to, options);
  return {all.x.to_vector(), report};
}

constexpr method all_methods[] = {method::automatic, method::thomas, method::cyclic_reduction, method::pcr,
                                  method::partition};

template <class T>
struct BandSolve : ::testing::Test {};
TYPED_TEST_SUITE(BandSolve, vouch::testing::reals);

TYPED_TEST(BandSolve, EveryMethodAtAnySize) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 33, 500, 512, 513, 2047, 5000, 70001})
    for (const method how : all_methods)
      for (const device& dev : devices()) {
        const auto s = random_system<T>(n, 0.25, static_cast<unsigned>(n));
        const auto got = solved(dev, s, {.method = how});
        EXPECT_EQ(got.report.status, solve_status::converged) << name(how) << " " << n << dev.kind();
        EXPECT_LE(backward_error(s, got.x), 16 * unit<T>) << name(how) << " " << n << dev.kind();
        EXPECT_NEAR(got.report.backward_error, backward_error(s, got.x), 1e-3 * unit<T>) << name(how) << n;
      }
}

// The families of the literature: never worse than ten times gtsv, nor worse than rounding.
TYPED_TEST(BandSolve, InterchangesAreAsGoodAsLapack) {
  using T = TypeParam;
  for (const auto& family : vouch::testing::families<T>())
    for (const std::int64_t n : {2, 3, 64, 512, 1000, 6000})
      for (const device& dev : devices()) {
        const auto s = family.make(n);
        const std::vector<T> theirs = vouch::testing::gtsv<T>(s);
        if (theirs.empty()) continue;  // singular to gtsv
        const double reference = backward_error(s, theirs);
        const auto got = solved(dev, s, {.method = method::partition});
        EXPECT_LE(backward_error(s, got.x), std::max(10 * reference, 4 * unit<T>))
            << family.name << " " << n << " " << dev.kind();
      }
}

TYPED_TEST(BandSolve, RandomMatricesNeedInterchanges) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 7, 100, 1000, 20000, 300000})
    for (const device& dev : devices()) {
      const auto s = random_system<T>(n, 0.0, static_cast<unsigned>(n) + 1);
      const auto got = solved(dev, s, {});
      EXPECT_LE(backward_error(s, got.x), 64 * unit<T>) << n << dev.kind();
      EXPECT_LT(got.report.growth, 1e3);
    }
}

TYPED_TEST(BandSolve, PeriodicSystems) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 100, 511, 512, 3000, 40000})
    for (const double dominance : {0.0, 0.5})
      for (const device& dev : devices()) {
        const auto s = random_system<T>(n, dominance, static_cast<unsigned>(n) + 3, true);
        const auto got = solved(dev, s, {});
        EXPECT_LE(backward_error(s, got.x), 64 * unit<T>) << n << " " << dominance << dev.kind();
      }
  const auto s = random_system<T>(10, 1, 1, true);
  EXPECT_THROW(solved(device::cpu(1), s, {.method = method::thomas}), value_error);
}

// A periodic matrix whose leading block is singular: bordering would break down.
TYPED_TEST(BandSolve, PeriodicShift) {
  using T = TypeParam;
  for (const std::int64_t n : {3, 10, 2000})
    for (const device& dev : devices()) {
      band_system<T> s;
      s.periodic = true;
      const auto k = static_cast<std::size_t>(n);
      s.dl.assign(k, 0);
      s.d.assign(k, 0);
      s.du.assign(k, 2);  // 2 x_{i+1} = b_i
      for (std::int64_t i = 0; i < n; ++i) s.b.push_back(static_cast<T>(2 * i));
      const auto got = solved(dev, s, {});
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_EQ(got.x[static_cast<std::size_t>((i + 1) % n)], static_cast<T>(i));
    }
}

TYPED_TEST(BandSolve, BatchesInEveryLayout) {
  using T = TypeParam;
  struct size {
    std::int64_t n, systems;
  };
  for (const size& of : {size{1, 40}, size{2, 33}, size{30, 100}, size{64, 19}, size{512, 9}, size{700, 3},
                         size{1024, 5}, size{5000, 3}})
    for (const double dominance : {0.0, 0.25})
      for (const method how : {method::automatic, method::partition})
        for (const batch_shape& shape : {contiguous(of.n, of.systems), interleaved(of.n, of.systems)})
          for (const device& dev : devices()) {
            auto all = random_system<T>(of.n * of.systems, dominance, static_cast<unsigned>(of.n));
            vouch::testing::poison(all, shape);
            on_device<T> here(dev, all, shape);
            const auto report = solve(dev, here.A, here.rhs, here.to, {.method = how});
            EXPECT_NE(report.status, solve_status::breakdown) << report.reason;
            const std::vector<T> x = here.x.to_vector();
            for (std::int64_t s = 0; s < of.systems; ++s)
              EXPECT_LE(backward_error(system_of(all, shape, s), rows_of(x, shape, s)), 64 * unit<T>)
                  << of.n << " x " << of.systems << " system " << s;
          }
}

// Rows that lie apart, or that begin where no line of memory does; what lies between is not touched.
TYPED_TEST(BandSolve, LongSystemsAnywhereInMemory) {
  using T = TypeParam;
  constexpr std::int64_t n = 9001;
  for (const double dominance : {0.0, 0.5})
    for (const std::int64_t stride : {1, 2})
      for (const device& dev : devices()) {
        const auto s = random_system<T>(n, dominance, 77);
        const auto spread = [&](const std::vector<T>& v) {
          std::vector<T> all(static_cast<std::size_t>(1 + n * stride), std::numeric_limits<T>::quiet_NaN());
          for (std::int64_t i = 0; i < n; ++i)
            all[static_cast<std::size_t>(1 + i * stride)] = v[static_cast<std::size_t>(i)];
          return array<T>::from(dev, all);
        };
        const batch_shape shape{n, 1, stride, 0, nullptr};
        const array<T> dl = spread(s.dl), d = spread(s.d), du = spread(s.du), b = spread(s.b);
        array<T> x = spread(s.b);
        solve<T>(dev, {dl.data() + 1, d.data() + 1, du.data() + 1, shape}, {b.data() + 1, shape},
                 {x.data() + 1, shape}, {.method = method::partition});
        const std::vector<T> all = x.to_vector();
        std::vector<T> got;
        for (std::int64_t i = 0; i < n; ++i) got.push_back(all[static_cast<std::size_t>(1 + i * stride)]);
        EXPECT_LE(backward_error(s, got), 64 * unit<T>) << dominance << " " << stride << dev.kind();
        EXPECT_TRUE(std::isnan(all[0]) && (stride == 1 || std::isnan(all[2]))) << stride << dev.kind();
      }
}

TYPED_TEST(BandSolve, OneMatrixForManyRightHandSides) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const method how : all_methods) {
      const auto A = tridiagonal<T>::constant(dev, -1, 4, -1, 3);
      // (4 -1 0; -1 4 -1; 0 -1 4) times (1 1 1) and (1 2 3).
      const array<T> b = array<T>::from(dev, std::vector<T>{3, 2, 3, 2, 4, 10});
      array<T> x(dev, 6);
      solve<T>(dev, A, {b.data(), contiguous(3, 2)}, {x.data(), contiguous(3, 2)}, {.method = how});
      const std::vector<T> got = x.to_vector(), expected{1, 1, 1, 1, 2, 3};
      for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(got[i], expected[i], 16 * unit<T>) << name(how);
    }
}

TYPED_TEST(BandSolve, SystemsOfUnequalLength) {
  using T = TypeParam;
  const std::vector<std::int64_t> offsets{0, 5, 5, 6, 3006, 3070, 3073, 9000};
  for (const device& dev : devices())
    for (const method how : all_methods) {
      const auto all = random_system<T>(offsets.back(), 0.2, 6);
      on_device<T> here(dev, all, ragged(offsets));
      const auto report = solve(dev, here.A, here.rhs, here.to, {.method = how});
      EXPECT_EQ(report.status, solve_status::converged) << report.reason << name(how);
      const std::vector<T> x = here.x.to_vector();
      const batch_shape shape = ragged(offsets);
      for (std::int64_t k = 0; k < shape.systems; ++k)
        if (shape.rows(k) > 0) {
          EXPECT_LE(backward_error(system_of(all, shape, k), rows_of(x, shape, k)), 32 * unit<T>)
              << k << name(how);
        }
    }
}

TYPED_TEST(BandSolve, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  const auto s = random_system<T>(100000, 0.0, 3);
  for (const method how : {method::automatic, method::partition})
    EXPECT_EQ(solved(device::cpu(1), s, {.method = how}).x, solved(device::cpu(3), s, {.method = how}).x);
  // Neither a batch's method nor its bits; as many systems as threads and more.
  for (const std::int64_t systems : {2, 5, 9, 40})
    for (const double dominance : {0.0, 0.25})
      for (const method how : all_methods) {
        const batch_shape shape = contiguous(700, systems);
        const auto batch = random_system<T>(shape.extent(), dominance, 5);
        on_device<T> here(device::cpu(1), batch, shape), there(device::cpu(1), batch, shape);
        const auto one = solve(device::cpu(1), here.A, here.rhs, here.to, {.method = how});
        const auto several = solve(device::cpu(5), there.A, there.rhs, there.to, {.method = how});
        EXPECT_EQ(one.method, several.method) << systems;
        EXPECT_EQ(here.x.to_vector(), there.x.to_vector()) << systems << name(how);
      }
}

// Rows that repeat, empty columns, all zeros: each is reported, none is answered, but for zeros.
TYPED_TEST(BandSolve, SingularSystemsBreakDown) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const std::int64_t n : {1, 2, 600, 5000}) {
      auto s = random_system<T>(n, 1.0, 2);
      const auto k = static_cast<std::size_t>(n / 2);
      s.d[k] = 0;
      if (k > 0) s.du[k - 1] = 0;
      if (k + 1 < s.d.size()) s.dl[k + 1] = 0;
      const auto got = solved(dev, s, {.method = method::partition});
      EXPECT_EQ(got.report.status, solve_status::breakdown) << n << dev.kind();
      EXPECT_EQ(got.report.systems_missed, 1);
      s.b.assign(s.b.size(), 0);
      const auto zero = solved(dev, s, {.method = method::partition});
      EXPECT_EQ(zero.report.status, solve_status::converged) << n << dev.kind();
      EXPECT_EQ(zero.x, s.b);
    }
}

// Regular, but what solves it has no place in the range of numbers.
TYPED_TEST(BandSolve, SolutionsThatOverflowAreNotCalledSingularAlone) {
  using T = TypeParam;
  const T huge = std::sqrt(std::numeric_limits<T>::max()) * 16;
  for (const device& dev : devices()) {
    const auto got = solved(dev, band_system<T>{{0, 0}, {1 / huge, 1}, {0, 0}, {huge, 1}, false}, {});
    EXPECT_EQ(got.report.status, solve_status::breakdown);
    EXPECT_NE(got.report.reason.find("or its solution overflows"), std::string::npos) << got.report.reason;
  }
}

TYPED_TEST(BandSolve, OneSingularSystemAmongMany) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    auto all = random_system<T>(40, 1.0, 2);
    const batch_shape shape = contiguous(4, 10);
    for (std::size_t i = 28; i < 32; ++i) all.d[i] = all.dl[i] = all.du[i] = 0;  // system 7
    on_device<T> here(dev, all, shape);
    const auto report = solve(dev, here.A, here.rhs, here.to);
    EXPECT_EQ(report.status, solve_status::breakdown);
    EXPECT_EQ(report.first_missed, std::vector<std::int64_t>{7});
    EXPECT_NE(report.reason.find("system 7"), std::string::npos);
  }
}

// [p 1; 1 1] with a tiny pivot p and no interchange: one correction mends the residual, beside a system that
// nothing mends.
TYPED_TEST(BandSolve, SingularSystemsKeepNoOtherFromItsCorrection) {
  using T = TypeParam;
  const T p = sizeof(T) == sizeof(double) ? T(1e-10) : T(1e-5);
  for (const device& dev : devices()) {
    const band_system<T> all{{0, 0, 0, 1}, {0, 0, p, 1}, {0, 0, 1, 0}, {1, 1, 1, 2}, false};
    on_device<T> here(dev, all, contiguous(2, 2));
    const auto report = solve(dev, here.A, here.rhs, here.to, {.method = method::thomas});
    EXPECT_EQ(report.first_missed, std::vector<std::int64_t>{0}) << dev.kind();
  }
}

// Their inverses overflow, or what is to be subtracted is rounded off: rows must be scaled to one size first.
TYPED_TEST(BandSolve, DominantRowsNearTheEndsOfTheRange) {
  using T = TypeParam;
  const int lowest = std::numeric_limits<T>::min_exponent;
  for (const device& dev : devices())
    for (const int of_A : {lowest - 4, lowest + 1, std::numeric_limits<T>::max_exponent - 4})
      for (const std::int64_t n : {1, 2, 50, 700}) {
        auto s = random_system<T>(n, 0.25, 21);
        for (std::vector<T>* v : {&s.dl, &s.d, &s.du, &s.b})
          for (T& entry : *v) entry = std::ldexp(entry, of_A);
        const auto got = solved(dev, s, {});
        EXPECT_EQ(got.report.status, solve_status::converged) << got.report.reason << n << " 2^" << of_A;
        EXPECT_LE(backward_error(s, got.x), 64 * unit<T>) << n << " 2^" << of_A;
      }
}

// 4 x - 3 x = b, of which the larger product has no place in the range. (A GPU may overflow while it solves.)
TEST(BandSolveVerdict, ProductsThatOverflow) {
  const double b = 0.3 * std::numeric_limits<double>::max();
  const auto got = solved(device::cpu(1), band_system<double>{{0, 0}, {4, 1}, {-3, 0}, {b, b}, false}, {});
  EXPECT_EQ(got.report.status, solve_status::converged) << got.report.reason;
  EXPECT_LE(got.report.backward_error, 1e-15);
}

// ||b|| is infinite: no residual is small against that.
TEST(BandSolveVerdict, NormsThatOverflow) {
  const std::vector<double> none(100, 0.0), ones(100, 1.0), b(100, 1.6e308);
  const batch_shape shape = contiguous(100);
  vouch::detail::judgement found{.residuals = std::vector<vouch::detail::band_residual_facts>(1),
                                 .eliminations = std::vector<vouch::detail::elimination_facts>(1),
                                 .rtol = 1e-8};
  vouch::detail::band_residual<double>(device::cpu(1), {none.data(), ones.data(), none.data(), shape},
                                       {b.data(), shape}, {none.data(), shape}, nullptr,
                                       found.residuals.data());
  EXPECT_FALSE(found.converged(0));
}

TYPED_TEST(BandSolve, ZeroPivotWithoutInterchanges) {
  using T = TypeParam;
  band_system<T> s{{0, 3}, {0, 0}, {2, 0}, {4, 9}, false};
  s.poison();
  for (const device& dev : devices()) {
    EXPECT_EQ(solved(dev, s, {.method = method::thomas}).report.status, solve_status::breakdown);
    EXPECT_EQ(solved(dev, s, {}).x, (std::vector<T>{3, 2}));
  }
}

TYPED_TEST(BandSolve, RefusesWhatIsNoNumber) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      auto s = random_system<T>(50, 1.0, 2);
      s.du[20] = bad;
      EXPECT_THROW(solved(dev, s, {}), value_error);
      s = random_system<T>(50, 1.0, 2);
      s.b[20] = bad;
      EXPECT_THROW(solved(dev, s, {}), value_error);
    }
}

TYPED_TEST(BandSolve, RefusesShapesThatDoNotFit) {
  using T = TypeParam;
  const device cpu = device::cpu(1);
  const auto A = tridiagonal<T>::constant(cpu, -1, 4, -1, 3);
  array<T> b = array<T>::zeros(cpu, 4), x(cpu, 4);
  EXPECT_THROW((solve<T>(cpu, A, {b.data(), contiguous(4)}, {x.data(), contiguous(4)})), shape_error);
  EXPECT_THROW((solve<T>(cpu, A, {b.data(), contiguous(3)}, {x.data(), contiguous(1, 3)})), shape_error);
  for (const batch_shape& bad : {contiguous(-3), batch_shape{3, 1, -1, 3, nullptr}, contiguous(3, -1)}) {
    const tridiagonal_view<const T> of{A.dl.data(), A.d.data(), A.du.data(), bad};
    EXPECT_THROW((solve<T>(cpu, of, {b.data(), bad}, {x.data(), bad})), value_error);
    EXPECT_THROW(examine<T>(cpu, of), value_error);
  }
}

TYPED_TEST(BandSolve, NothingToSolve) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const batch_shape& shape : {contiguous(0), contiguous(5, 0), contiguous(0, 4)}) {
      const tridiagonal<T> A(dev, shape);
      array<T> none(dev, 0);
      EXPECT_EQ(solve<T>(dev, A, {none.data(), shape}, {none.data(), shape}).status, solve_status::converged);
    }
}

TYPED_TEST(BandSolve, ZeroRightHandSideGivesZero) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    auto s = random_system<T>(2000, 0.0, 2);
    std::fill(s.b.begin(), s.b.end(), T{0});
    const auto got = solved(dev, s, {});
    EXPECT_EQ(got.report.status, solve_status::converged);
    EXPECT_EQ(got.x, s.b);
  }
}

TYPED_TEST(BandSolve, GrowthIsReported) {
  using T = TypeParam;
  // A pivot of 1/64 in the first row: Thomas makes an entry of 64.
  band_system<T> s{{0, 1, 1}, {T{1} / 64, 1, 1}, {1, 1, 0}, {1, 1, 1}, false};
  const auto got = solved(device::cpu(1), s, {.method = method::thomas});
  EXPECT_EQ(got.report.growth, 63);
  EXPECT_LE(solved(device::cpu(1), s, {.method = method::partition}).report.growth, 2);
}

// ---- single precision inside, a double answer

TEST(BandSolveMixed, SinglePrecisionInsideDoubleOutside) {
  for (const device& dev : devices())
    for (const double dominance : {0.0, 0.5})
      for (const std::int64_t n : {3, 1000, 30000}) {
        const auto s = random_system<double>(n, dominance, 12);
        const auto got = solved(dev, s, {.mixed = true, .rtol = 1e-13});
        EXPECT_EQ(got.report.status, solve_status::converged) << got.report.reason << n;
        EXPECT_GE(got.report.refinements, 1);
        EXPECT_LE(backward_error(s, got.x), 1e-13);
      }
}

TEST(BandSolveMixed, ByEveryMethod) {
  for (const device& dev : devices())
    for (const method how : {method::thomas, method::cyclic_reduction, method::pcr, method::partition})
      for (const std::int64_t n : {1, 3, 1000}) {
        const auto s = random_system<double>(n, 1.5, 12);
        const auto got = solved(dev, s, {.method = how, .mixed = true, .rtol = 1e-13});
        EXPECT_EQ(got.report.status, solve_status::converged) << got.report.reason << n;
        EXPECT_EQ(got.report.method, name(how));
        EXPECT_EQ(got.report.precision, "mixed") << name(how) << n;
        EXPECT_LE(backward_error(s, got.x), 1e-13);
      }
}

TEST(BandSolveMixed, WithoutALookAtTheAnswer) {
  for (const device& dev : devices()) {
    const auto s = random_system<double>(1000, 0.5, 12);
    const auto got = solved(dev, s, {.mixed = true, .check = false});
    EXPECT_EQ(got.report.status, solve_status::stopped);
    EXPECT_LE(backward_error(s, got.x), 1e-6) << dev.kind();
  }
}

}  // namespace
