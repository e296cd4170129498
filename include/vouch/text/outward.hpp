// vouch/text/outward.hpp -- bounds as decimal numbers that are bounds themselves.
#pragma once
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

enum class text_side { nearest, below, above };

/// Writes a decimal number that reads back as value and, as it stands there, is at most (below) or at least
/// (above) the value; nearest is print_number(). Returns its end. to has room for number_width bytes.
///
/// Result  The shortest text that reads back, where that is on the side; else 17 digits or a few more.
/// Cost    About a microsecond.
char* print_number(char* to, double value, text_side side);

}  // namespace vouch
