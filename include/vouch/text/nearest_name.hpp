// vouch/text/nearest_name.hpp -- what was meant by a name that is none.
#pragma once
#include <span>
#include <string_view>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// The name closest to what was typed, or "" where none is close enough to be what was meant.
///
/// Result  The smallest number of insertions, deletions, replacements and swaps of neighbours, at most one for
///         every three letters; a name that starts with what was typed also counts.
std::string_view nearest_name(std::string_view typed, std::span<const std::string_view> names);

}  // namespace vouch
