// vouch/io/matrix_market_cuda.hpp -- coordinate files parsed by a GPU; private, defined only in CUDA builds.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/io/matrix_market.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

/// The matrix whose entries stand in a coordinate file with random access from byte `body` on, on gpu.
///
/// Memory  On the GPU, beside the result, the text and 40 bytes an entry, 80 where entries stand for two.
/// Result  As read_csr on a CPU, bit by bit. Nothing where a line is not of the plain form: the CPU knows what
///         to make of it.
/// Throws  out_of_memory, device_error
std::optional<csr<double>> read_coordinates_cuda(const device& gpu, const input_file& file, std::int64_t body,
                                                 const matrix_market_header& header);

}  // namespace vouch
