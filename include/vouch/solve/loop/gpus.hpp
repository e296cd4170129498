// vouch/solve/loop/gpus.hpp -- the GPUs of a host that share a solve, by name.
#pragma once
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// So many GPUs share a solve at most.
inline constexpr int most_gpus = 8;

/// "all": the GPUs of this host that are of the kind of the first, up to most_gpus; or numbers, "0,1".
///
/// Throws  value_error    what is no number, a GPU named twice, too many of them
///         no_cuda_error  "all", and there is none
std::vector<int> gpus_named(std::string_view list);

/// Throws  value_error  a GPU twice, or too many of them
void check_gpus(const std::vector<int>& gpus);

}  // namespace vouch
