// vouch/text/file_upload.hpp -- the bytes of a file to a GPU's memory; private, defined only in CUDA builds.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

/// Copies bytes of a file with random access, from offset on, to `to` on gpu; they are there on return.
///
/// Memory  34 MB of pinned memory, taken at the first call and kept for the next; one call at a time uses it.
/// Cost    Bound by the bus: up to eight threads copy from the page cache.
/// Throws  file_error    what input_file throws, also where the file has become shorter
///         device_error  no pinned memory, a failing copy
void upload(const device& gpu, const input_file& file, std::int64_t offset, std::int64_t bytes, char* to);

}  // namespace vouch
