// tests/solve/complex_systems.hpp -- Eigen's complex matrices as ours.
#pragma once
#include <complex>
#include <cstdint>
#include <vector>

#include <Eigen/Dense>

#include <vouch/sparse/coo.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::testing {

/// Its elements other than zero.
inline csr<std::complex<double>> sparse(const Eigen::MatrixXcd& A) {
  std::vector<std::int32_t> row, col;
  std::vector<std::complex<double>> val;
  for (int i = 0; i < A.rows(); ++i)
    for (int j = 0; j < A.cols(); ++j)
      if (A(i, j) != 0.0) {
        row.push_back(i);
        col.push_back(j);
        val.push_back(A(i, j));
      }
  const device host = device::cpu(1);
  return to_csr(
      host, complex_coo{A.rows(), A.cols(), symmetry::general, array<std::int32_t>::from(host, row),
                        array<std::int32_t>::from(host, col), array<std::complex<double>>::from(host, val)});
}

}  // namespace vouch::testing
