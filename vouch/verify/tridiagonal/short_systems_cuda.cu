#include <algorithm>
#include <memory>

#include <vouch/core/scratch.cuh>
#include <vouch/verify/tridiagonal/short_systems.cuh>

namespace vouch::detail {
namespace {

// Pinned memory in which the device leaves its counters for a thread of the host; kept for its next call.
proof_counters* pinned_counters() {
  struct give_back {
    void operator()(proof_counters* memory) const { cudaFreeHost(memory); }
  };
  thread_local std::unique_ptr<proof_counters, give_back> kept;
  if (kept == nullptr) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(proof_counters), cudaHostAllocMapped | cudaHostAllocPortable),
          "allocating pinned memory");
    kept.reset(static_cast<proof_counters*>(memory));
  }
  return kept.get();
}

void prove_remaining(const device& dev, const short_systems& task, worklists lists, std::int64_t count) {
  if (quick_factors_apply(task)) {
    if (task.vectors.row_stride != 1)
      prove_by_quick_factors_tiled(dev, task, lists);
    else
      prove_by_quick_factors(dev, task, lists, count);
    dev.synchronize();
    count = static_cast<std::int64_t>(lists.host->hard);
    lists.remaining = lists.marginal;
  }
  if (count == 0) return;
  prove_by_factors(dev, task, lists, count);
  dev.synchronize();
}

}  // namespace

proof_totals prove_short_systems_cuda(const device& dev, const short_systems& task, bool with_factors) {
  const std::int64_t systems = task.vectors.systems;
  if (systems == 0) return {};
  constexpr std::int64_t words = sizeof(proof_counters) / sizeof(std::int64_t);
  const scratch<std::int64_t> memory(dev, words + 2 * systems);
  const worklists lists{memory.data() + words, memory.data() + words + systems,
                        reinterpret_cast<proof_counters*>(memory.data()), pinned_counters()};
  zero_bytes(dev, lists.all, sizeof(proof_counters));
  const bool in_tiles = task.vectors.row_stride != 1;
  (in_tiles ? prove_by_comparison_tiled : prove_by_comparison)(dev, task, lists);
  dev.synchronize();
  if (const auto count = static_cast<std::int64_t>(lists.host->marginal); count > 0) {
    (in_tiles ? prove_marginal_tiled : prove_marginal)(dev, task, lists, count);
    dev.synchronize();
  }
  const auto remaining = static_cast<std::int64_t>(lists.host->remaining);
  if (remaining > 0 && with_factors && !task.A.periodic) {
    prove_remaining(dev, task, lists, remaining);
  } else if (remaining > 0) {
    lists.host->ratios.flags |= 2u;
  }
  const proof_counters& found = *lists.host;
  return {as_ratios(found.ratios), {number(found.radii.most[0]), number(found.radii.most[1])}, remaining > 0};
}

}  // namespace vouch::detail
