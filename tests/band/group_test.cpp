// Batches in host memory that a group of devices shares: blocks of some 2^18 rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/core/error.hpp>

#include "band/on_device.hpp"
#include "band/systems.hpp"
#include "groups.hpp"

namespace {

using namespace vouch;
using vouch::testing::backward_error;
using vouch::testing::band_system;
using vouch::testing::groups_of;
using vouch::testing::random_system;
using vouch::testing::rows_of;
using vouch::testing::single_devices;
using vouch::testing::system_of;
using vouch::testing::unit;

template <class T>
struct BandGroup : ::testing::Test {};
using reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BandGroup, reals);

// A batch on the host as shape says, what lies in gaps NaN.
template <class T>
struct host_batch {
  batch_shape shape;
  band_system<T> all;

  host_batch(const batch_shape& of, double dominance, bool periodic = false)
      : shape(of), all(random_system<T>(of.extent(), dominance, 11, periodic)) {
    if (!periodic) vouch::testing::poison(all, shape);
  }
  tridiagonal_view<const T> matrix() const {
    return {all.dl.data(), all.d.data(), all.du.data(), shape, all.periodic};
  }
  tridiagonal_report solved(const device_group& devices, std::vector<T>& x,
                            const tridiagonal_options& options = {}) const {
    x.assign(all.d.size(), T{-77});
    return solve<T>(devices, matrix(), {all.b.data(), shape}, {x.data(), shape}, options);
  }
};

template <class T>
void expect_bits_of(const device& one, const device_group& devices, const host_batch<T>& batch,
                    const tridiagonal_options& options = {}) {
  std::vector<T> alone, together;
  const tridiagonal_report first = batch.solved(device_group(one), alone, options);
  const tridiagonal_report second = batch.solved(devices, together, options);
  EXPECT_TRUE(alone == together);
  EXPECT_EQ(first.status, second.status) << second.reason;
  EXPECT_EQ(first.true_residual, second.true_residual);
  EXPECT_EQ(first.worst_system, second.worst_system);
}

template <class T>
void expect_solved(const host_batch<T>& batch, const std::vector<T>& x, const tridiagonal_report& report) {
  EXPECT_EQ(report.status, solve_status::converged) << report.reason;
  double worst = 0;
  for (std::int64_t s = 0; s < batch.shape.systems; ++s)
    if (batch.shape.rows(s) > 0)
      worst = std::max(worst, backward_error(system_of(batch.all, batch.shape, s), rows_of(x, batch.shape, s)));
  EXPECT_LE(worst, 40 * unit<T>);
  EXPECT_NEAR(report.backward_error, worst, unit<T>);
}

// Rows of systems by their strides, so that there are two blocks; elements between them.
std::vector<batch_shape> layouts() {
  return {contiguous(100, 3000),
          interleaved(100, 3000),
          {100, 3000, 1, 103, nullptr},
          {100, 3000, 3007, 1, nullptr},
          {50, 6000, 2, 101, nullptr},
          {50, 6000, 12003, 2, nullptr},
          {140'000, 2, 1, 140'000, nullptr},
          {15'000, 20, 20, 1, nullptr}};
}

TYPED_TEST(BandGroup, EveryLayoutIsSolvedWithTheBitsOfOneDevice) {
  using T = TypeParam;
  for (const device& one : single_devices())
    for (const batch_shape& shape : layouts()) {
      SCOPED_TRACE(::testing::Message() << one.kind() << ": " << shape.n << " rows, strides "
                                        << shape.row_stride << ' ' << shape.system_stride);
      const host_batch<T> batch(shape, 0.25);
      std::vector<T> x;
      const tridiagonal_report report = batch.solved(device_group({one, one}), x);
      expect_solved(batch, x, report);
      std::vector<bool> used(x.size());
      for (std::int64_t s = 0; s < shape.systems; ++s)
        for (std::int64_t i = 0; i < shape.n; ++i) used[static_cast<std::size_t>(shape.at(s, i))] = true;
      std::size_t touched = 0;
      for (std::size_t k = 0; k < x.size(); ++k) touched += !used[k] && x[k] != -77;
      EXPECT_EQ(touched, 0U);
      expect_bits_of(one, groups_of(one)[2], batch);
    }
}

TYPED_TEST(BandGroup, InterchangesPeriodicAndMixed) {
  using T = TypeParam;
  for (const device& one : single_devices())
    for (const device_group& devices : groups_of(one)) {
      expect_bits_of(one, devices, host_batch<T>(contiguous(300, 2000), 0));
      expect_bits_of(one, devices, host_batch<T>(contiguous(300, 1000), 0.25, true));
      if constexpr (sizeof(T) == sizeof(double)) {
        tridiagonal_options mixed;
        mixed.mixed = true;
        expect_bits_of(one, devices, host_batch<T>(contiguous(300, 1000), 0.25), mixed);
      }
      tridiagonal_options unchecked;
      unchecked.check = false;
      expect_bits_of(one, devices, host_batch<T>(contiguous(300, 2000), 0.25), unchecked);
    }
}

TYPED_TEST(BandGroup, DifferentLengthsAndOneMatrixForAll) {
  using T = TypeParam;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t s = 0; s < 2500; ++s) offsets.push_back(offsets.back() + s * 37 % 250);
  for (const device& one : single_devices())
    for (const device_group& devices : groups_of(one)) {
      const host_batch<T> batch(ragged(offsets), 0.25);
      std::vector<T> x;
      const tridiagonal_report report = batch.solved(devices, x);
      expect_solved(batch, x, report);
      expect_bits_of(one, devices, batch);

      const band_system<T> matrix = random_system<T>(100, 0.25, 3);
      host_batch<T> many(contiguous(100, 6000), 0.25);
      for (std::size_t k = 0; k < many.all.d.size(); ++k) {
        many.all.dl[k] = matrix.dl[k % 100];
        many.all.d[k] = matrix.d[k % 100];
        many.all.du[k] = matrix.du[k % 100];
      }
      x.assign(600'000, 0);
      const tridiagonal_report shared =
          solve<T>(devices, matrix.matrix(), {many.all.b.data(), many.shape}, {x.data(), many.shape});
      expect_solved(many, x, shared);
    }
}

// Coefficients that take no more memory than they are.
TEST(BandGroupOf, ConstantCoefficients) {
  const double dl = -1, d = 4, du = -1;
  const batch_shape constant{100, 6000, 0, 0, nullptr};
  host_batch<double> same(contiguous(100, 6000), 0.25);
  std::ranges::fill(same.all.dl, dl);
  std::ranges::fill(same.all.d, d);
  std::ranges::fill(same.all.du, du);
  for (const device& one : single_devices()) {
    std::vector<double> x(600'000);
    const tridiagonal_report report = solve<double>(device_group({one, one}), {&dl, &d, &du, constant},
                                                    {same.all.b.data(), same.shape}, {x.data(), same.shape});
    expect_solved(same, x, report);
  }
}

// The verdict and its worst system are of the batch, whichever devices solved it.
TEST(BandGroupOf, SystemsThatMissAreNamed) {
  host_batch<double> batch(contiguous(100, 6000), 0.25);
  for (const std::int64_t s : {4999, 5500})
    for (std::int64_t i = 0; i < 100; ++i)
      batch.all.dl[static_cast<std::size_t>(100 * s + i)] = batch.all.d[static_cast<std::size_t>(100 * s + i)] =
          batch.all.du[static_cast<std::size_t>(100 * s + i)] = 0;
  for (const device& one : single_devices())
    for (const device_group& devices : groups_of(one)) {
      std::vector<double> x;
      const tridiagonal_report report = batch.solved(devices, x);
      EXPECT_EQ(report.status, solve_status::breakdown);
      EXPECT_EQ(report.first_missed, (std::vector<std::int64_t>{4999, 5500}));
      EXPECT_EQ(report.systems_missed, 2);
      EXPECT_NE(report.reason.find("system 4999 is singular"), std::string::npos) << report.reason;
      EXPECT_EQ(report.matrix.dominance, 0);
      EXPECT_EQ(report.matrix.weakest_system, 4999);
    }
}

std::string complaint(const host_batch<double>& batch, const device_group& devices) {
  std::vector<double> x;
  try {
    batch.solved(devices, x);
  } catch (const value_error& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(BandGroupOf, WhatIsNoNumberIsNamedByItsPlaceInTheBatch) {
  host_batch<double> matrix(contiguous(100, 6000), 0.25), rhs = matrix;
  matrix.all.d[549'907] = std::numeric_limits<double>::quiet_NaN();
  rhs.all.b[549'907] = std::numeric_limits<double>::infinity();
  for (const device& one : single_devices())
    for (const device_group& devices : groups_of(one)) {
      EXPECT_NE(complaint(matrix, devices).find("5499"), std::string::npos) << complaint(matrix, devices);
      EXPECT_EQ(complaint(rhs, devices), "tridiagonal solve: b[7] of system 5499 is infinite");
    }
}

TEST(BandGroupOf, ShapesThatDoNotFitAreRefusedAsAWhole) {
  const host_batch<double> batch(contiguous(10, 5), 0.25);
  std::vector<double> x(60);
  const device_group one(device::cpu(1));
  const auto solved = [&](const batch_shape& of) {
    return solve<double>(one, batch.matrix(), {batch.all.b.data(), batch.shape}, {x.data(), of});
  };
  EXPECT_THROW(solved(contiguous(10, 6)), shape_error);
  EXPECT_THROW(solved({10, 5, 1, 0, nullptr}), value_error);
  EXPECT_EQ(solve<double>(one, {nullptr, nullptr, nullptr, contiguous(10, 0)}, {nullptr, contiguous(10, 0)},
                          {nullptr, contiguous(10, 0)})
                .systems_missed,
            0);
}

TYPED_TEST(BandGroup, TwoGpusHaveTheBitsOfOne) {
  VOUCH_NEEDS_TWO_GPUS();
  const device_group both = device_group::cuda({0, 1});
  for (const double dominance : {0.0, 0.25}) {
    expect_bits_of(device::cuda(1), both, host_batch<TypeParam>(contiguous(128, 20'000), dominance));
    expect_bits_of(device::cuda(1), both, host_batch<TypeParam>(interleaved(128, 20'000), dominance));
  }
}

}  // namespace
