// vouch/sparse/csr.hpp -- compressed sparse rows: the form in which every sparse operation takes its matrix.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/array.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A CSR matrix that somebody else owns. Row i holds entries row_ptr[i] to row_ptr[i+1]-1 of col and val,
/// columns ascending, each at most once. Offsets are 64-bit, columns 32-bit, both from 0. On a GPU col and val
/// begin on 16-byte boundaries, as every array does. Operations look first whether all this is so, once a call,
/// and throw value_error where it is not: valid_csr.hpp.
template <class T>
struct csr_view {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;  // stored entries, explicit zeros included: row_ptr[rows]
  const std::int64_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;
  T* val = nullptr;

  /// A view of mutable values is one of constant values.
  template <class Constant>
  requires(std::same_as<Constant, const T> && !std::is_const_v<T>) operator csr_view<Constant>() const {
    return {rows, cols, nonzeros, row_ptr, col, val};
  }
};

namespace detail {
[[noreturn]] void refuse_arrays(std::int64_t rows, std::int64_t offsets, std::int64_t columns,
                                std::int64_t values);
}

/// An owning CSR matrix on one device. row_ptr has rows + 1 elements, col and val nonzeros each.
template <class T>
struct csr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  array<std::int64_t> row_ptr;
  array<std::int32_t> col;
  array<T> val;

  std::int64_t nonzeros() const { return val.size(); }
  const device& where() const { return row_ptr.where(); }
  /// Throws  shape_error  arrays of other sizes
  csr_view<const T> all() const {
    if (row_ptr.size() != rows + 1 || col.size() != val.size())
      detail::refuse_arrays(rows, row_ptr.size(), col.size(), val.size());
    return {rows, cols, nonzeros(), row_ptr.data(), col.data(), val.data()};
  }
  operator csr_view<const T>() const { return all(); }
  /// A copy on dev.
  csr to(const device& dev) const { return {rows, cols, row_ptr.to(dev), col.to(dev), val.to(dev)}; }
};

/// An owning copy on `to` of a matrix that lives on `from`.
template <real T>
csr<T> copy(const device& to, const device& from, csr_view<const T> A);

/// The same matrix with its values rounded to T; A lives on the CPU.
template <real T, real From>
csr<T> convert_values(const device& dev, csr_view<const From> A);

}  // namespace vouch
