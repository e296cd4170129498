#include <gtest/gtest.h>

#include <vouch/band/factored.hpp>
#include <vouch/core/error.hpp>

#include "band/on_device.hpp"
#include "devices.hpp"

namespace {

using namespace vouch;
using vouch::testing::backward_error;
using vouch::testing::band_system;
using vouch::testing::devices;
using vouch::testing::random_system;
using vouch::testing::rows_of;
using vouch::testing::unit;

template <class T>
struct Factored : ::testing::Test {};
TYPED_TEST_SUITE(Factored, vouch::testing::reals);

template <class T>
tridiagonal<T> on(const device& dev, const band_system<T>& s) {
  tridiagonal<T> A = tridiagonal<T>::from(dev, s.dl, s.d, s.du);
  A.periodic = s.periodic;
  return A;
}

template <class T>
std::vector<T> solved(const device& dev, const band_system<T>& s) {
  const tridiagonal<T> A = on(dev, s);
  const factored_tridiagonal<T> factors(dev, A);
  const array<T> b = array<T>::from(dev, s.b);
  array<T> x(dev, s.n());
  factors.solve(b, x);
  return x.to_vector();
}

TYPED_TEST(Factored, SolvesBothWaysOfEliminationAtAnySize) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 65, 1000, 4099, 30001})
    for (const double dominance : {0.0, 1e-3, 1.0})
      for (const device& dev : devices()) {
        const auto s = random_system<T>(n, dominance, static_cast<unsigned>(n) + 5);
        EXPECT_LE(backward_error(s, solved(dev, s)), 32 * unit<T>) << n << " " << dominance << dev.kind();
      }
}

TYPED_TEST(Factored, SolvesPeriodicSystems) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 4, 17, 1000, 20000})
    for (const double dominance : {0.0, 0.5})
      for (const device& dev : devices()) {
        const auto s = random_system<T>(n, dominance, static_cast<unsigned>(n) + 77, true);
        EXPECT_LE(backward_error(s, solved(dev, s)), 64 * unit<T>) << n << " " << dominance << dev.kind();
      }
}

// Of (1, 0, 1) on a ring of 6 all but the last row and column are singular, the whole is not.
TYPED_TEST(Factored, RingsThatAreSingularWithoutTheirLastUnknown) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const T diagonal : {T{0}, std::numeric_limits<T>::epsilon()}) {
      band_system<T> s = random_system<T>(6, 0, 3, true);
      for (std::size_t i = 0; i < 6; ++i) {
        s.dl[i] = s.du[i] = 1;
        s.d[i] = diagonal;
      }
      EXPECT_LE(backward_error(s, solved(dev, s)), 8 * unit<T>) << diagonal << dev.kind();
    }
}

// Many right-hand sides of matrices that are eliminated anew.
TYPED_TEST(Factored, RightHandSidesOfRings) {
  using T = TypeParam;
  const std::int64_t n = 300, matrices = 3, each = 4;
  const batch_shape shape = contiguous(n, matrices * each);
  for (const device& dev : devices())
    for (const double dominance : {0.0, 0.5}) {
      const auto all = random_system<T>(shape.extent(), dominance, 15, true);
      vouch::testing::on_device<T> here(dev, all, contiguous(n, matrices));
      const factored_tridiagonal<T> factors(dev, here.A);
      factors.solve({here.b.data(), shape}, {here.b.data(), shape});
      const std::vector<T> answer = here.b.to_vector();
      for (std::int64_t k = 0; k < shape.systems; ++k) {
        auto s = system_of(all, shape, k / each);
        s.b = rows_of(all.b, shape, k);
        EXPECT_LE(backward_error(s, rows_of(answer, shape, k)), 64 * unit<T>)
            << k << " " << dominance << dev.kind();
      }
    }
}

// Interchanges compare rows of one size, and growth is reported of them.
TYPED_TEST(Factored, NearTheEndsOfTheRange) {
  using T = TypeParam;
  const int lowest = std::numeric_limits<T>::min_exponent, highest = std::numeric_limits<T>::max_exponent;
  for (const device& dev : devices())
    for (const double dominance : {0.0, 0.5})
      for (const bool periodic : {false, true})
        for (const int size : {lowest - 4, lowest + 4, lowest / 2, highest / 2, highest - 3}) {
          auto s = random_system<T>(40, dominance, 16, periodic);
          for (std::vector<T>* v : {&s.dl, &s.d, &s.du})
            for (T& entry : *v) entry = std::ldexp(entry, size);
          for (T& entry : s.b) entry = std::ldexp(entry, std::max(size, lowest + 30) - (size > 0 ? 8 : 0));
          const tridiagonal<T> A = on(dev, s);
          const factored_tridiagonal<T> factors(dev, A);
          EXPECT_EQ(factors.report().status, solve_status::converged)
              << factors.report().reason << " 2^" << size;
          EXPECT_LE(factors.report().growth, 64) << "2^" << size;
          EXPECT_LE(backward_error(s, solved(dev, s)), 64 * unit<T>) << "2^" << size << " " << dominance;
        }
}

TYPED_TEST(Factored, SameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  for (const double dominance : {0.0, 0.7}) {
    const auto s = random_system<T>(200000, dominance, 3);
    EXPECT_EQ(solved(device::cpu(1), s), solved(device::cpu(2), s));
    EXPECT_EQ(solved(device::cpu(1), s), solved(device::cpu(3), s));
  }
}

// Many right-hand sides in either layout, in place and not, give what one at a time gives but for rounding.
TYPED_TEST(Factored, ManyRightHandSides) {
  using T = TypeParam;
  const std::int64_t n = 3000, count = 21;
  const auto s = random_system<T>(n, 0.5, 9);
  for (const device& dev : devices())
    for (const batch_shape& shape : {contiguous(n, count), interleaved(n, count)}) {
      std::vector<T> b(static_cast<std::size_t>(n * count));
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t i = 0; i < n; ++i)
          b[static_cast<std::size_t>(shape.at(k, i))] =
              s.b[static_cast<std::size_t>(i)] * static_cast<T>(k + 1);
      const tridiagonal<T> A = on(dev, s);
      const factored_tridiagonal<T> factors(dev, A);
      array<T> x = array<T>::from(dev, b);
      factors.solve({x.data(), shape}, {x.data(), shape});
      const std::vector<T> in_place = x.to_vector();
      array<T> other(dev, n * count);
      const array<T> source = array<T>::from(dev, b);
      factors.solve({source.data(), shape}, {other.data(), shape});
      EXPECT_EQ(in_place, other.to_vector());
      for (std::int64_t k = 0; k < count; ++k) {
        auto scaled = s;
        std::vector<T> column;
        for (std::int64_t i = 0; i < n; ++i) {
          scaled.b[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>(shape.at(k, i))];
          column.push_back(in_place[static_cast<std::size_t>(shape.at(k, i))]);
        }
        EXPECT_LE(backward_error(scaled, column), 8 * unit<T>) << k;
      }
    }
}

TYPED_TEST(Factored, OneSystemInPlaceAndCutIntoRuns) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    const auto s = random_system<T>(300000, 0.5, 4);
    const tridiagonal<T> A = on(dev, s);
    const factored_tridiagonal<T> factors(dev, A);
    array<T> x = array<T>::from(dev, s.b);
    factors.solve(x, x);
    EXPECT_EQ(x.to_vector(), solved(dev, s));
    EXPECT_LE(backward_error(s, x.to_vector()), 8 * unit<T>);
  }
}

// Two matrices, three right-hand sides each: b belongs to matrix s / 3.
TYPED_TEST(Factored, RightHandSidesOfOneMatrixStandTogether) {
  using T = TypeParam;
  const std::vector<T> none{0, 0}, d{2, 4, 8, 16}, b{2, 4, 4, 8, 6, 12, 8, 16, 16, 32, 24, 48};
  for (const device& dev : devices()) {
    tridiagonal<T> A(dev, contiguous(2, 2));
    A.dl = array<T>::zeros(dev, 4);
    A.du = array<T>::zeros(dev, 4);
    A.d = array<T>::from(dev, d);
    const factored_tridiagonal<T> factors(dev, A);
    array<T> x = array<T>::from(dev, b);
    factors.solve({x.data(), contiguous(2, 6)}, {x.data(), contiguous(2, 6)});
    EXPECT_EQ(x.to_vector(), (std::vector<T>{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
  }
}

TYPED_TEST(Factored, SystemsOfUnequalLength) {
  using T = TypeParam;
  const std::vector<std::int64_t> offsets{0, 5, 5, 6, 706, 770, 773};
  const batch_shape shape = ragged(offsets);
  for (const device& dev : devices())
    for (const bool periodic : {false, true}) {
      const auto all = random_system<T>(offsets.back(), 0.0, 8, periodic);
      vouch::testing::on_device<T> here(dev, all, shape);
      const factored_tridiagonal<T> factors(dev, here.A);
      factors.solve({here.b.data(), shape}, {here.b.data(), shape});
      const std::vector<T> answer = here.b.to_vector();
      for (std::int64_t k = 0; k < shape.systems; ++k)
        if (shape.rows(k) > 0) {
          EXPECT_LE(backward_error(system_of(all, shape, k), rows_of(answer, shape, k)), 32 * unit<T>) << k;
        }
    }
}

// tridiag(-1, 4, -1): the factors settle on 1 / (2 + sqrt 3) after a few rows, and only those are kept.
TYPED_TEST(Factored, ConstantCoefficientsTakeNoMemory) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const std::int64_t n : {1, 2, 10, 50000}) {
      const auto A = tridiagonal<T>::constant(dev, -1, 4, -1, n);
      const factored_tridiagonal<T> factors(dev, A);
      EXPECT_LE(factors.factors().shape.n, 40);
      band_system<T> s;
      s.dl = s.du = std::vector<T>(static_cast<std::size_t>(n), -1);
      s.d = std::vector<T>(static_cast<std::size_t>(n), 4);
      s.b = random_system<T>(n, 0, 1).b;
      array<T> x = array<T>::from(dev, s.b);
      factors.solve(x, x);
      EXPECT_LE(backward_error(s, x.to_vector()), 8 * unit<T>) << n;
      if (n > 1000) {
        // (2 - sqrt 3)^h <= 2^-20 first at h = 11 (10.53); the first rows' factors are smaller.
        EXPECT_EQ(factors.decay_rows(0x1p-20), 11);
      }
    }
}

TYPED_TEST(Factored, TheLaplacianDoesNotDecay) {
  using T = TypeParam;
  const auto A = tridiagonal<T>::constant(device::cpu(1), -1, 2, -1, 500);
  const factored_tridiagonal<T> factors(device::cpu(1), A);
  EXPECT_TRUE(factors.plain());
  EXPECT_EQ(factors.decay_rows(1e-9), 500);
}

// No coupling can be dropped: systems in one block, in a cluster of them, in all that run at once, in two
// passes; symmetric (the second difference) and not.
TYPED_TEST(Factored, SolvesWhatDoesNotDecay) {
  using T = TypeParam;
  for (const std::int64_t n : {100, 1025, 2113, 9000, 16384, 16385, 50000, 300000, 1100000})
    for (const T upper : {T{-1}, T{-0.5}})
      for (const device& dev : devices()) {
        band_system<T> s = random_system<T>(n, 0, 11);
        for (std::size_t i = 0; i < s.d.size(); ++i) {
          s.dl[i] = i % 2 == 0 ? T{-1} : upper;
          s.du[i] = i % 2 == 0 ? upper : T{-1};
          s.d[i] = -(s.dl[i] + s.du[i]);
        }
        s.poison();
        EXPECT_LE(backward_error(s, solved(dev, s)), 16 * unit<T>) << n << " " << upper << dev.kind();
      }
}

// Blocks meet anew in every solve, whatever the last one was.
TYPED_TEST(Factored, SolvesAgainAndAgainWithTheSameBits) {
  using T = TypeParam;
  for (const std::int64_t n : {600, 12000, 40000})
    for (const bool decays : {false, true})
      for (const device& dev : devices()) {
        auto s = random_system<T>(n, 1.0, 21);
        if (!decays) {
          std::fill(s.dl.begin(), s.dl.end(), T{-1});
          std::fill(s.du.begin(), s.du.end(), T{-1});
          std::fill(s.d.begin(), s.d.end(), T{2});
          s.poison();
        }
        const factored_tridiagonal<T> factors(dev, on(dev, s));
        const array<T> b = array<T>::from(dev, s.b);
        array<T> x(dev, n);
        factors.solve(b, x);
        const std::vector<T> once = x.to_vector();
        std::vector<T> three;
        for (int k = 0; k < 3; ++k) three.insert(three.end(), s.b.begin(), s.b.end());
        for (int k = 0; k < 5; ++k) {
          x = array<T>::zeros(dev, n);
          factors.solve(b, x);
          EXPECT_EQ(x.to_vector(), once) << n << " " << decays << " " << k;
          array<T> in_place = array<T>::from(dev, s.b);
          factors.solve(in_place, in_place);
          EXPECT_EQ(in_place.to_vector(), once) << n << " " << decays << " " << k;
          array<T> all = array<T>::from(dev, three);
          factors.solve({all.data(), contiguous(n, 3)}, {all.data(), contiguous(n, 3)});
          const std::vector<T> answers = all.to_vector();
          for (std::int64_t at = 0; at < 3 * n; at += n)
            EXPECT_LE(backward_error(s, std::vector<T>(answers.begin() + at, answers.begin() + at + n)),
                      16 * unit<T>)
                << n << " " << decays << " " << k;
        }
      }
}

TYPED_TEST(Factored, ZeroDiagonalNeedsInterchanges) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    // [0 2; 3 0] x = (4, 9): x = (3, 2).
    const std::vector<T> dl{0, 3}, d{0, 0}, du{2, 0};
    const auto A = tridiagonal<T>::from(dev, dl, d, du);
    const factored_tridiagonal<T> factors(dev, A);
    EXPECT_TRUE(factors.report().interchanges);
    EXPECT_THROW(factors.factors(), value_error);
    array<T> x = array<T>::from(dev, std::vector<T>{4, 9});
    factors.solve(x, x);
    EXPECT_EQ(x.to_vector(), (std::vector<T>{3, 2}));
  }
}

TYPED_TEST(Factored, SaysWhichMatrixIsSingular) {
  using T = TypeParam;
  for (const device& dev : devices()) {
    const std::vector<T> off{0, 1, 0, 1}, upper{1, 0, 1, 0}, d{2, 2, 1, 1};
    tridiagonal<T> A(dev, contiguous(2, 2));
    A.dl = array<T>::from(dev, off);
    A.d = array<T>::from(dev, d);
    A.du = array<T>::from(dev, upper);
    const factored_tridiagonal<T> factors(dev, A);
    EXPECT_EQ(factors.report().status, solve_status::breakdown);
    EXPECT_EQ(factors.report().broken_system, 1);
    array<T> x = array<T>::zeros(dev, 4);
    EXPECT_THROW(factors.solve({x.data(), contiguous(2, 2)}, {x.data(), contiguous(2, 2)}), value_error);
  }
}

TYPED_TEST(Factored, RefusesWhatDoesNotFit) {
  using T = TypeParam;
  const device cpu = device::cpu(1);
  const factored_tridiagonal<T> factors(cpu, tridiagonal<T>::constant(cpu, 1, 4, 1, 3));
  array<T> x = array<T>::zeros(cpu, 4);
  EXPECT_THROW(factors.solve(x, x), shape_error);
  std::vector<T> d{1, std::numeric_limits<T>::quiet_NaN()}, off{1, 1};
  EXPECT_THROW(factored_tridiagonal<T>(cpu, tridiagonal<T>::from(cpu, off, d, off)), value_error);
  const factored_tridiagonal<T> empty(cpu, tridiagonal<T>::constant(cpu, 1, 4, 1, 0));
  array<T> nothing(cpu, 0);
  EXPECT_NO_THROW(empty.solve(nothing, nothing));
}

// Down this matrix everything decays at once, up it next to nothing does before the last row's 0.
TEST(BandFactored, WhatDecaysOneWayOnly) {
  const std::int64_t n = 40000;
  const auto size = static_cast<std::size_t>(n);
  const band_system<double> s{std::vector<double>(size, 1e-12), std::vector<double>(size, 1),
                              std::vector<double>(size, -0.9999), std::vector<double>(size, 1), false};
  for (const device& dev : devices()) {
    const vouch::testing::on_device<double> here(dev, s, contiguous(n));
    const factored_tridiagonal<double> factors(dev, here.A);
    EXPECT_EQ(factors.decay_rows(std::ldexp(1.0, -57)), n) << dev.kind();
    factors.solve(here.rhs, here.to);
    EXPECT_LE(backward_error(s, here.x.to_vector()), 1e-15) << dev.kind();
  }
}

}  // namespace
