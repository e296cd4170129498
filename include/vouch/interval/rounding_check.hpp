// vouch/interval/rounding_check.hpp -- checks whether a processor rounds as the bounds need it.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Evaluates every directed operation, for float and double, on operands whose results are known: rounding in
/// both directions, subnormal results and overflow. For the start of a program or of a device's use.
///
/// Cost    Below a microsecond on the CPU; one launch on a GPU.
/// Throws  value_error   an operation gives another result; the text names it
///         device_error  the launch failed
void check_directed_rounding(const device& dev);

}  // namespace vouch
