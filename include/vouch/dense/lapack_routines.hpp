// vouch/dense/lapack_routines.hpp -- LAPACK of the program that the library is part of, in place of a file's.
#pragma once
#include <functional>
#include <string>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Whether dense systems can be factorised on the CPU: use_lapack() was called, or libopenblas.so.0 or liblapack.so.3 is
/// found.
bool has_lapack();

/// Routines for dense factorisations in place of those files', as those that SciPy has inside; without this call the files
/// are looked for.
///
/// Types   address_of("dgetrf_") is asked for each of ?getrf_, ?getrs_ and ?potrf_, ?potrs_ of both precisions, and for
///         dsyevd_: Fortran's interface with 32-bit integers, or nullptr. Addresses are valid as long as the process.
/// Result  They take as many threads as they would anyway, so that bits of large factors may depend on how many there
///         are; the last call counts.
void use_lapack(const std::string& name, const std::function<void*(const char* routine)>& address_of);

}  // namespace vouch
