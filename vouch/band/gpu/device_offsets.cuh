// vouch/band/gpu/device_offsets.cuh -- the offsets of unequal systems, for kernels; private.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include <vouch/band/tridiagonal.hpp>

namespace vouch::detail {

/// Copies of the offsets that views point to, on a GPU for as long as this lives.
class device_offsets {
 public:
  device_offsets(const device& dev, std::int64_t systems) : dev_(dev), systems_(systems) {}

  /// The same view with its offsets on the GPU; views without any stay as they are.
  template <class View>
  View of(View view) const {
    if (view.shape.offsets == nullptr) return view;
    for (const copy& made : copies_)
      if (made.of == view.shape.offsets) {
        view.shape.offsets = made.here.data();
        return view;
      }
    const std::span<const std::int64_t> given(view.shape.offsets, static_cast<std::size_t>(systems_) + 1);
    copies_.push_back({given.data(), array<std::int64_t>::from(dev_, given)});
    view.shape.offsets = copies_.back().here.data();
    return view;
  }
  bool any() const { return !copies_.empty(); }

 private:
  struct copy {
    const std::int64_t* of;
    array<std::int64_t> here;
  };

  device dev_;
  std::int64_t systems_;
  mutable std::vector<copy> copies_;
};

}  // namespace vouch::detail
