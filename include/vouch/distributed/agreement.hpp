// vouch/distributed/agreement.hpp -- what only some ranks meet is thrown by all of them.
#pragma once
#include <functional>

#include <vouch/core/visibility.hpp>
#include <vouch/distributed/communicator.hpp>

namespace VOUCH_PUBLIC vouch {

/// Every rank does its work, which calls no function of ranks; where one throws, all throw what the first of them did.
///
/// Result  The work's exceptions as value_error, cancelled, or, of files and memory, file_error; with "rank 2: " in front
///         where not all ranks threw the same.
/// Cost    One all_gather() of a number.
void agree(communicator& ranks, const std::function<void()>& work);

/// Throws value_error where not all ranks have the same bytes: "rank 2 has other WHAT than rank 0".
void require_same(communicator& ranks, const void* data, std::int64_t bytes, const char* what,
                  const char* hint);

}  // namespace vouch
