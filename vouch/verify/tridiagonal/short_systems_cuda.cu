#include <algorithm>
#include <memory>

#include <vouch/core/scratch.cuh>
#include <vouch/verify/tridiagonal/short_systems.cuh>

namespace vouch::detail {
namespace {

// What the device tells a thread of the host; kept for its next call.
visit_memory* mailbox() {
  struct give_back {
    void operator()(visit_memory* memory) const { cudaFreeHost(memory); }
  };
  thread_local std::unique_ptr<visit_memory, give_back> kept;
  if (kept == nullptr) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(visit_memory), cudaHostAllocMapped | cudaHostAllocPortable),
          "allocating pinned memory");
    kept.reset(static_cast<visit_memory*>(memory));
  }
  return kept.get();
}

void visit_those_left(const device& dev, const visit_task& task, visit_lists lists, std::int64_t count) {
  if (quick_factors_serve(task)) {
    if (task.vectors.row_stride != 1)
      visit_tiles_by_quick_factors(dev, task, lists);
    else
      visit_by_quick_factors(dev, task, lists, count);
    dev.synchronize();
    count = static_cast<std::int64_t>(lists.host->hard);
    lists.left = lists.nearly;
  }
  if (count == 0) return;
  visit_by_factors(dev, task, lists, count);
  dev.synchronize();
}

}  // namespace

visit_totals visit_systems_cuda(const device& dev, const visit_task& task, bool with_factors) {
  const std::int64_t systems = task.vectors.systems;
  if (systems == 0) return {};
  constexpr std::int64_t words = sizeof(visit_memory) / sizeof(std::int64_t);
  const scratch<std::int64_t> memory(dev, words + 2 * systems);
  const visit_lists lists{memory.data() + words, memory.data() + words + systems,
                          reinterpret_cast<visit_memory*>(memory.data()), mailbox()};
  zero_bytes(dev, lists.all, sizeof(visit_memory));
  const bool in_tiles = task.vectors.row_stride != 1;
  (in_tiles ? visit_tiles_by_comparison : visit_by_comparison)(dev, task, lists);
  dev.synchronize();
  if (const auto nearly = static_cast<std::int64_t>(lists.host->nearly); nearly > 0) {
    (in_tiles ? visit_nearly_proved_in_tiles : visit_nearly_proved)(dev, task, lists, nearly);
    dev.synchronize();
  }
  const auto left = static_cast<std::int64_t>(lists.host->left);
  if (left > 0 && with_factors && !task.A.periodic) {
    visit_those_left(dev, task, lists, left);
  } else if (left > 0) {
    lists.host->ratios.flags |= 2u;
  }
  const visit_memory& found = *lists.host;
  return {as_ratios(found.ratios), {number(found.radii.most[0]), number(found.radii.most[1])}, left > 0};
}

}  // namespace vouch::detail
