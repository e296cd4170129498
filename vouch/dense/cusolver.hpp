// vouch/dense/cusolver.hpp -- factorisations of dense matrices on a GPU by cuSOLVER, a library found when first
// needed; private.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>

namespace vouch::cusolver {

/// Whether cuSOLVER is there; name() is its file, "" where it is not. Looks for it, which takes a while.
bool present();
const std::string& name();

enum class kind { lu, cholesky };

/// The factors of a square matrix, LU with partial pivoting or L L^T of the lower triangle.
///
/// Memory  Everything lives on dev, a GPU. The matrix handed over, columns of n elements, is overwritten.
/// Result  The same bits on every run with one cuSOLVER.
/// Throws  no_cuda_error  there is no cuSOLVER
///         device_error   it refuses
template <real T>
class factors {
 public:
  factors(const device& dev, kind which, std::int64_t n, array<T> matrix);

  /// 0, or where the factorisation ended (from 1): U(k,k) is zero, the leading k rows are not positive
  /// definite.
  std::int64_t failed() const { return failed_; }
  /// x := A^-1 x, or A^-T x where transposed.
  void solve(bool transposed, T* x);

 private:
  void factorise();

  device dev_;
  kind kind_;
  std::int64_t n_;
  array<T> matrix_;
  std::shared_ptr<void> handle_;
  array<std::int64_t> pivots_;
  array<int> info_;
  std::int64_t failed_ = 0;
};

}  // namespace vouch::cusolver
