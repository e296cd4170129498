// vouch/dense/blas/checks.hpp -- what BLAS levels 2 and 3 require of their arguments; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas/columns.hpp>
#include <vouch/dense/factor/triangular_solve.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>

namespace vouch::detail {

inline void require_cpu(const device& dev, const char* routine) {
  if (dev.is_cuda())
    throw value_error(std::string(routine) + ": there is no GPU code for these operands",
                      "copy them to the CPU: a.to(device::cpu())");
}

template <class T>
void require_matrix(const char* routine, const char* name, matrix_view<T> A) {
  if (A.rows < 0 || A.cols < 0)
    throw value_error(std::string(routine) + ": " + name + " has the size " + shape_text(A.rows, A.cols));
  if (A.ld < std::max<std::int64_t>(1, A.rows))
    throw value_error(std::string(routine) + ": " + name + " has " + std::to_string(A.rows) +
                      " rows and the leading dimension " + std::to_string(A.ld));
}

/// A matrix of m rows and n columns.
template <class T>
void require_shape(const char* routine, const char* name, matrix_view<T> A, std::int64_t m, std::int64_t n) {
  require_matrix(routine, name, A);
  if (A.rows != m || A.cols != n)
    throw shape_error(std::string(routine) + ": " + name + " is " + shape_text(A.rows, A.cols) + ", not " +
                      shape_text(m, n));
}

template <class T>
void require_square(const char* routine, const char* name, matrix_view<T> A) {
  require_matrix(routine, name, A);
  if (A.rows != A.cols)
    throw shape_error(std::string(routine) + ": " + name + " is " + shape_text(A.rows, A.cols) +
                      ", not square");
}

/// Whether two blocks share an entry. Blocks of one matrix (the same ld) are told apart exactly, others by the
/// memory they span.
template <class X, class Y>
bool overlap(matrix_view<X> a, matrix_view<Y> b) {
  if (a.rows == 0 || a.cols == 0 || b.rows == 0 || b.cols == 0) return false;
  const auto* a_first = reinterpret_cast<const char*>(a.data);
  const auto* b_first = reinterpret_cast<const char*>(b.data);
  const auto* a_last = reinterpret_cast<const char*>(&a(a.rows - 1, a.cols - 1) + 1);
  const auto* b_last = reinterpret_cast<const char*>(&b(b.rows - 1, b.cols - 1) + 1);
  const std::less<const char*> before;
  if (!before(a_first, b_last) || !before(b_first, a_last)) return false;
  if (sizeof(X) != sizeof(Y) || a.ld != b.ld) return true;
  // b begins `down` rows and `right` columns after a, where 0 <= down < ld.
  const std::int64_t distance = (b_first - a_first) / static_cast<std::int64_t>(sizeof(X));
  const std::int64_t down = (distance % a.ld + a.ld) % a.ld;
  const std::int64_t right = (distance - down) / a.ld;
  const auto columns_meet = [&](std::int64_t shift) { return shift < a.cols && -shift < b.cols; };
  return (down < a.rows && columns_meet(right)) || (a.ld - down < b.rows && columns_meet(right + 1));
}

template <class X, class Y>
void require_apart(const char* routine, const char* written, matrix_view<X> a, const char* other,
                   matrix_view<Y> b) {
  if (overlap(a, b))
    throw value_error(std::string(routine) + ": " + written + " overlaps " + other, "copy one of them first");
}

/// A vector as a matrix of one row or column: its leading dimension is that of the matrix whose row it is, or
/// that of `other` where it is a column. One of stride 0 is a single element.
template <class T>
matrix_view<T> as_matrix(view<T> x, std::int64_t other) {
  const std::int64_t size = x.stride() == 0 ? std::min<std::int64_t>(x.size(), 1) : x.size();
  if (x.stride() == 1 || size < 2) return {x.data(), size, 1, std::max(size, other)};
  T* const lowest = x.stride() < 0 ? &x[size - 1] : x.data();
  return {lowest, 1, size, std::abs(x.stride())};
}

/// Elements to write have places of their own.
template <class T>
void require_stride(const char* routine, const char* written, view<T> x) {
  if (x.stride() == 0 && x.size() > 1)
    throw value_error(std::string(routine) + ": " + written + " has the stride 0");
}

template <class X, class Y>
void require_apart(const char* routine, const char* written, view<X> a, const char* other, matrix_view<Y> b) {
  require_stride(routine, written, a);
  require_apart(routine, written, as_matrix(a, b.ld), other, b);
}
template <class X, class Y>
void require_apart(const char* routine, const char* written, matrix_view<X> a, const char* other, view<Y> b) {
  require_apart(routine, written, a, other, as_matrix(b, a.ld));
}
template <class X, class Y>
void require_apart(const char* routine, const char* written, view<X> a, const char* other, view<Y> b) {
  require_stride(routine, written, a);
  const std::int64_t ld = std::max(std::abs(a.stride()), std::abs(b.stride()));
  require_apart(routine, written, as_matrix(a, ld), other, as_matrix(b, ld));
}

template <class T>
const void* memory_of(matrix_view<T> A) {
  return A.rows > 0 && A.cols > 0 ? A.data : nullptr;
}
template <class T>
const void* memory_of(view<T> x) {
  return x.size() > 0 ? x.data() : nullptr;
}
template <class T>
const void* memory_of(columns<T> A) {
  return A.rows > 0 && A.cols > 0 ? A.data : nullptr;
}

/// All operands lie where dev works.
template <class... Operands>
void require_reachable(const device& dev, const char* routine, const Operands&... operands) {
  if (!(is_accessible(dev, memory_of(operands)) && ...))
    throw value_error(std::string(routine) + ": an operand does not lie on " +
                          (dev.is_cuda() ? "GPU " + std::to_string(dev.index()) : "the CPU"),
                      "copy it there first: a.to(device)");
}

/// No diagonal element of a triangle that is to be divided by holds 0. On a GPU this waits for the device.
template <class T>
void require_divisors(const device& dev, const char* routine, columns<const T> A) {
  std::int64_t zero = -1;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) zero = first_zero_divisor_cuda(dev, A);
  for (std::int64_t j = 0; !dev.is_cuda() && zero < 0 && j < A.cols; ++j)
    if (holds_zero(A(j, j))) zero = j;
  if (zero >= 0)
    throw value_error(std::string(routine) + ": the diagonal element (" + std::to_string(zero) + ", " +
                      std::to_string(zero) + ") " + (real<T> ? "is 0" : "holds 0"));
}

}  // namespace vouch::detail
