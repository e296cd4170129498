#include <vouch/core/block_lanes.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/device_cuda.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/memory.hpp>

namespace vouch::detail {
namespace {

// Pinned memory that no lane uses now, by its bytes. To allocate it takes longer than to copy through it, so it stays to
// the end of the process; CUDA may be gone before statics are.
class pinned_store {
 public:
  std::byte* take(std::int64_t bytes) {
    {
      const std::lock_guard hold(lock_);
      if (const auto kept = kept_.find(bytes); kept != kept_.end()) {
        std::byte* const memory = kept->second;
        kept_.erase(kept);
        return memory;
      }
    }
    return cuda_pinned_memory(static_cast<std::size_t>(bytes));
  }
  void keep(std::byte* memory, std::int64_t bytes) {
    const std::lock_guard hold(lock_);
    kept_.emplace(bytes, memory);
  }

 private:
  std::mutex lock_;
  std::multimap<std::int64_t, std::byte*> kept_;
};

pinned_store& store() {
  static auto* const all = new pinned_store;
  return *all;
}

// Blocks of all devices, each device's in ascending order.
class block_queue {
 public:
  block_queue(std::int64_t devices, std::int64_t blocks)
      : first_failed_(blocks), taken_(static_cast<std::size_t>(devices)) {}

  /// The device's next block; false where there is none that is wanted.
  bool take(std::int64_t dev, std::int64_t& block) {
    const auto devices = static_cast<std::int64_t>(taken_.size());
    block = dev + devices * taken_[static_cast<std::size_t>(dev)]++;
    return block < first_failed_;
  }
  void fail(std::int64_t block, std::exception_ptr why) {
    const std::lock_guard hold(failing_);
    if (block >= first_failed_) return;
    first_failed_ = block;
    failure_ = std::move(why);
  }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::atomic<std::int64_t> first_failed_;
  std::vector<std::atomic<std::int64_t>> taken_;
  std::mutex failing_;
  std::exception_ptr failure_;
};

void work_through(block_queue& queue, std::int64_t dev, block_lane& lane,
                  const std::function<void(block_lane&, std::int64_t)>& work) {
  for (std::int64_t block = 0; queue.take(dev, block);) {
    try {
      check_cancellation();
      work(lane, block);
    } catch (...) {
      queue.fail(block, std::current_exception());
    }
  }
}

}  // namespace

block_lane::~block_lane() {
  for (memory& one : slots_) give_back(one);
}

std::byte* block_lane::bytes(std::size_t slot, std::int64_t count) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  memory& mine = slots_[slot];
  if (mine.bytes >= count) return mine.data;
  give_back(mine);
  const auto size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  mine.data = take(size);
  mine.bytes = size;
  return mine.data;
}

std::byte* block_lane::take(std::int64_t size) const {
  if constexpr (built_with_cuda)
    if (dev_.is_cuda()) return store().take(size);
  return allocate(dev_, static_cast<std::size_t>(size));
}

void block_lane::give_back(memory& of) const {
  if (of.data == nullptr) return;
  if (built_with_cuda && dev_.is_cuda())
    store().keep(of.data, of.bytes);
  else
    deallocate(dev_, of.data, static_cast<std::size_t>(of.bytes));
  of = {};
}

void for_each_block(const device_group& devices, std::int64_t blocks,
                    const std::function<void(block_lane&, std::int64_t)>& work) {
  block_queue queue(devices.size(), blocks);
  const std::int64_t lanes = std::min(devices.size() * devices.feeders(), blocks);
  const cancellation_probe stop;
  // A thread, or one iteration after another where there are fewer: the lanes of a device share its blocks.
#pragma omp parallel for firstprivate(ieee) num_threads(static_cast <int>(lanes)) \
    schedule(static, 1) if (lanes > 1)
  for (std::int64_t k = 0; k < lanes; ++k) {
    const std::int64_t dev = device_of_block(k, devices.size());
    const cancellation_scope listens(stop);
    try {
      const bool first = k < devices.size();
      const device& one = devices[dev];
      block_lane lane(first || !one.is_cuda() ? one : device::cuda(one.index()));
      work_through(queue, dev, lane, work);
    } catch (...) {
      queue.fail(k, std::current_exception());
    }
  }
  queue.rethrow_failure();
}

}  // namespace vouch::detail
