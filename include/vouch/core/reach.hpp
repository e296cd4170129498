// vouch/core/reach.hpp -- whether a device can work on what a pointer points to.
#pragma once
#include <vouch/core/device.hpp>

namespace vouch {

/// On the CPU true of anything but a GPU's memory, on a GPU of its own, of pinned and of managed memory. Asks
/// CUDA only where it is in use.
bool reachable(const device& dev, const void* p);

}  // namespace vouch
