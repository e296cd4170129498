// vouch/fingerprint/verify.hpp -- classes that rounding within a network could not have changed.
#pragma once
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/networks.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

/// Evaluates transform and network in intervals of double precision. proved[i] := 1 where the enclosure of the output
/// of patterns[i] lies above those of all others, else 0.
///
/// Shapes  n * 1680 registered averages; n patterns from 0 to 5; n flags
/// Result  1 is a proof that exact arithmetic on these averages and weights gives this pattern; 0 proves nothing.
/// Cost    About 2 ms a print for 128 features and nodes; 20 ms for 24,300 prototypes of 64
/// Throws  shape_error  also where a matrix does not fit the one before it
///         value_error  a pattern is none; as evaluate()
///         error        the build has no MPFR
void prove(const device& dev, const mlp& network, std::span<const float> averages,
           std::span<const int> patterns, std::span<std::uint8_t> proved);
void prove(const device& dev, const pnn& network, std::span<const float> averages,
           std::span<const int> patterns, std::span<std::uint8_t> proved);

}  // namespace fingerprint
}  // namespace vouch
