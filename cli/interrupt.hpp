// cli/interrupt.hpp -- signals as a request to finish early, and an end soon whatever happens.
#pragma once
#include <vouch/core/cancellation.hpp>

namespace vouch::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP makes the request that is returned. What has not ended a
/// third of a second later, or when a second one comes, is ended on the spot with 128 + the signal's number,
/// and no unfinished file is left behind. Writing beyond a limit and into a closed pipe are errors, no signals.
const cancellation& catch_interrupts();

/// Number of the signal that came, 0 for none.
int interrupt_signal();

/// The request has been heard by what has results to write and is taken back: the end waits for them, or for a
/// second signal.
void finish_in_peace();

/// For monitors: whether to go on. A solver that hears of a signal returns what it has, which is worth waiting for.
bool goes_on();

}  // namespace vouch::cli
