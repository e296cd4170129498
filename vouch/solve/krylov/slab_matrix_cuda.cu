#include <algorithm>
#include <vector>

#include <vouch/core/memory.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/solve/krylov/slab_matrix.hpp>

namespace vouch {
namespace {

template <class T>
void copy_elements(const device& to, T* target, const device& from, const T* source, std::int64_t count) {
  if (count > 0) copy_bytes(target, to, source, from, static_cast<std::size_t>(count) * sizeof(T));
}

// Places of a diagonal's values in the whole matrix's that rows of a slab read.
struct places {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

template <class T>
places places_of(const detail::dia_layout<T>& whole, int k, const row_range& rows) {
  const std::int64_t offset = whole.offset[k];
  const std::int64_t first = std::max(rows.first, -offset);
  const std::int64_t end = std::min(rows.first + rows.count, whole.cols - offset);
  return {whole.start[k] + first, whole.start[k] + std::max(first, end)};
}

void count_from_zero(const device& dev, std::int64_t* offsets, std::int64_t count, std::int64_t first) {
  detail::parallel_for(dev, "count_from_zero", count, [=] __device__(std::int64_t i) { offsets[i] -= first; });
}

}  // namespace

template <real T>
slab_matrix<T>::slab_matrix(const device& dev, const device& home, const spmv_plan<T>& whole,
                            csr_view<const T> A, row_range rows)
    : dev_(dev), rows_(rows) {
  if (whole.kept_as() == layout::dia)
    cut_diagonals(home, whole.as_dia());
  else
    cut_rows(home, A, whole.kept_as());
  dev_.synchronize();
}

template <real T>
unsigned slab_matrix<T>::blocks() const {
  if (plan_) return plan_->blocks();
  const detail::kernel_shape shape = dia_->shape();
  // Of short slabs half of what fits at a time, so that one begins while another ends.
  constexpr std::int64_t long_slab = 4'000'000;
  const std::int64_t resident =
      std::int64_t{dev_.processors()} * shape.resident_blocks / (rows_.count < long_slab ? 2 : 1);
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(ceil_div(rows_.count, std::int64_t{shape.rows_a_block}), 1, resident));
}

// A diagonal and its mirror image share what they share in the whole.
template <real T>
void slab_matrix<T>::cut_diagonals(const device& home, const detail::dia_layout<T>& whole) {
  constexpr std::int64_t aligned = 128 / static_cast<std::int64_t>(sizeof(T));
  detail::dia_layout<T>& shape = dia_.emplace(whole);
  shape.rows = rows_.count;
  struct piece {
    places from;
    std::int64_t to;
  };
  std::vector<piece> pieces;
  std::int64_t used = 0;
  const auto take = [&](const places& from, std::int64_t row_place) {
    // The first row's value begins a line of the cache.
    const std::int64_t behind = ((row_place - from.first) % aligned + aligned) % aligned;
    const std::int64_t to = ceil_div(used, aligned) * aligned + (aligned - behind) % aligned;
    pieces.push_back({from, to});
    used = to + (from.end - from.first);
    return to - from.first;  // from a place in the whole to one here
  };
  for (int k = whole.count - 1; k >= 0; --k) {
    const std::int64_t row_place = whole.start[k] + rows_.first;
    places from = places_of(whole, k, rows_);
    shape.offset[k] = whole.offset[k] + rows_.first;
    const int image = whole.count - 1 - k;
    const bool halved = whole.offset[k] > 0 && whole.offset[image] == -whole.offset[k] &&
                        whole.start[image] == whole.start[k] - whole.offset[k];
    if (!halved) {
      // Already there as the image of an upper one?
      const bool is_image = whole.offset[k] < 0 && whole.offset[image] == -whole.offset[k] &&
                            whole.start[k] == whole.start[image] - whole.offset[image];
      if (!is_image) shape.start[k] = row_place + take(from, row_place);
      continue;
    }
    const places lower = places_of(whole, image, rows_);
    const std::int64_t lower_place = whole.start[image] + rows_.first;
    const bool apart = lower.end < from.first || from.end < lower.first;
    if (apart || lower.first == lower.end || from.first == from.end) {
      shape.start[k] = row_place + take(from, row_place);
      shape.start[image] = lower_place + take(lower, lower_place);
    } else {
      const std::int64_t moved =
          take({std::min(from.first, lower.first), std::max(from.end, lower.end)}, row_place);
      shape.start[k] = row_place + moved;
      shape.start[image] = lower_place + moved;
    }
  }
  diagonals_ = array<T>::zeros(dev_, used);
  for (const piece& one : pieces)
    copy_elements(dev_, diagonals_.data() + one.to, home, whole.val + one.from.first,
                  one.from.end - one.from.first);
  shape.val = diagonals_.data();
}

template <real T>
void slab_matrix<T>::cut_rows(const device& home, csr_view<const T> A, layout kept_as) {
  std::int64_t bounds[2];
  copy_elements(device::cpu(1), &bounds[0], home, A.row_ptr + rows_.first, 1);
  copy_elements(device::cpu(1), &bounds[1], home, A.row_ptr + rows_.first + rows_.count, 1);
  const std::int64_t first = bounds[0], count = bounds[1] - bounds[0];
  own_ = {rows_.count, A.cols, array<std::int64_t>(dev_, rows_.count + 1), array<std::int32_t>(dev_, count),
          array<T>(dev_, count)};
  copy_elements(dev_, own_.row_ptr.data(), home, A.row_ptr + rows_.first, rows_.count + 1);
  copy_elements(dev_, own_.col.data(), home, A.col + first, count);
  copy_elements(dev_, own_.val.data(), home, A.val + first, count);
  count_from_zero(dev_, own_.row_ptr.data(), rows_.count + 1, first);
  plan_.emplace(spmv_plan<T>::make(dev_, own_.all(), false, rows_.count > 0 ? kept_as : layout::csr));
}

template class slab_matrix<float>;
template class slab_matrix<double>;

}  // namespace vouch
