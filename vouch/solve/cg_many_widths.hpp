// vouch/solve/cg_many_widths.hpp -- how many columns go through the loop together; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>

namespace vouch {

/// Columns of the block that comes next where `columns` (from 1 to 8) are to be solved: 8, 4, 2 or 1, the last
/// meaning one by itself. A block may be wider than the columns left.
///
/// Result  The first of the widths whose iterations together take the least time by a stored model: the bytes
///         moved and an iteration's fixed cost. Depends on the sizes and the kind of device alone.
int many_width(const device& dev, std::int64_t rows, std::int64_t nonzeros, std::size_t value_bytes,
               int columns);

}  // namespace vouch
