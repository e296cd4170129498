#include <gtest/gtest.h>

#include <string>

#include <vouch/band/solve.hpp>

#include "band/on_device.hpp"
#include "devices.hpp"

namespace {

using namespace vouch;
using vouch::testing::backward_error;
using vouch::testing::band_system;
using vouch::testing::devices;
using vouch::testing::random_system;
using vouch::testing::unit;

template <class T>
struct BandLong : ::testing::Test {};
TYPED_TEST_SUITE(BandLong, vouch::testing::reals);

constexpr std::int64_t rows = 1'700'003;  // several chunks for every block of the largest GPUs

// (-1, 2, -1): dominant, the inverse decays only by its length. In single precision that would lose all digits:
// there it decays within some thousand rows.
template <class T>
band_system<T> laplacian() {
  band_system<T> s = random_system<T>(rows, 1, 5);
  std::fill(s.dl.begin(), s.dl.end(), T(-1));
  std::fill(s.d.begin(), s.d.end(), sizeof(T) == sizeof(double) ? T(2) : T(2) + T(0x1p-12));
  std::fill(s.du.begin(), s.du.end(), T(-1));
  s.poison();
  return s;
}

// The same, but that every `apart` rows one does not dominate.
template <class T>
band_system<T> broken_laplacian(std::int64_t apart, std::int64_t first) {
  band_system<T> s = laplacian<T>();
  for (std::int64_t i = first; i < rows; i += apart) s.d[static_cast<std::size_t>(i)] = T(1.5);
  return s;
}

// Off-diagonals of size 1, little on the diagonal: pivoting is needed, and the inverse hardly decays.
template <class T>
band_system<T> slow_general() {
  band_system<T> s = random_system<T>(rows, 0, 6);
  for (auto* const off : {&s.dl, &s.du})
    for (T& v : *off) v = std::copysign(T(1), v);
  for (T& v : s.d) v /= 16;
  s.poison();
  return s;
}

template <class T>
void expect_solved(const band_system<T>& s, const std::string& what) {
  for (const device& dev : devices())
    for (const bool in_place : {false, true}) {
      vouch::testing::on_device<T> here(dev, s, contiguous(rows));
      here.x = array<T>::from(dev, s.b);
      const batch_view<T> x{here.x.data(), contiguous(rows)};
      solve<T>(dev, here.A, in_place ? batch_view<const T>(x) : here.rhs, x,
               {.method = tridiagonal_method::partition, .check = false});
      EXPECT_LE(backward_error(s, here.x.to_vector()), 64 * unit<T>) << what << " " << in_place << dev.kind();
    }
}

TYPED_TEST(BandLong, DominantWithoutDecay) { expect_solved(laplacian<TypeParam>(), "(-1, 2, -1)"); }

// Rows that do not dominate, seldom and often: some chunks change over to interchanges, some of them late.
TYPED_TEST(BandLong, FewRowsDoNotDominate) {
  expect_solved(broken_laplacian<TypeParam>(1009, 7), "every 1009th row");
  expect_solved(broken_laplacian<TypeParam>(70001, 35000), "every 70001st row");
}

TYPED_TEST(BandLong, RowsChangePlaces) {
  expect_solved(random_system<TypeParam>(rows, 0, 9), "random");
  expect_solved(slow_general<TypeParam>(), "random without decay");
}

TYPED_TEST(BandLong, Periodic) {
  expect_solved(random_system<TypeParam>(rows, 0, 11, true), "periodic");
  expect_solved(random_system<TypeParam>(rows, 0.01, 12, true), "periodic, dominant");
}

}  // namespace
