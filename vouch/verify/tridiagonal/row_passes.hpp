// vouch/verify/tridiagonal/row_passes.hpp -- passes of the verification over the rows of a batch; private.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/verify/tridiagonal/row_certificate.hpp>

namespace vouch::detail {

/// What a pass finds of all rows.
struct ratio_totals {
  double ratio = 0;                              // the largest; infinite where nothing is proved of a row
  double weight = 0, v = 0, least_u = HUGE_VAL;  // about: the largest and the smallest
  bool other = false;                            // some row is not that of its comparison matrix
  bool proves = true;                            // v proves something of every row
};
struct radius_totals {
  double relative = 0, absolute = 0;  // the largest
};

/// Certifies every row. Waits for the device.
///
/// Memory  ratio lives on dev and becomes the largest ratio of every system. The offsets of the body's shapes
///         live on dev as well; host is the shape of the vectors with offsets in host memory.
/// Result  Once a row refutes v and body.until_refuted, proves is false and all else is of no use but `other`,
///         which may be false where it should be true.
ratio_totals certify(const device& dev, const batch_shape& host, const tridiagonal_ratio_body& body,
                     array<double>& ratio);
radius_totals certify(const device& dev, const batch_shape& host, const tridiagonal_radius_body& body);

/// body(s, i) for every row i of every system s, in any order.
template <class Body>
void for_rows_of_systems(const device& dev, const batch_shape& host, const batch_shape& shape,
                         const Body& body);

/// body(k) for k below count: one thread each.
template <class Body>
void for_systems(const device& dev, std::int64_t count, const Body& body);

// The same on a GPU.
ratio_totals certify_cuda(const device& dev, const batch_shape& host, const tridiagonal_ratio_body& body,
                          array<double>& ratio);
radius_totals certify_cuda(const device& dev, const batch_shape& host, const tridiagonal_radius_body& body);
template <class Body>
void for_rows_of_systems_cuda(const device& dev, const batch_shape& host, const batch_shape& shape,
                              const Body& body);
template <class Body>
void for_systems_cuda(const device& dev, std::int64_t count, const Body& body);

}  // namespace vouch::detail

// X(body) for passes over rows.
#define VOUCH_VERIFY_BATCH_PASSES(X) \
  X(tridiagonal_comparison_body)     \
  X(batch_improve_body)
