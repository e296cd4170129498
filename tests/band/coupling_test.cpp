// Long systems, whose far ends depend on each other little, much, or in one place only.
#include <gtest/gtest.h>

#include <cmath>

#include <vouch/band/solve.hpp>

#include "band/families.hpp"
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
struct BandCoupling : ::testing::Test {};
TYPED_TEST_SUITE(BandCoupling, vouch::testing::reals);

template <class T>
std::vector<T> solved(const device& dev, const band_system<T>& s, const batch_shape& shape) {
  vouch::testing::on_device<T> here(dev, s, shape);
  solve(dev, here.A, here.rhs, here.to, {.method = tridiagonal_method::partition, .check = false});
  return here.x.to_vector();
}

template <class T>
void set_row(band_system<T>& s, std::int64_t i, double dl, double d, double du) {
  const auto k = static_cast<std::size_t>(i);
  s.dl[k] = static_cast<T>(dl);
  s.d[k] = static_cast<T>(d);
  s.du[k] = static_cast<T>(du);
}

// Rows that need interchanges become such that the inverse does not decay.
template <class T>
void take_decay(band_system<T>& s) {
  for (std::int64_t i = 0; i < s.n(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    set_row(s, i, std::copysign(1.0, s.dl[k]), s.d[k] / 16, std::copysign(1.0, s.du[k]));
  }
}

// Never worse than ten times gtsv, nor than some rounding.
template <class T>
void expect_as_good_as_lapack(const std::string& what, band_system<T> s) {
  s.poison();
  const std::vector<T> theirs = vouch::testing::gtsv<T>(s);
  if (theirs.empty()) return;  // singular to gtsv
  const double reference = backward_error(s, theirs);
  for (const device& dev : devices())
    EXPECT_LE(backward_error(s, solved(dev, s, contiguous(s.n()))), std::max(10 * reference, 64 * unit<T>))
        << what << dev.kind();
}

constexpr std::int64_t n = 140009;  // long enough for the pass over runs of long systems

TYPED_TEST(BandCoupling, FamiliesOfTheLiterature) {
  for (const auto& family : vouch::testing::families<TypeParam>())
    expect_as_good_as_lapack(family.name, family.make(n));
}

// Waves, which do not decay, in a stretch of a matrix whose inverse decays elsewhere.
TYPED_TEST(BandCoupling, DecayThatFailsInOnePlace) {
  struct stretch {
    std::int64_t from, to;
  };
  for (const stretch& of :
       {stretch{11000, 17000}, stretch{0, 4000}, stretch{135000, n}, stretch{12480, 13728}, stretch{0, n}}) {
    auto s = random_system<TypeParam>(n, 0.0, 12);
    for (std::int64_t i = of.from; i < of.to; ++i) set_row(s, i, -1, 1.9, -1);
    expect_as_good_as_lapack("from row " + std::to_string(of.from), s);
  }
}

// x_{i+1} = x_{i-1} + d x_i + ...: of two thousand rows that need interchanges, what is left of a coupling goes
// from nearly all to less than rounding. Unknowns differ by twelve orders of magnitude.
TYPED_TEST(BandCoupling, DecayNearTheBound) {
  for (const double d : {0.01, 0.02, 0.025, 0.03, 0.035, 0.05, 0.06, 0.063, 0.066, 0.07, 0.1})
    for (const bool unequal : {false, true}) {
      auto s = random_system<TypeParam>(n, 0.0, 13);
      for (std::int64_t i = 0; i < n; ++i) {
        set_row(s, i, 1, d, -1);
        if (unequal && i / 1700 % 3 == 1) s.b[static_cast<std::size_t>(i)] *= static_cast<TypeParam>(1e12);
      }
      expect_as_good_as_lapack(std::to_string(d), s);
    }
}

// Lengths on both sides of what kernels cut systems into.
TYPED_TEST(BandCoupling, NoDecayAtAnyLength) {
  for (const std::int64_t length : {131072, 131073, 131103, 131104, 132095, 132096, 132097, 262143, 270336}) {
    auto s = random_system<TypeParam>(length, 0.0, 19);
    take_decay(s);
    expect_as_good_as_lapack(std::to_string(length) + " rows", s);
  }
}

TYPED_TEST(BandCoupling, LargeUnknownsFarAway) {
  auto s = random_system<TypeParam>(n, 0.0, 14);
  for (std::int64_t i = 0; i < n; ++i)
    if (i / 2000 % 2 == 1) s.b[static_cast<std::size_t>(i)] *= static_cast<TypeParam>(1e12);
  expect_as_good_as_lapack("right-hand side", s);
  // Columns, too: the unknowns of every other stretch are a millionth.
  for (std::int64_t i = 0; i < n; ++i) {
    const auto scale = [&](TypeParam& entry, std::int64_t column) {
      if (column / 3000 % 2 == 1) entry *= static_cast<TypeParam>(1e6);
    };
    const auto k = static_cast<std::size_t>(i);
    scale(s.dl[k], i - 1);
    scale(s.d[k], i);
    scale(s.du[k], i + 1);
  }
  expect_as_good_as_lapack("columns", s);
}

// Two halves that have nothing to do with each other but one entry, wherever it lies.
TYPED_TEST(BandCoupling, HalvesWithOneEntryBetween) {
  for (const std::int64_t cut : {1247, 1248, 1249, 12479, 12480, 15000}) {
    auto s = random_system<TypeParam>(n, 0.0, 15);
    s.du[static_cast<std::size_t>(cut - 1)] = 0;
    expect_as_good_as_lapack("before row " + std::to_string(cut), s);
    s.d[static_cast<std::size_t>(cut)] = 0;
    expect_as_good_as_lapack("and no diagonal", s);
  }
}

TYPED_TEST(BandCoupling, SystemsOfUnequalLength) {
  using T = TypeParam;
  const std::vector<std::int64_t> offsets{0, 20000, 20000, 20001, 26248, 26250, 33001, 33002, 40000};
  const auto all = random_system<T>(offsets.back(), 0.0, 16);
  for (const device& dev : devices()) {
    const std::vector<T> x = solved(dev, all, ragged(offsets));
    const batch_shape shape = ragged(offsets);
    for (std::int64_t k = 0; k < shape.systems; ++k)
      if (shape.rows(k) > 0) {
        EXPECT_LE(backward_error(system_of(all, shape, k), rows_of(x, shape, k)), 64 * unit<T>)
            << k << dev.kind();
      }
  }
}

// Which way a GPU goes does not depend on who of its blocks finds out first, nor does the answer.
TYPED_TEST(BandCoupling, SameBitsAgain) {
  using T = TypeParam;
  auto s = random_system<T>(700001, 0.0, 17);
  const auto dominant = random_system<T>(s.n(), 0.25, 18);
  const auto expect_same_bits = [](const std::string& what, const band_system<T>& of) {
    std::vector<device> some = vouch::testing::gpus();
    some.push_back(device::cpu(3));
    for (const device& dev : some) {
      const auto first = solved(dev, of, contiguous(of.n()));
      EXPECT_LE(backward_error(of, first), 64 * unit<T>) << what << dev.kind();
      for (int k = 0; k < 2; ++k) EXPECT_EQ(solved(dev, of, contiguous(of.n())), first) << what << dev.kind();
    }
  };
  expect_same_bits("general", s);
  auto slow = s;
  take_decay(slow);
  expect_same_bits("slow decay", slow);
  for (std::int64_t i = 0; i + 1 < 400000; ++i) set_row(s, i, -1, 2, -1);
  expect_same_bits("half of them barely dominate", s);
  auto one_row = dominant;
  set_row(one_row, 500000, 1, 0.5, -1);
  expect_same_bits("one row does not dominate", one_row);
  for (std::int64_t i = 300000; i + 1 < s.n(); ++i) set_row(one_row, i, 1, 0.5, -1);
  expect_same_bits("half of them dominate", one_row);
  if (sizeof(T) == sizeof(float)) return;  // rounding adds up along what does not decay
  for (std::int64_t i = 300000; i + 1 < s.n(); ++i) set_row(one_row, i, -1, 2, -1);
  set_row(one_row, 555555, 1, 0.5, -1);
  expect_same_bits("half of them barely dominate, one does not", one_row);
}

}  // namespace
