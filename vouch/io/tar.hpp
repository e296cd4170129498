// vouch/io/tar.hpp -- the matrix of a tar archive, as the SuiteSparse collection packs it; private.
#pragma once
#include <string_view>

#include <vouch/text/file.hpp>

namespace vouch {

/// Bytes of a member's header; a file is known by its first.
inline constexpr std::size_t tar_block = 512;

/// Whether a file that starts so is a tar archive.
bool is_tar(std::string_view start);

/// Narrows an archive at its start to the member NAME + suffix, with whatever ending, where NAME is its folder or
/// the archive's own name. (NAME/NAME.mtx is a matrix of SuiteSparse's, NAME/NAME_b.mtx its right-hand side.)
///
/// Throws  parse_error  there is none, the text names what there is; the archive is broken
/// Source  IEEE Std 1003.1-2017, pax: ustar and pax interchange formats; long names as GNU tar writes them.
void enter_tar(input_file& archive, std::string_view suffix);

}  // namespace vouch
