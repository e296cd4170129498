// vouch/core/int128.hpp -- the integers of 128 bits that g++ and clang have.
#pragma once
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

}  // namespace vouch
