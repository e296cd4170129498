// Long products of intervals that neither overflow nor underflow on the way.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/factor/approximate_factors.hpp>
#include <vouch/dense/rounded_sums.hpp>
#include <vouch/dense/small_systems.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/relations.hpp>

namespace vouch::detail {

/// An enclosure as value * 2^exponent, the magnitude of value near 1.
template <real T>
class scaled_product {
 public:
  /// By a bounded interval.
  void multiply(interval<T> factor) {
    normalise(factor);
    value_ *= factor;
    normalise(value_);
  }
  /// By a number that is finite and not 0.
  void divide(T divisor) {
    interval<T> by = divisor;
    exponent_ *= -1;
    normalise(by);
    exponent_ *= -1;
    value_ /= by;
    normalise(value_);
  }
  /// Unbounded beyond the largest number.
  interval<T> result() const {
    interval<T> x = value_;
    for (std::int64_t left = exponent_; left != 0;) {
      const std::int64_t step = std::clamp<std::int64_t>(left, -most, most);
      x *= std::ldexp(T{1}, static_cast<int>(step));
      left -= step;
    }
    return x;
  }

 private:
  static constexpr std::int64_t most = sizeof(T) == 8 ? 1000 : 120;

  // Moves a power of two into the exponent; what that makes subnormal is rounded outwards.
  void normalise(interval<T>& x) {
    const T size = mag(x);
    if (size == 0) return;
    const std::int64_t power = std::clamp<std::int64_t>(std::ilogb(size), -most, most);
    x *= std::ldexp(T{1}, static_cast<int>(-power));
    exponent_ += power;
  }

  interval<T> value_ = T{1};
  std::int64_t exponent_ = 0;
};

}  // namespace vouch::detail

namespace vouch {
namespace {

using namespace detail;

template <scalar E>
bound_of<E> middle(E e) {
  if constexpr (is_interval<E>)
    return mid(e);
  else
    return e;
}

template <scalar E>
void require_bounded(const char* routine, const char* what, matrix_view<const E> A) {
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i)
      if (!finite(A(i, j)))
        throw value_error(std::string(routine) + ": entry (" + std::to_string(i) + ", " + std::to_string(j) +
                          ") of " + what + " is no bounded interval");
}

template <scalar E>
matrix<double> midpoints_of(const device& dev, matrix_view<const E> A) {
  matrix<double> m(dev, A.rows, A.cols);
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) m(i, j) = double{middle(A(i, j))};
  return m;
}

// Any approximation will do: what overflows here is not verified later.
template <real T>
matrix<T> narrowed(const device& dev, const matrix<double>& A) {
  matrix<T> m(dev, A.rows(), A.cols());
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) m(i, j) = static_cast<T>(A(i, j));
  return m;
}

template <scalar E>
bool all_finite(const matrix<E>& A) {
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i)
      if (!finite(A(i, j))) return false;
  return true;
}

template <real T>
matrix<interval<T>> filled(const device& dev, std::int64_t rows, std::int64_t cols, interval<T> value) {
  matrix<interval<T>> all(dev, rows, cols);
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) all(i, j) = value;
  return all;
}

// R near the inverse: U^-1 L^-1 P.
matrix<double> approximate_inverse(const device& dev, const approximate_lu& lu) {
  const std::int64_t n = lu.factors.rows();
  const matrix<double> L = inverse_of_lower(dev, lu), U = inverse_of_upper(dev, lu);
  matrix<double> product(dev, n, n), R(dev, n, n);
  gemm<double, double, double>(dev, transpose::no, transpose::no, 1, U, L, 0, product);
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = 0; i < n; ++i) R(i, lu.rows[static_cast<std::size_t>(k)]) = product(i, k);
  return R;
}

// What enclose_solution works with: R, and C around I - R A.
template <scalar TA>
class krawczyk {
  using T = bound_of<TA>;
  using set = interval<T>;

 public:
  krawczyk(const device& dev, matrix_view<const TA> A, matrix<T> R)
      : dev_(dev), A_(A), R_(std::move(R)), C_(matrix<set>::zeros(dev, A.rows, A.rows)) {
    for (std::int64_t i = 0; i < A.rows; ++i) C_(i, i) = T{1};
    gemm<T, TA, set>(dev_, transpose::no, transpose::no, T{-1}, R_, A_, T{1}, C_);
  }

  // X around the differences of the solutions to X0; nothing where it does not contract.
  template <scalar TB>
  bool enclose(matrix_view<const TB> B, matrix<set>& solution) const {
    matrix<T> X0 = start(B);
    for (int step = 0; step < refinements; ++step) improve(X0, B);
    if (!all_finite(X0)) return false;
    const matrix<set> Z = corrections(residual(X0, B));
    matrix<set> X = Z.to(dev_);
    for (int step = 0; step < most_steps; ++step) {
      const matrix<set> Y = inflated(X);
      X = Z.to(dev_);
      gemm<set, set, set>(dev_, transpose::no, transpose::no, T{1}, C_, Y, T{1}, X);
      if (!inside(X, Y)) continue;
      for (std::int64_t j = 0; j < X.cols(); ++j)
        for (std::int64_t i = 0; i < X.rows(); ++i) X(i, j) += X0(i, j);
      solution = std::move(X);
      return all_finite(solution);
    }
    return false;
  }

 private:
  static constexpr int refinements = 2;
  static constexpr int most_steps = 15;
  static constexpr std::int64_t largest_exact = 4096;

  template <scalar TB>
  matrix<T> start(matrix_view<const TB> B) const {
    const matrix<T> middles = narrowed<T>(dev_, midpoints_of(dev_, B));
    matrix<T> X0(dev_, B.rows, B.cols);
    gemm<T, T, T>(dev_, transpose::no, transpose::no, T{1}, R_, middles, T{0}, X0);
    return X0;
  }

  template <scalar TB>
  void improve(matrix<T>& X0, matrix_view<const TB> B) const {
    const matrix<set> by = corrections(residual(X0, B));
    for (std::int64_t j = 0; j < X0.cols(); ++j)
      for (std::int64_t i = 0; i < X0.rows(); ++i)
        if (finite(by(i, j))) X0(i, j) += mid(by(i, j));
  }

  matrix<set> corrections(const matrix<set>& D) const {
    matrix<set> Z(dev_, D.rows(), D.cols());
    gemm<T, set, set>(dev_, transpose::no, transpose::no, T{1}, R_, D, T{0}, Z);
    return Z;
  }

  // Around B - A X0 for all points.
  template <scalar TB>
  matrix<set> residual(const matrix<T>& X0, matrix_view<const TB> B) const {
    matrix<set> D(dev_, B.rows, B.cols);
    if constexpr (!is_interval<TA> && !is_interval<TB>)
      if (B.rows * B.cols <= largest_exact) {
        for (std::int64_t j = 0; j < B.cols; ++j) exact_residual(X0, B, j, D);
        return D;
      }
    for (std::int64_t j = 0; j < B.cols; ++j)
      for (std::int64_t i = 0; i < B.rows; ++i) D(i, j) = B(i, j);
    gemm<TA, T, set>(dev_, transpose::no, transpose::no, T{-1}, A_, X0, T{1}, D);
    return D;
  }

  // b_i - a_i x as one scalar product, rounded once.
  void exact_residual(const matrix<T>& X0, matrix_view<const T> B, std::int64_t j, matrix<set>& D) const {
    const std::int64_t n = B.rows;
    std::vector<T> row(static_cast<std::size_t>(n + 1)), x(static_cast<std::size_t>(n + 1), T{1});
    for (std::int64_t k = 0; k < n; ++k) x[static_cast<std::size_t>(k)] = -X0(k, j);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = 0; k < n; ++k) row[static_cast<std::size_t>(k)] = A_(i, k);
      row.back() = B(i, j);
      const rounded<T> sum =
          rounded_dot(device::cpu(1), view<const T>(row.data(), n + 1), view<const T>(x.data(), n + 1));
      D(i, j) = set::unchecked(sum.down, sum.up);
    }
  }

  // Somewhat wider than X, and wider than a point everywhere.
  matrix<set> inflated(const matrix<set>& X) const {
    const set factor = set::unchecked(T(0.9), T(1.1));
    const T least = std::numeric_limits<T>::min();
    matrix<set> Y(dev_, X.rows(), X.cols());
    for (std::int64_t j = 0; j < X.cols(); ++j)
      for (std::int64_t i = 0; i < X.rows(); ++i) Y(i, j) = factor * X(i, j) + set::unchecked(-least, least);
    return Y;
  }

  static bool inside(const matrix<set>& X, const matrix<set>& Y) {
    for (std::int64_t j = 0; j < X.cols(); ++j)
      for (std::int64_t i = 0; i < X.rows(); ++i)
        if (!(Y(i, j).lo() < X(i, j).lo() && X(i, j).hi() < Y(i, j).hi())) return false;
    return true;
  }

  device dev_;
  matrix_view<const TA> A_;
  matrix<T> R_;
  matrix<set> C_;
};

template <scalar TA>
void check_matrix(const device& dev, const char* routine, matrix_view<const TA> A) {
  require_cpu(dev, routine);
  require_square(routine, "A", A);
  require_bounded(routine, "A", A);
}

template <scalar TA, scalar TB>
enclosed_matrix<bound_of<TA>> solve(const device& dev, matrix_view<const TA> A, matrix_view<const TB> B) {
  using T = bound_of<TA>;
  enclosed_matrix<T> answer;
  const approximate_lu lu = factorise(dev, midpoints_of(dev, A));
  answer.result = lu.singular ? proof::singular : proof::not_verified;
  if (!lu.singular) {
    matrix<T> R = narrowed<T>(dev, approximate_inverse(dev, lu));
    if (all_finite(R) && krawczyk<TA>(dev, A, std::move(R)).enclose(B, answer.enclosure)) {
      answer.result = proof::verified;
      return answer;
    }
  }
  answer.enclosure = filled(dev, B.rows, B.cols, interval<T>::entire());
  return answer;
}

// The product of the lengths of the rows, with both signs.
template <scalar TA>
interval<bound_of<TA>> hadamard(matrix_view<const TA> A) {
  using T = bound_of<TA>;
  scaled_product<T> product;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    T squares = 0;
    for (std::int64_t j = 0; j < A.cols; ++j) {
      const T size = largest_size(A(i, j));
      squares = fma_up(size, size, squares);
    }
    if (!finite(squares)) return interval<T>::entire();
    product.multiply(sqrt_up(squares));
  }
  const T most = product.result().hi();
  return interval<T>::unchecked(-most, most);
}

// The largest row sum of |M - I|, rounded upwards.
template <real T>
T distance_to_identity(const matrix<interval<T>>& M) {
  T largest = 0;
  for (std::int64_t i = 0; i < M.rows(); ++i) {
    T sum = 0;
    for (std::int64_t j = 0; j < M.cols(); ++j) {
      const T size = mag(i == j ? M(i, j) - T{1} : M(i, j));
      if (!(size <= std::numeric_limits<T>::max())) return rounding::infinity<T>;
      sum = add_up(sum, size);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

// Around X P A Y.
template <scalar TA>
matrix<interval<bound_of<TA>>> preconditioned(const device& dev, matrix_view<const TA> A,
                                              const std::vector<std::int64_t>& rows,
                                              const matrix<bound_of<TA>>& X, const matrix<bound_of<TA>>& Y) {
  using T = bound_of<TA>;
  using set = interval<T>;
  const std::int64_t n = A.rows;
  matrix<TA> PA(dev, n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) PA(i, j) = A(rows[static_cast<std::size_t>(i)], j);
  matrix<set> XPA(dev, n, n), M(dev, n, n);
  gemm<T, TA, set>(dev, transpose::no, transpose::no, T{1}, X, PA, T{0}, XPA);
  gemm<set, T, set>(dev, transpose::no, transpose::no, T{1}, XPA, Y, T{0}, M);
  return M;
}

}  // namespace

const char* name(proof result) {
  constexpr const char* names[] = {"verified", "singular to working precision", "not verified"};
  return names[static_cast<int>(result)];
}

template <scalar TA, scalar TB>
requires std::same_as<bound_of<TA>, bound_of<TB>> enclosed_matrix<bound_of<TA>> enclose_solution(
    const device& dev, matrix_view<const TA> A, matrix_view<const TB> B) {
  const ieee_environment here;
  check_matrix(dev, "enclose_solution", A);
  require_shape("enclose_solution", "B", B, A.rows, B.cols);
  require_bounded("enclose_solution", "B", B);
  if (B.cols > 0) return solve(dev, A, B);
  // Nothing to solve: a zero right-hand side proves that A is regular.
  const auto zero = matrix<TB>::zeros(dev, A.rows, 1);
  auto answer = solve<TA, TB>(dev, A, zero);
  answer.enclosure = matrix<interval<bound_of<TA>>>(dev, A.rows, 0);
  return answer;
}

template <scalar TA>
enclosed_matrix<bound_of<TA>> enclose_inverse(const device& dev, matrix_view<const TA> A) {
  const ieee_environment here;
  using T = bound_of<TA>;
  check_matrix(dev, "enclose_inverse", A);
  auto identity = matrix<T>::zeros(dev, A.rows, A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i) identity(i, i) = 1;
  return solve<TA, T>(dev, A, identity);
}

template <scalar TA>
enclosed_number<bound_of<TA>> enclose_determinant(const device& dev, matrix_view<const TA> A) {
  const ieee_environment here;
  using T = bound_of<TA>;
  check_matrix(dev, "enclose_determinant", A);
  const approximate_lu lu = factorise(dev, midpoints_of(dev, A));
  if (lu.singular) return {proof::singular, hadamard(A)};
  const matrix<T> X = narrowed<T>(dev, inverse_of_lower(dev, lu)),
                  Y = narrowed<T>(dev, inverse_of_upper(dev, lu));
  if (!all_finite(X) || !all_finite(Y)) return {proof::not_verified, hadamard(A)};
  const T distance = distance_to_identity(preconditioned(dev, A, lu.rows, X, Y));
  if (!(distance < 1)) return {proof::not_verified, hadamard(A)};
  scaled_product<T> product;
  product.multiply(lu.odd ? T{-1} : T{1});
  for (std::int64_t i = 0; i < A.rows; ++i) {
    product.multiply(interval<T>::unchecked(sub_down(T{1}, distance), add_up(T{1}, distance)));
    product.divide(X(i, i));
    product.divide(Y(i, i));
  }
  return {proof::verified, product.result()};
}

#define VOUCH_SMALL_SOLUTION(TA, TB)                                                                         \
  template VOUCH_PUBLIC enclosed_matrix<bound_of<TA>> enclose_solution(const device&, matrix_view<const TA>, \
                                                                       matrix_view<const TB>);
#define VOUCH_SMALL_MATRIX(TA)                                                                               \
  template VOUCH_PUBLIC enclosed_matrix<bound_of<TA>> enclose_inverse(const device&, matrix_view<const TA>); \
  template VOUCH_PUBLIC enclosed_number<bound_of<TA>> enclose_determinant(const device&, matrix_view<const TA>);
#define VOUCH_SMALL_SYSTEMS(T)                   \
  VOUCH_SMALL_SOLUTION(T, T)                     \
  VOUCH_SMALL_SOLUTION(T, interval<T>)           \
  VOUCH_SMALL_SOLUTION(interval<T>, T)           \
  VOUCH_SMALL_SOLUTION(interval<T>, interval<T>) \
  VOUCH_SMALL_MATRIX(T)                          \
  VOUCH_SMALL_MATRIX(interval<T>)

VOUCH_SMALL_SYSTEMS(float)
VOUCH_SMALL_SYSTEMS(double)

}  // namespace vouch
