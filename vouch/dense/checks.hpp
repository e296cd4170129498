// vouch/dense/checks.hpp -- what BLAS levels 2 and 3 require of their arguments; private.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/dense/columns.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/interval/canary.hpp>

namespace vouch::detail {

/// On the CPU, in a state in which directed rounding works.
inline void require_cpu(const device& dev, const char* routine) {
  if (dev.is_cuda())
    throw value_error(std::string(routine) + ": there is no GPU code for these operands",
                      "copy them to the CPU: a.to(device::cpu())");
  require_ieee_environment();
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

/// No diagonal element of a triangle that is to be divided by holds 0.
template <scalar T>
void require_divisors(const char* routine, columns<const T> A) {
  for (std::int64_t j = 0; j < A.cols; ++j)
    if (holds_zero(A(j, j)))
      throw value_error(std::string(routine) + ": the diagonal element (" + std::to_string(j) + ", " +
                        std::to_string(j) + ") " + (is_interval<T> ? "holds 0" : "is 0"));
}

}  // namespace vouch::detail
