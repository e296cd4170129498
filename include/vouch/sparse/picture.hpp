// vouch/sparse/picture.hpp -- the pattern of a sparse matrix as text and as SVG.
#pragma once
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

enum class picture_style {
  braille,  // 2 by 4 dots a character, set where there is an entry
  shades,   // blocks from light to full by the density of entries
  ascii     // . : + # @ by density
};

/// The pattern in lines of at most `width` characters, framed, each line ended by \n; UTF-8, for ascii pure
/// ASCII. Small matrices take one dot or character an entry.
///
/// Memory  A lives on the CPU.
/// Types   T is float or double; stored zeros count as entries.
/// Result  The same for any number of threads. Height follows rows/cols, but is at most three times the width.
/// Cost    One pass over the columns.
/// Throws  value_error  width below 3
template <real T>
std::string pattern_text(const device& dev, csr_view<const T> A, picture_style style, int width);

/// The pattern as one self-contained SVG document of at most 256 by 256 cells, darker where entries are denser,
/// with a caption: rows, columns, entries.
/// Memory, Types, Result, Cost as for pattern_text.
template <real T>
std::string pattern_svg(const device& dev, csr_view<const T> A, const std::string& title);

}  // namespace vouch
