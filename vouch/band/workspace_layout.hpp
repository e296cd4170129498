// vouch/band/workspace_layout.hpp -- arrays laid out in one allocation; private.
#pragma once
#include <cstdint>

#include <vouch/band/workspace.hpp>
#include <vouch/core/types.hpp>

namespace vouch::detail {

/// Arrays one after another, each aligned to 256 bytes. Without a base it counts only.
class workspace_layout {
 public:
  explicit workspace_layout(void* base = nullptr) : base_(static_cast<unsigned char*>(base)) {}

  template <class U>
  void add(U** to, std::int64_t count) {
    if (base_ != nullptr) *to = reinterpret_cast<U*>(base_ + used_);
    used_ += ceil_div<std::int64_t>(count * static_cast<std::int64_t>(sizeof(U)), 256) * 256;
  }
  std::int64_t used() const { return used_; }

 private:
  unsigned char* base_;
  std::int64_t used_ = 0;
};

/// Calls add_all(parts) twice: to count, and to hand out memory of the workspace. Returns that memory.
template <class F>
void* lay_out_workspace(const device& dev, tridiagonal_workspace& workspace, const F& add_all) {
  workspace_layout counting;
  add_all(counting);
  void* const base = workspace.bytes(dev, counting.used());
  workspace_layout parts(base);
  add_all(parts);
  return base;
}

}  // namespace vouch::detail
