// vouch/sparse/coo.hpp -- triplets (row, column, value) in any order: how files and generators give a matrix.
#pragma once
#include <complex>
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// What the stored triplets stand for.
enum class symmetry { general, symmetric, skew_symmetric, hermitian };

/// Triplets on the CPU, indices from 0. But for general ones only one triangle is stored; each entry off the diagonal
/// stands for two.
template <class T>
struct triplets {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  symmetry stored_as = symmetry::general;
  array<std::int32_t> row;
  array<std::int32_t> col;
  array<T> val;
};
using coo = triplets<double>;
using complex_coo = triplets<std::complex<double>>;

/// CSR from triplets: both triangles written out, columns sorted, duplicates summed.
///
/// Result  Duplicates are added in the order of the triplets, so the bits depend on nothing else: not on
///         the number of threads.
/// Cost    O(nonzeros), and O(k log k) for a row of k entries that come unsorted; 16 bytes an entry besides the
///         result, none for a general matrix that comes sorted by rows and columns, nor for one triangle that comes
///         sorted by rows or by columns, each place once. Triplets that are given away and sorted are not copied: their
///         columns and values become the matrix's.
/// Throws  value_error  an index out of range (the text names the triplet)
csr<double> to_csr(const device& dev, const coo& A);
csr<double> to_csr(const device& dev, coo&& A);
csr<std::complex<double>> to_csr(const device& dev, const complex_coo& A);
csr<std::complex<double>> to_csr(const device& dev, complex_coo&& A);

}  // namespace vouch
