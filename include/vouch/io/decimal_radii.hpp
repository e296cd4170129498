// vouch/io/decimal_radii.hpp -- how far the numbers of files are from the doubles read for them.
#pragma once
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// A bound for each entry of the matrix that read_matrix() gives; entries that are doubles as they are written
/// have none; in .npy files these are all but integers beyond 2^53.
///
/// Memory  The result lives on the CPU.
/// Throws  as read_matrix(); value_error  an entry that stands in the file twice, whose sum is rounded
csr<double> read_matrix_radii(const device& cpu, const std::string& path);

/// The same for the vectors that read_vectors() gives.
vectors read_vector_radii(const device& cpu, const std::string& path);

}  // namespace vouch
