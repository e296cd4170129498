// vouch/verify/pass.hpp -- passes of the verification over a matrix or vectors, on any device; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::detail {

/// Gives every row of A to body (rows.hpp). The bits do not depend on the number of threads.
template <class Body>
void for_rows(const device& dev, csr_view<const double> A, const Body& body);

/// body(i) for i below n (elements.hpp).
template <class Body>
void for_elements(const device& dev, std::int64_t n, const Body& body);

/// The largest body.value(i), 0 for none; NaN where there is one. Waits for the device.
template <class Body>
double largest(const device& dev, std::int64_t n, const Body& body);

// The same on a GPU.
template <class Body>
void for_rows_cuda(const device& dev, csr_view<const double> A, const Body& body);
template <class Body>
void for_elements_cuda(const device& dev, std::int64_t n, const Body& body);
template <class Body>
double largest_cuda(const device& dev, std::int64_t n, const Body& body);

}  // namespace vouch::detail
