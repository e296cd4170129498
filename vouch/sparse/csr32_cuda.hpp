// vouch/sparse/csr32_cuda.hpp -- offsets on a GPU; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>

namespace vouch::detail {

/// to[i] := from[i], enqueued on dev.
void widen_cuda(const device& dev, const std::int32_t* from, std::int64_t count, std::int64_t* to);

}  // namespace vouch::detail
