// vouch/core/block_lanes.hpp -- the blocks of a batch given to the devices of a group; private.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include <vouch/core/device_group.hpp>

namespace vouch::detail {

/// What one host thread needs for the blocks that it takes: a handle on its device with a stream of its own, and host
/// memory that a GPU copies at the speed of its link.
class block_lane {
 public:
  explicit block_lane(const device& dev) : dev_(dev) {}
  block_lane(const block_lane&) = delete;
  block_lane& operator=(const block_lane&) = delete;
  ~block_lane();

  const device& dev() const { return dev_; }

  /// Room for count elements, with what they held before or anything. Those of two slots are there at once; a slot
  /// asked again has the memory that it had, if that is enough.
  template <class T>
  T* staging(std::size_t slot, std::int64_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return reinterpret_cast<T*>(bytes(slot, count * static_cast<std::int64_t>(sizeof(T))));
  }

 private:
  struct memory {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
  };
  std::byte* bytes(std::size_t slot, std::int64_t count);
  std::byte* take(std::int64_t size) const;
  void give_back(memory& of) const;

  device dev_;
  std::vector<memory> slots_;
};

/// The device of a block: in turns, so that all have as many, give or take one.
inline std::int64_t device_of_block(std::int64_t block, std::int64_t devices) { return block % devices; }

/// Items that a block of a batch has, so that there are about as many blocks as `wanted` of `least` to `most` items.
inline std::int64_t items_a_block(std::int64_t items, std::int64_t wanted, std::int64_t least,
                                  std::int64_t most) {
  return std::clamp((items + wanted - 1) / wanted, least, most);
}

/// Calls work(lane, block) once for each block from 0 on, lane.dev() being devices[device_of_block(block)] or another
/// handle on it: feeders() calls at once on each device.
///
/// Result  Where calls throw, what the first block to do so threw, first by its number; the others that are under way
///         end before. Once that has happened, later blocks are not begun.
/// Throws  that; cancelled
void for_each_block(const device_group& devices, std::int64_t blocks,
                    const std::function<void(block_lane&, std::int64_t)>& work);

}  // namespace vouch::detail
