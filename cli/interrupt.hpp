// cli/interrupt.hpp -- Ctrl-C as a request to finish early.
#pragma once

namespace vouch::cli {

/// From now on the first SIGINT or SIGTERM only leaves a note; the second one kills, with no
/// unfinished file left behind.
void catch_interrupts();

/// Number of the signal that came, 0 for none.
int interrupt_signal();

}  // namespace vouch::cli
