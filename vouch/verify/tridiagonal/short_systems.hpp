// vouch/verify/tridiagonal/short_systems.hpp -- proof and bounds of short systems, each read once; private, GPU only.
#pragma once
#include <cstdint>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/device.hpp>
#include <vouch/verify/tridiagonal/row_certificate.hpp>
#include <vouch/verify/tridiagonal/row_passes.hpp>

namespace vouch::detail {

/// A batch of systems of at most `most_rows` rows each, contiguous in b, x and radius or, without offsets,
/// stored in any other way.
struct short_systems {
  tridiagonal_view<const double>
      A;  // one for all systems: a stride of 0 between them; offsets live on the device
  batch_shape vectors;
  const double* b;
  const double* x;
  row_certificate certificate;
  double* radius;
  double* ratio;  // of each system; infinite: nothing is proved of it

  static constexpr std::int64_t most_rows = 2048;

  static bool serves(const batch_shape& vectors) {
    return vectors.n <= most_rows && (vectors.row_stride == 1 || vectors.offsets == nullptr);
  }
  /// Tiles of long interleaved systems are narrow: memory transfers more than they use.
  static bool passes_prove_dominance_faster(const batch_shape& vectors) {
    return vectors.n > 1024 && vectors.row_stride != 1;
  }
};

/// What was found of all systems.
struct proof_totals {
  ratio_totals ratios;
  radius_totals radii;
  bool factored = false;  // some systems, the comparison matrix proves nothing of them
};

/// Bounds every system by v = e, by v from its comparison matrix or, unless it is periodic, by factors. Waits
/// for the device.
///
/// Result  Without factors, ratios.proves is false where they would be needed, and what was found is of no use.
/// Cost    Reads A, b and x once and writes radius. Systems that need factors are read twice, though most are
///         recognised by their first rows; hard ones three times.
proof_totals prove_short_systems_cuda(const device& dev, const short_systems& task, bool with_factors);

}  // namespace vouch::detail
