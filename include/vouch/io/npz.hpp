// vouch/io/npz.hpp -- NumPy's file format for several arrays: a zip archive of .npy files.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/io/npy.hpp>

namespace VOUCH_PUBLIC vouch {

struct npz_array {
  std::string name;  // of the member, without .npy
  npy_array array;
};

/// Whether a file that starts so is a zip archive.
bool is_zip(std::string_view start);

/// Reads the arrays of an .npz file that have one of the names, or all where there are none, as numpy.savez and
/// numpy.savez_compressed write them. Other members may be what they like.
///
/// Types   Members that are stored or deflated, of archives beyond 4 GiB too; elements as read_vectors takes
///         them, but NaN and infinity are let through.
/// Memory  The arrays, and one member's bytes at a time.
/// Throws  file_error   missing, unreadable, or no regular file
///         parse_error  broken, encrypted or otherwise compressed; a checksum that differs; the text names the
///                      member
/// Source  APPNOTE.TXT, the zip format; numpy.lib.format.
std::vector<npz_array> read_npz(const std::string& path, std::span<const std::string_view> names = {});

}  // namespace vouch
