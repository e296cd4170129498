// bench/system_of_ones.hpp -- a system on a device, for any method.
#pragma once
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::bench {

/// A x = (1, ..., 1) in precision T on a device, of a matrix on the CPU; x is zero.
template <real T>
struct system_of_ones {
  csr<T> A;
  array<T> b, x;

  system_of_ones(const device& dev, const csr<double>& from)
      : A(convert_values<T>(device::cpu(), from.all()).to(dev)),
        b(array<T>::from(dev, std::vector<T>(static_cast<std::size_t>(from.rows), T{1}))),
        x(array<T>::zeros(dev, from.rows)) {}
};

}  // namespace vouch::bench
