// vouch/band/factored/factored_storage.hpp -- what a factored tridiagonal matrix keeps; private.
#pragma once
#include <vector>

#include <vouch/band/factored.hpp>
#include <vouch/band/workspace.hpp>

namespace vouch {

/// Numbers lie at shape.at(matrix, row); shape.n is less than the rows of the matrix where coefficients are
/// constant and the last stored row repeats.
template <real T>
struct factored_tridiagonal<T>::storage {
  enum class form {
    plain,   // lower, inverse, upper
    again,   // dl, d and du of the matrix itself; every solve eliminates anew
    pivoted  // and after, swapped: lower is the multiplier, upper and after belong to the next two unknowns
  };
  device dev = device::cpu(1);
  form how = form::plain;
  std::int64_t rows = 0;  // of the longest matrix that is eliminated: without the last unknown if periodic
  batch_shape shape;
  std::vector<std::int64_t> offsets;  // what shape.offsets points to
  array<T> lower, inverse, upper, after;
  array<unsigned char> swapped;
  // Periodic: border holds B^-1 v, the influence of the last unknown on the others, corner the numbers
  // w_first, w_last, 1 / (d - w B^-1 v) of every matrix.
  array<T> border, corner;
  bool symmetric = false;  // every matrix: lower[i] is upper[i-1] inverse[i] / inverse[i-1]
  bool bounded = false;    // no element of lower and upper exceeds 1 in magnitude
  bool periodic = false;   // of `again`
  std::shared_ptr<tridiagonal_workspace> workspace = std::make_shared<tridiagonal_workspace>();  // on a GPU
  std::shared_ptr<array<T>>
      exchange_buffer;     // on a GPU, where blocks exchange what couples them: zeros at first
  std::int64_t decay = 0;  // decay_rows(dropped<T>)

  factor_view<T> view() const { return {lower.data(), inverse.data(), upper.data(), shape}; }
  tridiagonal_view<const T> matrices() const {
    return {lower.data(), inverse.data(), upper.data(), shape, periodic};
  }
  bool constant() const { return shape.n < rows; }
};

namespace detail {

/// Couplings below this part of the whole are dropped.
template <real T>
constexpr double dropped = sizeof(T) == sizeof(double) ? 0x1p-57 : 0x1p-28;

/// Eliminates every matrix of A, which lives on the CPU as everything in kept does; fills all of kept but dev.
template <real T>
void factor(const device& dev, const tridiagonal_view<const T>& A,
            typename factored_tridiagonal<T>::storage& kept, factor_report& report);

/// factored_tridiagonal::decay_rows for factors on the CPU.
template <real T>
std::int64_t decay_of(const factor_view<T>& factors, std::int64_t rows, double bound);

/// x may be b. Shapes are checked.
template <real T>
void solve_factored_cpu(const device& dev, const typename factored_tridiagonal<T>::storage& kept, bool periodic,
                        const batch_view<const T>& b, const batch_view<T>& x);

}  // namespace detail
}  // namespace vouch
