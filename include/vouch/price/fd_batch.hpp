// vouch/price/fd_batch.hpp -- many options by finite differences, each on a grid of its own.
#pragma once
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/batch.hpp>

namespace VOUCH_PUBLIC vouch {

/// values[i] := price, delta, gamma and theta of options[i] by Rannacher's scheme on a logarithmic grid.
///
/// Shapes  As many values as options; nodes is 256, 512 or 1024 on a GPU, at least 16 on the CPU; steps >= 4.
/// Types   Vanilla options without barrier, European or American (not exercised between two boundaries), with
///         positive spot, strike, volatility and expiry.
/// Memory  Options and values on the host. On a GPU a warp has one option; on the CPU a thread.
/// Result  As finite_difference_price on this grid without extrapolation, to rounding; but a GPU's grid has the
///         strike where no underlying gets to it, too. Early exercise by an exact parallel form of Brennan and
///         Schwartz's method. The same bits on every run.
/// Throws  shape_error; value_error  an option or size that it does not take
void finite_difference_batch(const device& dev, std::span<const batch_option> options, std::int64_t nodes,
                             std::int64_t steps, std::span<valuation> values);

/// The same by a group, whose GPUs take blocks of up to 4,096 options: the bits of one GPU.
///
/// Throws  as above; cancelled
void finite_difference_batch(const device_group& devices, std::span<const batch_option> options,
                             std::int64_t nodes, std::int64_t steps, std::span<valuation> values);

namespace detail {

/// Equal steps of a batch; the pieces of make_segments as parts of the expiry.
struct batch_piece {
  double length = 0;  // of a step, as a part of the expiry
  std::int64_t steps = 0;
  bool damped = false;  // its first two steps are four half steps
};
inline constexpr int most_batch_pieces = 8;
struct batch_pieces {
  int count = 0;
  batch_piece piece[most_batch_pieces];
};
batch_pieces pieces_of(bool american, std::int64_t steps);

void finite_difference_batch_cuda(const device& dev, std::span<const batch_option> options, std::int64_t nodes,
                                  std::int64_t steps, std::span<valuation> values);
}  // namespace detail

}  // namespace vouch
