// vouch/solve/precond/amg/complex_amg.hpp -- multigrid for complex matrices that are not Hermitian; private.
#pragma once
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::multigrid {

/// Whether A is the real form of a complex matrix that is not Hermitian.
template <real T>
bool is_complex_not_hermitian(const device& dev, csr_view<const T> A);

/// The hierarchy of a real matrix with half as many rows, applied to real and imaginary parts alike: off the diagonal
/// are the moduli of A's entries, positive where the entry points as the mean of the two diagonal entries does and
/// negative elsewhere; rows have the modulus of A's row sum as their sum, and no diagonal entry is less than the modulus
/// of A's.
template <real T>
std::unique_ptr<amg<T>> make_complex_amg(const device& dev, csr_view<const T> A, const amg_options& options);

/// Whether that hierarchy is near a complex A on the CPU: in all but one of twenty rows entries cancel each other by no more
/// than phases of 90 degrees apart do, and the row's sum does not point against the diagonal, as that of waves does.
template <real T>
bool has_aligned_numbers(const device& cpu, csr_view<const T> A);

}  // namespace vouch::multigrid
