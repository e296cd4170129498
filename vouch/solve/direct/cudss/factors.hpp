// vouch/solve/direct/cudss/factors.hpp -- sparse matrices factorised on a GPU by cuDSS; private.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/direct/complex_form.hpp>
#include <vouch/solve/loop/report.hpp>

namespace vouch::cudss {

/// L L^H of Hermitian positive definite matrices, L D L^H of Hermitian ones, L D L^T of symmetric ones, LU of square
/// ones. Real matrices that are symmetric are Hermitian, too.
enum class kind { cholesky, ldlh, ldlt, lu };

/// How factors are made and used.
struct working {
  int threads = 1;        // of the CPU, which orders the matrix: that takes longer than all else
  bool same_bits = true;  // on every run; then columns are solved for one after another, some times as slowly
};

struct handle_of_gpu;

/// What a factorisation found.
struct statistics {
  double entries = 0;          // of the factors
  double flops = 0;            // of the factorisation; 0: not known
  std::int64_t perturbed = 0;  // pivots that were too small, and others taken in their place
  std::optional<inertia> signs{};
};

/// The factors of a square matrix with sorted rows; of symmetric and Hermitian ones the upper triangle is read.
///
/// Memory  Everything lives on dev, a GPU. The matrix is kept: cuDSS wants it in one place for all factorisations. Where
///         factors do not fit they are kept in host memory in part.
/// Result  The same bits on every run with one cuDSS and kind of GPU where repeats() says so: in its deterministic mode,
///         which takes no host memory and one column at a time. It promises no bound, and calls a success what may be
///         none. Waits for the GPU.
/// Throws  no_cuda_error  there is no cuDSS
///         out_of_memory  said before the factorisation where cuDSS predicts it
///         value_error    it does not take the matrix
///         cancelled      the end was asked for while it analysed or factorised
template <real T>
class factors {
 public:
  /// Orders A and factorises it.
  factors(const device& dev, kind which, number_matrix<T> A, const working& how);
  ~factors();
  factors(const factors&) = delete;
  factors& operator=(const factors&) = delete;

  const number_matrix<T>& matrix() const { return A_; }
  /// Those of the matrix, to be written before refactorise(), which takes the order that was found.
  T* values() { return A_.val.data(); }
  void refactorise();
  /// 0, or where a Cholesky factorisation ended, from 1 in cuDSS's order.
  std::int64_t failed() const { return failed_; }
  const statistics& found() const { return found_; }
  bool in_host_memory() const { return hybrid_; }
  bool repeats() const { return how_.same_bits && !hybrid_; }
  /// x := A^-1 b for columns one after another, which do not overlap.
  void solve(std::int64_t columns, const T* b, T* x);

 private:
  class objects;

  void make();
  void analyse();
  void factorise(int phase);
  void run(int phase, const char* what, std::int64_t columns, const T* b, T* x);
  void read_facts();

  device dev_;
  kind kind_;
  working how_;
  number_matrix<T> A_;
  bool interchanges_;  // of L D L^T, as Bunch and Kaufman's; else within blocks of the diagonal
  array<T> unused_;    // stands for right-hand side and solution where there are none
  handle_of_gpu& handle_;
  std::unique_ptr<objects> all_;
  std::int64_t failed_ = 0;
  bool hybrid_ = false;
  double bytes_ = 0;  // that it predicts; 0: not yet
  statistics found_;
};

}  // namespace vouch::cudss
