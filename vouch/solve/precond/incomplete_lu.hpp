// vouch/solve/precond/incomplete_lu.hpp -- what incomplete factorisations L U have in common: the matrix made ready,
// pivots that are looked at, factors that are tried; private, on the CPU.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/solve/precond/elimination.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// B = R P A Q C: rows and columns of A as they are eliminated, scaled by powers of two.
struct scaled_rows {
  sparse_rows rows;                   // of B, columns ascending, the diagonal always stored
  elimination order;                  // Q: column k of B is column order.order[k] of A
  std::vector<std::int32_t> sources;  // P: row k of B is row sources[k] of A; empty where that is Q's
  std::vector<int> row_exponent;      // R, by rows of B: b_kj = 2^(row_exponent[k] + column_exponent[j]) a
  std::vector<int> column_exponent;
  bool matched = false;  // P is a matching of largest product
};

/// When rows come in the order of the matching of largest product, with its scales: `where_weak`: where a diagonal entry is
/// zero or one in a hundred is less than 1e-3 of both the largest of its row and that of its column.
enum class matching_use { where_weak, always };

/// Scales A so that no row and no column has entries far from 1.
///
/// Throws  value_error  an entry that is NaN or infinite, a matrix that is singular whatever its values; `who` begins the
///                      text, which names a row
template <real T>
scaled_rows scale_and_match(csr_view<const T> A, matching_use use, int threads, const std::string& who);

/// Rows and columns in another order of elimination.
void reorder(scaled_rows& B, elimination order);

/// The pattern of B + B^T with ones.
sparse_rows symmetric_pattern(const sparse_rows& B);

/// An order that a function of matrices finds for B + B^T, whose values are ones.
template <class Find>
auto order_by_symmetric_pattern(const sparse_rows& B, const Find& find) {
  const sparse_rows sum = symmetric_pattern(B);
  return find(csr_view<const double>{sum.rows(), sum.rows(), sum.nonzeros(), sum.row_ptr.data(), sum.col.data(),
                                     sum.val.data()});
}

/// Rows and columns in the reverse Cuthill-McKee order of B + B^T, which leaves less to drop.
void reorder_for_bandwidth(scaled_rows& B);

/// Whether A is the real form of complex numbers, not all of them real.
template <real T>
bool has_imaginary_parts(const device& cpu, csr_view<const T> A);

/// The row of A, from 1, that is row k of B.
std::int64_t row_of_matrix(const scaled_rows& B, std::int64_t k);

/// Throws  value_error  that the pivot of row k of B is too small, this part of the largest in its row; with advice
[[noreturn]] void throw_small_pivot(const std::string& who, const scaled_rows& B, std::int64_t k, double pivot);

/// The factors of B as those of A.
///
/// Throws  value_error  the factors are of no use: (L D U)^-1 makes ones of B's scale larger than 1e14
factored_matrix unscaled(const std::string& who, scaled_rows B, unit_factor factor);

/// "ilu0 (rows matched, 12 levels)": what was done besides, in brackets.
std::string with_remarks(const std::string& name, const std::vector<std::string>& remarks);

}  // namespace vouch
