// vouch/solve/driver/operand.hpp -- the matrix of a solver in every form that a method may want; private.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/csr32.hpp>
#include <vouch/sparse/structure.hpp>

namespace vouch {

/// Whether what lives on one serves the other as it is.
inline bool is_same_place(const device& a, const device& b) { return a == b || (!a.is_cuda() && !b.is_cuda()); }

/// A tridiagonal matrix by its three diagonals of n elements; the first of dl and the last of du are 0.
template <real T>
struct diagonals {
  array<T> dl, d, du;

  diagonals to(const device& dev) const { return {dl.to(dev), d.to(dev), du.to(dev)}; }
};

/// A matrix as it was given, and copies in other forms and places, each made when it is first asked for.
class operand {
 public:
  /// Memory  A lives on home and must outlive the object.
  operand(const device& home, csr_view<const double> A);
  operand(const device& home, const csr32_view<const double>& A);
  operand(const device& home, matrix_view<const double> A, bool by_rows);
  operand(const device& home, const linear_operator<double>& A);
  operand(const device& home, const tridiagonal_view<const double>& A);

  const device& home() const { return home_; }
  /// The CPU that does what belongs to no method: home where that is one.
  const device& cpu() const { return cpu_; }
  void take_cpu(int threads) {
    if (home_.is_cuda()) cpu_ = device::cpu(threads);
  }
  matrix_form form() const { return facts_.form; }
  const system_facts& facts() const { return facts_; }
  std::int64_t rows() const { return facts_.matrix.rows; }
  std::int64_t cols() const { return facts_.matrix.cols; }
  /// The work of eliminating it in a sparse form, predicted by its pattern or that of A + A^T, of complex numbers where
  /// the factors are, where it is not square by what a library for QR says; infinite where the factors are not worth
  /// their memory.
  double elimination_work();
  /// Takes a sparse matrix of the same pattern in place of the one that was given, which is still there.
  ///
  /// Throws  value_error  it has another pattern, or the operand is no sparse matrix with wide offsets
  void renew(csr_view<const double> A);
  /// Finds what the plan should know besides: the cost of elimination, a library for dense factors.
  void complete_facts(const solve_options& options);

  /// On dev: as it was given where it lives there, else a copy, of which one a form and place is made.
  csr_view<const double> sparse(const device& dev) const;
  matrix_view<const double> dense(const device& dev) const;
  /// Likewise the matrices of a batch, where the form is tridiagonal.
  tridiagonal_view<const double> bands(const device& dev) const;
  const tridiagonal_facts& band_facts() const { return band_facts_; }
  /// Bytes of the matrix that a GPU holds already.
  std::int64_t bytes_on(const device& dev) const;
  /// The action of what is matrix-free.
  const linear_operator<double>& action() const { return *action_; }

 private:
  void look_through();  // a sparse matrix
  elimination_cost predict_square(csr_view<const double> A);

  device home_, cpu_;
  system_facts facts_;
  array<std::int64_t> offsets_;  // of a matrix that was given with shorter ones
  csr_view<const double> given_;
  matrix_view<const double> given_dense_;
  const linear_operator<double>* action_ = nullptr;
  tridiagonal_view<const double> given_bands_;
  tridiagonal_facts band_facts_;
  mutable std::optional<csr<double>> sparse_, sparse_there_;   // on the CPU, on a GPU that is not home
  mutable std::optional<matrix<double>> dense_, dense_there_;  // likewise, by columns
  mutable std::optional<diagonals<double>> bands_;             // on a device that is not home
};

/// Those of A, which lives on the CPU, rounded to T.
template <real T>
diagonals<T> diagonals_of(const device& cpu, csr_view<const double> A) {
  diagonals<T> of{array<T>::zeros(cpu, A.rows), array<T>::zeros(cpu, A.rows), array<T>::zeros(cpu, A.rows)};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = A.col[k];
      (j < i ? of.dl : j == i ? of.d : of.du)[i] = static_cast<T>(A.val[k]);
    }
  return of;
}

}  // namespace vouch
