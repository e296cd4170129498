// vouch/io/read_as.hpp -- what a reader makes of a number in a file; private.
#pragma once

namespace vouch {

enum class read_as {
  double_nearest,
  radius  // how far the number is from that double
};

}  // namespace vouch
