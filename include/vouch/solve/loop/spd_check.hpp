// vouch/solve/loop/spd_check.hpp -- the preflight of methods that need a symmetric matrix, positive definite or not.
#pragma once
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/structure.hpp>

namespace VOUCH_PUBLIC vouch {

/// Why a matrix with these facts is not symmetric, naming the entry; "" where it is.
std::string not_symmetric_reason(const structure_facts& facts);

/// Why a matrix with these facts cannot be symmetric positive definite, naming the entry; "" where it can be.
/// Rows and columns are named from 1, as files count them.
std::string not_spd_reason(const structure_facts& facts);

/// Throws value_error with that reason.
///
/// Memory  A lives on dev; from a GPU it is copied to the host for the check.
/// Cost    One or two passes over A.
template <real T>
void check_spd(const device& dev, csr_view<const T> A);

/// Throws value_error where A is not symmetric; the rest as for check_spd.
template <real T>
void check_symmetric(const device& dev, csr_view<const T> A);

}  // namespace vouch
