// tests/band/on_device.hpp -- tridiagonal systems put on a device and taken apart again.
#pragma once
#include <gtest/gtest.h>

#include <vector>

#include <vouch/band/tridiagonal.hpp>

#include "band/systems.hpp"

namespace vouch::testing {

using reals = ::testing::Types<float, double>;

/// What an array of a batch holds of one of its systems; the batch begins behind `shift` numbers.
template <class T>
std::vector<T> rows_of(const std::vector<T>& all, const batch_shape& shape, std::int64_t s,
                       std::int64_t shift = 0) {
  std::vector<T> one;
  for (std::int64_t i = 0; i < shape.rows(s); ++i)
    one.push_back(all[static_cast<std::size_t>(shift + shape.at(s, i))]);
  return one;
}

/// One system of a batch.
template <class T>
band_system<T> system_of(const band_system<T>& all, const batch_shape& shape, std::int64_t s,
                         std::int64_t shift = 0) {
  return {rows_of(all.dl, shape, s, shift), rows_of(all.d, shape, s, shift), rows_of(all.du, shape, s, shift),
          rows_of(all.b, shape, s, shift), all.periodic};
}

/// NaN wherever a system that is not periodic has no coupling.
template <class T>
void poison(band_system<T>& all, const batch_shape& shape, std::int64_t shift = 0) {
  for (std::int64_t s = 0; s < shape.systems; ++s)
    if (shape.rows(s) > 0)
      all.dl[static_cast<std::size_t>(shift + shape.at(s, 0))] =
          all.du[static_cast<std::size_t>(shift + shape.at(s, shape.rows(s) - 1))] =
              std::numeric_limits<T>::quiet_NaN();
}

/// The diagonals, b and x of systems on one device, which lie as shape says behind `shift` numbers.
template <class T>
struct on_device {
  array<T> dl, d, du, b, x;
  tridiagonal_view<const T> A;
  batch_view<const T> rhs;
  batch_view<T> to;

  on_device(const device& dev, const band_system<T>& s, const batch_shape& shape, std::int64_t shift = 0)
      : dl(array<T>::from(dev, s.dl)),
        d(array<T>::from(dev, s.d)),
        du(array<T>::from(dev, s.du)),
        b(array<T>::from(dev, s.b)),
        x(array<T>::zeros(dev, s.n())),
        A{dl.data() + shift, d.data() + shift, du.data() + shift, shape, s.periodic},
        rhs{b.data() + shift, shape},
        to{x.data() + shift, shape} {}
};

}  // namespace vouch::testing
