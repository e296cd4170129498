// vouch/verify/batch_pass.hpp -- passes of the verification over the rows of a batch; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// The largest body.value(s, i) of every system (tridiagonal_rows.hpp), 0 for no rows, NaN where there is one.
///
/// Memory  most lives on dev and has a number for every system; offsets of shape live on dev as well. host is
///         the shape with offsets in host memory.
template <class Body>
void largest_of_systems(const device& dev, const batch_shape& host, const batch_shape& shape, const Body& body,
                        array<double>& most);

/// body(k) for k below count: one thread each.
template <class Body>
void for_systems(const device& dev, std::int64_t count, const Body& body);

template <class Body>
void largest_of_systems_cuda(const device& dev, const batch_shape& host, const batch_shape& shape,
                             const Body& body, array<double>& most);
template <class Body>
void for_systems_cuda(const device& dev, std::int64_t count, const Body& body);

}  // namespace vouch::detail

// X(body) for passes with a value.
#define VOUCH_VERIFY_BATCH_PASSES(X) \
  X(tridiagonal_ratio_body)          \
  X(tridiagonal_radius_body)         \
  X(row_weight_body)                 \
  X(batch_size_body)                 \
  X(tridiagonal_comparison_body)     \
  X(batch_improve_body)
