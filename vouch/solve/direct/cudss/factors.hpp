// vouch/solve/direct/cudss/factors.hpp -- sparse matrices factorised on a GPU by cuDSS; private.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::cudss {

/// L L^T of symmetric positive definite matrices, L D L^T of symmetric ones, LU of square ones.
enum class kind { cholesky, ldlt, lu };

struct handle_of_gpu;

/// What a factorisation found.
struct statistics {
  double entries = 0;          // of the factors
  double flops = 0;            // of the factorisation; 0: not known
  std::int64_t perturbed = 0;  // pivots that were too small, and others taken in their place
  std::optional<inertia> signs{};
};

/// The factors of a square matrix with sorted rows; of a symmetric one its upper triangle is read.
///
/// Memory  Everything lives on dev, a GPU. A is copied: cuDSS wants it in one place for all factorisations. Where factors
///         do not fit they are kept in host memory in part.
/// Result  The same bits on every run with one cuDSS and kind of GPU, in its deterministic mode, unless
///         in_host_memory(). It promises no bound, and calls a success what may be none. Waits for the GPU.
/// Throws  no_cuda_error  there is no cuDSS
///         out_of_memory  said before the factorisation where cuDSS predicts it
///         value_error    it does not take the matrix
///         cancelled      the end was asked for while it analysed or factorised
template <real T>
class factors {
 public:
  /// Orders A on so many CPU threads, which takes longer than all else, and factorises it.
  factors(const device& dev, kind which, csr_view<const T> A, int threads);
  ~factors();
  factors(const factors&) = delete;
  factors& operator=(const factors&) = delete;

  /// Factorises a matrix of the same pattern in the order that was found.
  void factorise(csr_view<const T> A);
  /// 0, or where a Cholesky factorisation ended, from 1 in cuDSS's order.
  std::int64_t failed() const { return failed_; }
  const statistics& found() const { return found_; }
  bool in_host_memory() const { return hybrid_; }
  /// x := A^-1 b; n elements each, which do not overlap.
  void solve(const T* b, T* x);

 private:
  class objects;

  void analyse(int threads);
  void run(int phase, const char* what, const T* b, T* x);
  void read_facts();

  device dev_;
  kind kind_;
  csr<T> A_;
  bool interchanges_;  // of L D L^T, as Bunch and Kaufman's; else within blocks of the diagonal
  array<T> unused_;    // stands for right-hand side and solution where there are none
  handle_of_gpu& handle_;
  std::unique_ptr<objects> all_;
  std::int64_t failed_ = 0;
  bool hybrid_ = false, factorised_ = false;
  double bytes_ = 0;  // that it predicts
  statistics found_;
};

}  // namespace vouch::cudss
