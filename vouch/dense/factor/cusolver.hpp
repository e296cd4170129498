// vouch/dense/factor/cusolver.hpp -- factorisations of dense matrices on a GPU by cuSOLVER, a library found when first
// needed; its one owner; private.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/dense/matrix.hpp>

namespace vouch::cusolver {

/// Whether cuSOLVER is there; name() is its file, "" where it is not. Looks for it, which takes a while.
bool present();
const std::string& name();

enum class kind { lu, cholesky };

struct handle_of_gpu;

/// The factors of a square matrix, LU with partial pivoting or L L^T of the lower triangle. All factors on a
/// GPU share its handle, made once for the process: making one takes longer than most factorisations.
///
/// Memory  Everything lives on dev, a GPU. The matrix handed over is overwritten.
/// Result  The same bits on every run with one cuSOLVER, which promises no bound. Waits for the GPU.
/// Throws  no_cuda_error  there is no cuSOLVER
///         device_error   it refuses
template <real T>
class factors {
 public:
  factors(const device& dev, kind which, matrix<T> A);

  /// 0, or where the factorisation ended (from 1): U(k,k) is zero, the leading k rows are not positive
  /// definite.
  std::int64_t failed() const { return failed_; }
  /// X := A^-1 X, or A^-T X where transposed; X is n-by-columns, its leading dimension n. A single column goes
  /// through our own triangular solves, which wait for less.
  void solve(bool transposed, std::int64_t columns, T* X);

 private:
  void factorise();
  void solve_column(bool transposed, T* x);

  device dev_;
  kind kind_;
  std::int64_t n_;
  matrix<T> matrix_;
  array<std::int64_t> pivots_;
  array<std::int64_t> order_;  // of the rows after all interchanges, for LU
  array<int> info_;
  handle_of_gpu& handle_;
  std::int64_t failed_ = 0;
};

}  // namespace vouch::cusolver
