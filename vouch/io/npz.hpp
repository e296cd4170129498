// vouch/io/npz.hpp -- NumPy's file format for several arrays: a zip archive of .npy files; private.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/io/npy.hpp>

namespace vouch {

struct npz_array {
  std::string name;  // of the member, without .npy
  npy_array array;
};

/// Whether a file that starts so is a zip archive.
bool is_zip(std::string_view start);

/// Reads the arrays of an .npz file that have one of the names, or all where no names are given, as numpy.savez and
/// numpy.savez_compressed write them. Members of other names may be what they like; a name without a member is left out.
///
/// Types   Members that are stored or deflated, of archives beyond 4 GiB too; real numbers of the types that read_vectors()
///         takes, NaN and infinity among them.
/// Memory  The arrays, and the bytes of all the members that are read.
/// Throws  file_error   missing or unreadable
///         parse_error  a pipe or a compressed file; broken, encrypted or otherwise compressed; a checksum that differs;
///                      no numbers of such a type; the text names the member where it is one's fault
/// Source  APPNOTE.TXT, the zip format; numpy.lib.format.
std::vector<npz_array> read_npz(const std::string& path, std::span<const std::string_view> names = {});

}  // namespace vouch
