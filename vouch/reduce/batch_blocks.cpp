// Batches in host memory reduced by a group of devices, block by block.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <vouch/core/block_lanes.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/reduce/batch_reduce.hpp>
#include <vouch/reduce/element_total.hpp>

namespace vouch {
namespace {

using detail::block_lane;
using detail::element_total;

constexpr std::int64_t block_bytes = std::int64_t{4} << 20;  // a copy costs some 8 us besides its bytes
constexpr std::int64_t most_elements = 1024;  // of a block: results are few beside what they are of

// A batch cut into some elements of some matrices each, by its shape alone: those of the same elements follow one
// another.
template <class T>
class batch_blocks {
 public:
  explicit batch_blocks(const matrix_batch<T>& batch)
      : batch_(batch),
        elements_(std::min(batch.elements, most_elements)),
        matrices_(
            std::clamp<std::int64_t>(block_bytes / (elements_ * std::int64_t{sizeof(T)}), 1, batch.count)),
        strips_(ceil_div(batch.count, matrices_)),
        results_(static_cast<std::size_t>(count() * elements_)) {}

  std::int64_t count() const { return ceil_div(batch_.elements, elements_) * strips_; }

  void reduce(block_lane& lane, batch_parts parts, std::int64_t block) {
    const part p = part_of(block);
    const std::int64_t values = p.elements * p.matrices;
    T* const staged = lane.staging<T>(0, values);
    pack(p, staged);
    array<T> there(lane.dev(), values);
    copy_bytes(there.data(), lane.dev(), staged, device::cpu(1), static_cast<std::size_t>(values) * sizeof(T));
    array<element_summary<T>> found(lane.dev(), p.elements);
    batch_reducer<T> reducer(lane.dev());
    reducer({there.data(), p.matrices, p.elements, batch_.layout}, parts, found);
    auto* const back = lane.staging<element_summary<T>>(1, p.elements);
    copy_bytes(back, device::cpu(1), found.data(), lane.dev(),
               static_cast<std::size_t>(p.elements) * sizeof(element_summary<T>));
    std::copy_n(back, p.elements, results_.begin() + block * elements_);
  }

  std::vector<element_summary<T>> joined() const {
    std::vector<element_summary<T>> all;
    for (std::int64_t e = 0; e < batch_.elements; ++e) {
      element_total<T> total;
      for (std::int64_t k = 0; k < strips_; ++k)
        total.join(element_total<T>(result((e / elements_ * strips_ + k) * elements_ + e % elements_)));
      all.push_back(total.summary());
    }
    return all;
  }

 private:
  struct part {
    std::int64_t first_element, elements, first_matrix, matrices;
  };

  part part_of(std::int64_t block) const {
    const std::int64_t e = block / strips_ * elements_, m = block % strips_ * matrices_;
    return {e, std::min(elements_, batch_.elements - e), m, std::min(matrices_, batch_.count - m)};
  }
  // As the batch lies.
  void pack(const part& p, T* to) const {
    const bool by_matrix = batch_.layout == batch_layout::matrix_after_matrix;
    std::int64_t rows = by_matrix ? p.matrices : p.elements, run = by_matrix ? p.elements : p.matrices;
    const std::int64_t pitch = by_matrix ? batch_.elements : batch_.count;
    const T* from = batch_.data + (by_matrix ? p.first_matrix * pitch + p.first_element
                                             : p.first_element * pitch + p.first_matrix);
    if (run == pitch) run *= std::exchange(rows, 1);
    for (std::int64_t k = 0; k < rows; ++k)
      std::memcpy(to + k * run, from + k * pitch, static_cast<std::size_t>(run) * sizeof(T));
  }
  const element_summary<T>& result(std::int64_t k) const { return results_[static_cast<std::size_t>(k)]; }

  matrix_batch<T> batch_;
  std::int64_t elements_, matrices_;  // of a block
  std::int64_t strips_;               // of matrices
  std::vector<element_summary<T>> results_;
};

}  // namespace

template <batch_scalar T>
std::vector<element_summary<T>> reduce_batch(const device_group& devices, const matrix_batch<T>& batch,
                                             batch_parts parts) {
  const ieee_environment here;
  detail::check_batch(batch, batch.elements);
  batch_blocks<T> blocks(batch);
  detail::for_each_block(devices, blocks.count(),
                         [&](block_lane& lane, std::int64_t block) { blocks.reduce(lane, parts, block); });
  return blocks.joined();
}

#define VOUCH_INSTANTIATE(T)                                                              \
  template VOUCH_PUBLIC std::vector<element_summary<T>> reduce_batch(const device_group&, \
                                                                     const matrix_batch<T>&, batch_parts);
VOUCH_INSTANTIATE(std::int32_t)
VOUCH_INSTANTIATE(std::int64_t)
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
