// vouch/verify/prove.hpp -- the certificate that a matrix admits.
#pragma once
#include <memory>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace VOUCH_PUBLIC vouch {

/// Tries what can prove A nonsingular, the cheapest first: H-matrix; positive definite, for symmetric A with a
/// positive diagonal; sparse inverse, for factors that are not too large; approximate inverse, where there is
/// memory for it.
///
/// Memory  A lives on the first device and must outlive the result unchanged. facts are those of A. Several GPUs share
///         an approximate inverse, nothing else.
/// Result  nullptr where nothing proves it; reason then says what was tried, in one line. facts that are not
///         those of A make proofs fail, never false.
/// Throws  value_error  a radius that is negative or not finite
std::unique_ptr<certificate> prove_nonsingular(const device_group& devices, csr_view<const double> A,
                                               const structure_facts& facts, const uncertainty& within,
                                               std::string& reason);

/// The first two only: what is cheap beside an inverse.
std::unique_ptr<certificate> prove_by_structure(const device& dev, csr_view<const double> A,
                                                const structure_facts& facts, const uncertainty& within,
                                                std::string& reason);

/// The same for a dense matrix, by an approximate inverse.
std::unique_ptr<certificate> prove_nonsingular(const device_group& devices, matrix_view<const double> A,
                                               const uncertainty& within, std::string& reason);

}  // namespace vouch
