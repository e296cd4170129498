// vouch/solve/direct/complex_form.hpp -- complex matrices as libraries that have complex numbers take them; private.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// A square matrix in CSR, with T or where `complex` says so with complex numbers of T as values: real and imaginary
/// parts in turns, two of them for one element of col.
template <real T>
struct number_matrix {
  std::int64_t rows = 0;
  bool complex = false;
  array<std::int64_t> row_ptr;
  array<std::int32_t> col;
  array<T> val;

  std::int64_t nonzeros() const { return col.size(); }
  /// Elements of a vector.
  std::int64_t length() const { return complex ? 2 * rows : rows; }
};

/// The complex matrix whose real form (vouch/solve/complex.hpp) A is, with half the rows; vectors are the same memory
/// for both. Nothing where A is no such form, or that of a matrix without imaginary parts.
///
/// Cost  Three passes over A on the CPU, to which and from which a GPU's matrix is copied.
template <real T>
std::optional<number_matrix<T>> find_complex_form(const device& dev, csr_view<const T> A);

}  // namespace vouch
