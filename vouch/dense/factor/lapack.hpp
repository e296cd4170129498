// vouch/dense/factor/lapack.hpp -- the few routines of LAPACK that solvers use, from a library found when first
// needed; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace vouch::lapack {

/// Whether a LAPACK is there; name() is its file, "" where there is none. What use_lapack() of
/// vouch/dense/lapack_routines.hpp gave comes first, then OpenBLAS.
bool present();
VOUCH_PUBLIC const char* name();  // the tool prints it
/// Whether its threads are ours to choose: routines that were given take their own number.
bool chooses_threads();

/// Up to so many rows one thread works, some 30 ms at most, so that bits do not depend on how many there are.
constexpr std::int64_t rows_for_one_thread = 1024;
/// How many threads work on n rows.
int threads_for(const device& cpu, std::int64_t n);

/// P A = L U in place, columns of ld elements, pivots as LAPACK has them. Returns 0, or k where U(k,k) is zero
/// (from 1).
///
/// Memory  A lives on the CPU; pivots has n elements.
/// Throws  value_error  there is no LAPACK, or n is beyond 32-bit indices
template <real T>
std::int64_t getrf(const device& cpu, std::int64_t n, T* A, std::int64_t ld, int* pivots);
/// x := A^-1 x, or A^-T x where transposed, with the factors of getrf.
template <real T>
void getrs(const device& cpu, bool transposed, std::int64_t n, const T* A, std::int64_t ld, const int* pivots,
           T* x);
/// A = L L^T in the lower triangle; 0, or k where the leading k-by-k part is not positive definite.
template <real T>
std::int64_t potrf(const device& cpu, std::int64_t n, T* A, std::int64_t ld);
template <real T>
void potrs(const device& cpu, std::int64_t n, const T* A, std::int64_t ld, T* x);
/// Eigenvalues of the symmetric A, whose lower triangle is read, in rising order; column k becomes the vector of the
/// k-th. Returns 0, or a positive number where they were not found.
std::int64_t syevd(const device& cpu, std::int64_t n, double* A, std::int64_t ld, double* eigenvalues);

}  // namespace vouch::lapack
