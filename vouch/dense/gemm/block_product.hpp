// vouch/dense/gemm/block_product.hpp -- the one engine of BLAS level 3: sums of products of matrices in any form;
// private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/dense/blas/columns.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/dense/types.hpp>

namespace vouch::detail {

/// How the stored entries make a matrix.
enum class shape { general, symmetric, triangular };

/// A factor of a product: op(A) for a stored A that is general, symmetric or triangular with one triangle read.
template <scalar T>
struct factor {
  matrix_view<const T> A;
  bool transposed = false;
  shape form = shape::general;
  triangle stored = triangle::lower;
  diagonal unit = diagonal::general;

  VOUCH_HOST_DEVICE std::int64_t rows() const { return transposed ? A.cols : A.rows; }
  VOUCH_HOST_DEVICE std::int64_t cols() const { return transposed ? A.rows : A.cols; }
  /// The triangle of op(A) that is stored is the lower one.
  VOUCH_HOST_DEVICE bool is_lower() const { return (stored == triangle::lower) != transposed; }

  /// Entry (i, j) of op(A) is no number that takes part, but the 0 of a triangular matrix.
  VOUCH_HOST_DEVICE bool is_outside(std::int64_t i, std::int64_t j) const {
    return form == shape::triangular && (is_lower() ? i < j : i > j);
  }

  /// Entry (i, j) of op(A).
  VOUCH_HOST_DEVICE T operator()(std::int64_t i, std::int64_t j) const {
    const T& direct = transposed ? A(j, i) : A(i, j);
    if (form == shape::general) return direct;
    const bool in_triangle = is_lower() ? i > j : i < j;
    if (i == j) return form == shape::triangular && unit == diagonal::unit ? T{bound_of<T>{1}} : direct;
    if (in_triangle) return direct;
    if (form == shape::triangular) return T{};
    return transposed ? A(i, j) : A(j, i);
  }
};

/// Rows and columns of op(A) that touch nothing but its stored triangle.
template <scalar T>
factor<T> general_part(const factor<T>& f, range rows, range cols) {
  const auto A = f.transposed ? f.A.block(cols.first, rows.first, cols.size(), rows.size())
                              : f.A.block(rows.first, cols.first, rows.size(), cols.size());
  return {A, f.transposed};
}

/// The diagonal block of a triangular or symmetric factor.
template <scalar T>
factor<T> diagonal_part(const factor<T>& f, range at) {
  factor<T> part = f;
  part.A = f.A.block(at.first, at.first, at.size(), at.size());
  return part;
}

/// One term of the sum. With several terms all have the same outer sizes.
template <scalar A, scalar B>
struct factors {
  factor<A> left;
  factor<B> right;
};

/// Which entries of C are written.
enum class region { all, lower, upper };

/// C := alpha (sum of left right) + beta C.
///
/// Memory  On dev.
/// Result  Each entry of the sum is a chain of multiply_add from 0, term after term, over the inner index
///         upwards; then one multiply_add with alpha onto beta C. The order does not depend on blocking,
///         threads or processor. beta = 0 overwrites C. On a GPU intervals are added up by gemm_tight_cuda, the
///         terms one after the other, but for small triangular blocks.
/// Cost    Blocks of C are formed by one thread each, from packed blocks of the factors that fit the cache.
template <scalar R, scalar A, scalar B>
requires accumulates<R, A, B>
void add_products(const device& dev, R alpha, const std::vector<factors<A, B>>& terms, R beta, matrix_view<R> C,
                  region written);

/// x := beta x, where beta = 0 overwrites.
template <scalar R>
void scale_column(R beta, std::int64_t n, R* x);

/// c := alpha sums + beta c, where beta = 0 overwrites.
template <scalar R>
void finish_column(R alpha, const R* sums, R beta, std::int64_t n, R* c);

}  // namespace vouch::detail

// BLAS level 3 on a GPU; private, called after the checks.

namespace vouch::detail {

template <scalar R, scalar A, scalar B>
void add_products_cuda(const device& dev, R alpha, const std::vector<factors<A, B>>& terms, R beta,
                       matrix_view<R> C, region written);

/// C := alpha S + beta C for the entries written.
template <scalar R>
void combine_cuda(const device& dev, R alpha, matrix_view<const R> S, R beta, matrix_view<R> C, region written);

/// The diagonal of C := alpha op(A) op(A)^T + beta C from squares, old being C's before; as on the CPU.
template <scalar TA, scalar TC>
void square_diagonal_cuda(const device& dev, bool transposed, TC alpha, matrix_view<const TA> A, TC beta,
                          view<const TC> old, matrix_view<TC> C);

/// B := alpha op(A)^-1 B for a triangular factor: halves, the products between them by add_products_cuda, and
/// blocks of 64 by substitution.
template <scalar TA, scalar R>
void solve_left_cuda(const device& dev, const factor<TA>& f, R alpha, matrix_view<R> B);

/// B := A for matrices of one shape.
template <scalar T>
void copy_matrix_cuda(const device& dev, matrix_view<const T> A, matrix_view<T> B);

}  // namespace vouch::detail
