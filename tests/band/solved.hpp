// tests/band/solved.hpp -- one tridiagonal system solved on a device.
#pragma once
#include <vector>

#include <vouch/band/solve.hpp>

#include "band/on_device.hpp"

namespace vouch::testing {

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

}  // namespace vouch::testing
