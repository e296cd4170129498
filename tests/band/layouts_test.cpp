// The matrix, the right-hand sides and the solutions of a batch, each with strides of its own.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <vouch/band/factored.hpp>
#include <vouch/band/solve.hpp>
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
using method = tridiagonal_method;

template <class T>
struct BandLayouts : ::testing::Test {};
TYPED_TEST_SUITE(BandLayouts, vouch::testing::reals);

std::vector<batch_shape> layouts(std::int64_t n, std::int64_t systems) {
  return {contiguous(n, systems),
          interleaved(n, systems),
          {n, systems, 1, n + 3, nullptr},
          {n, systems, systems + 2, 1, nullptr},
          {n, systems, 3, 3 * n + 1, nullptr}};
}

// What lies contiguous, laid out as shape says; NaN between.
template <class T>
std::vector<T> laid_out(const std::vector<T>& from, const batch_shape& shape) {
  std::vector<T> to(static_cast<std::size_t>(shape.extent()), std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t s = 0; s < shape.systems; ++s)
    for (std::int64_t i = 0; i < shape.n; ++i)
      to[static_cast<std::size_t>(shape.at(s, i))] = from[static_cast<std::size_t>(s * shape.n + i)];
  return to;
}

// A batch of which every array lies in its own way, behind and before numbers that nobody may touch.
template <class T>
struct laid_batch {
  static constexpr std::int64_t fence = 64;
  band_system<T> all;
  batch_shape plain;
  array<T> dl, d, du, b, x;
  tridiagonal_view<const T> A;
  batch_view<const T> rhs;
  batch_view<T> to;

  laid_batch(const device& dev, const band_system<T>& systems, const batch_shape& of_A, const batch_shape& of_b,
             const batch_shape& of_x)
      : all(systems),
        plain(contiguous(of_b.n, of_b.systems)),
        dl(array<T>::from(dev, laid_out(all.dl, of_A))),
        d(array<T>::from(dev, laid_out(all.d, of_A))),
        du(array<T>::from(dev, laid_out(all.du, of_A))),
        b(array<T>::from(dev, laid_out(all.b, of_b))),
        x(array<T>::from(dev, std::vector<T>(static_cast<std::size_t>(of_x.extent() + 2 * fence), T{77}))),
        A{dl.data(), d.data(), du.data(), of_A, all.periodic},
        rhs{b.data(), of_b},
        to{x.data() + fence, of_x} {}

  void expect_solved(double bound) const {
    const std::vector<T> got = x.to_vector();
    std::vector<bool> written(got.size());
    for (std::int64_t s = 0; s < plain.systems; ++s) {
      EXPECT_LE(backward_error(vouch::testing::system_of(all, plain, s), rows_of(got, to.shape, s, fence)),
                bound)
          << "system " << s;
      for (std::int64_t i = 0; i < plain.n; ++i)
        written[static_cast<std::size_t>(fence + to.shape.at(s, i))] = true;
    }
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (written[k]) continue;
      ASSERT_EQ(got[k], T{77}) << "element " << k << " was not to be touched";
    }
  }
};

struct size {
  std::int64_t n, systems;
};

TYPED_TEST(BandLayouts, EachArrayHasItsOwn) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const size& of :
         {size{1, 1}, size{3, 1}, size{40, 1}, size{5000, 1}, size{5, 11}, size{130, 40}, size{5000, 3}})
      for (const bool periodic : {false, true}) {
        const auto all = random_system<T>(of.n * of.systems, 0.5, static_cast<unsigned>(of.n), periodic);
        const auto shapes = layouts(of.n, of.systems);
        for (std::size_t k = 0; k < shapes.size(); ++k) {
          const batch_shape &of_A = shapes[k], &of_b = shapes[(k + 1) % 5], &of_x = shapes[(3 * k + 2) % 5];
          SCOPED_TRACE(::testing::Message()
                       << of.systems << " of " << of.n << " rows, layout " << k << ", periodic " << periodic);
          for (const method how :
               {method::automatic, method::thomas, method::cyclic_reduction, method::pcr, method::partition}) {
            if (periodic && how != method::automatic && how != method::partition) continue;
            laid_batch<T> here(dev, all, of_A, of_b, of_x);
            solve(dev, here.A, here.rhs, here.to, {.method = how});
            here.expect_solved(16 * unit<T>);
          }
          laid_batch<T> here(dev, all, of_A, of_b, of_x);
          factored_tridiagonal<T>(dev, here.A).solve(here.rhs, here.to);
          here.expect_solved(16 * unit<T>);
        }
      }
}

TYPED_TEST(BandLayouts, SolutionsThatLieUponEachOtherAreRefused) {
  using T = TypeParam;
  const device dev = device::cpu(2);
  const auto all = random_system<T>(30, 0.5, 1);
  std::vector<T> x(100), b = all.b;
  const tridiagonal_view<const T> A{all.dl.data(), all.d.data(), all.du.data(), contiguous(10)};
  const batch_view<const T> rhs{b.data(), contiguous(10, 3)};
  const factored_tridiagonal<T> factors(dev, A);
  for (const batch_shape& shape : {batch_shape{10, 3, 1, 0, nullptr}, batch_shape{10, 3, 0, 1, nullptr},
                                   batch_shape{10, 3, 1, 9, nullptr}, batch_shape{10, 3, 2, 2, nullptr}}) {
    EXPECT_THROW((solve<T>(dev, A, rhs, {x.data(), shape})), value_error);
    EXPECT_THROW(factors.solve(rhs, {x.data(), shape}), value_error);
  }
  EXPECT_NO_THROW(factors.solve(rhs, {x.data(), {10, 3, 6, 4, nullptr}}));  // 0, 6, ... and 4, 10, ...: apart
  // The residual needs b, and not every method reads it before it writes x.
  EXPECT_THROW((solve<T>(dev, A, rhs, {b.data(), contiguous(10, 3)})), value_error);
  EXPECT_THROW((solve<T>(dev, A, rhs, {b.data(), contiguous(10, 3)}, {.method = method::pcr, .check = false})),
               value_error);
  EXPECT_THROW(tridiagonal<T>(dev, {10, 2, -1, 10, nullptr}), value_error);
}

}  // namespace
