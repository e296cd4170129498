#include <algorithm>
#include <numeric>

#include <vouch/core/types.hpp>
#include <vouch/solve/cg_resident_plan.hpp>

namespace vouch {
namespace {

constexpr std::int64_t max_slots = 65535;

// First row of each block, blocks + 1 of them: equal work, a row counting as its entries and 8 more for the
// updates of its vectors.
template <real T>
std::vector<std::int64_t> deal_rows(csr_view<const T> A, int blocks) {
  const auto work_before = [&](std::int64_t i) { return A.row_ptr[i] + 8 * i; };
  std::vector<std::int64_t> first(static_cast<std::size_t>(blocks) + 1, 0);
  std::int64_t row = 0;
  for (int b = 1; b <= blocks; ++b) {
    const std::int64_t goal = work_before(A.rows) * b / blocks;
    while (row < A.rows && work_before(row) < goal) ++row;
    first[static_cast<std::size_t>(b)] = row;
  }
  first.back() = A.rows;
  return first;
}

// One block before the common strides are known.
struct draft {
  std::vector<std::int32_t> row;        // of each slot
  std::vector<std::int32_t> slot_of;    // columns' slots in CSR order of the own rows
  std::vector<std::uint32_t> slice{0};  // starts in units of 32 entries
  std::int32_t own = 0;
};

template <real T>
draft draft_block(csr_view<const T> A, std::int64_t first, std::int64_t last, int lanes,
                  std::vector<std::int32_t>& slot_of_row) {
  draft block;
  block.own = static_cast<std::int32_t>(last - first);
  block.row.resize(static_cast<std::size_t>(block.own));
  std::iota(block.row.begin(), block.row.end(), static_cast<std::int32_t>(first));
  const auto length = [&](std::int32_t i) { return A.row_ptr[i + 1] - A.row_ptr[i]; };
  std::stable_sort(block.row.begin(), block.row.end(),
                   [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });

  std::vector<std::int32_t> halo;
  for (std::int64_t k = A.row_ptr[first]; k < A.row_ptr[last]; ++k)
    if (A.col[k] < first || A.col[k] >= last) halo.push_back(A.col[k]);
  std::sort(halo.begin(), halo.end());
  halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
  block.row.insert(block.row.end(), halo.begin(), halo.end());

  for (std::size_t s = 0; s < block.row.size(); ++s)
    slot_of_row[static_cast<std::size_t>(block.row[s])] = static_cast<std::int32_t>(s);
  for (std::int64_t k = A.row_ptr[first]; k < A.row_ptr[last]; ++k)
    block.slot_of.push_back(slot_of_row[static_cast<std::size_t>(A.col[k])]);

  const std::int32_t rows_a_slice = 32 / lanes;
  for (std::int32_t s = 0; s < block.own; s += rows_a_slice)  // its first row is its longest
    block.slice.push_back(block.slice.back() + static_cast<std::uint32_t>(ceil_div<std::int64_t>(
                                                   length(block.row[static_cast<std::size_t>(s)]), lanes)));
  return block;
}

template <real T>
void fill_entries(csr_view<const T> A, std::int64_t first, const draft& block, int lanes, T* val,
                  std::uint16_t* col) {
  const std::int32_t rows_a_slice = 32 / lanes;
  for (std::int32_t s = 0; s < block.own; ++s) {
    const std::int32_t i = block.row[static_cast<std::size_t>(s)];
    const std::size_t start = std::size_t{block.slice[static_cast<std::size_t>(s / rows_a_slice)]} * 32 +
                              static_cast<std::size_t>(s % rows_a_slice * lanes);
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(k - A.row_ptr[i]);
      const std::size_t at =
          start + j / static_cast<std::size_t>(lanes) * 32 + j % static_cast<std::size_t>(lanes);
      val[at] = A.val[k];
      col[at] = static_cast<std::uint16_t>(block.slot_of[static_cast<std::size_t>(k - A.row_ptr[first])]);
    }
  }
}

// Who needs which row: pushes[i] lists block * 65536 + slot for every halo that holds row i.
std::vector<std::vector<std::uint32_t>> collect_pushes(const std::vector<draft>& drafts, std::int64_t rows) {
  std::vector<std::vector<std::uint32_t>> pushes(static_cast<std::size_t>(rows));
  for (std::size_t b = 0; b < drafts.size(); ++b)
    for (std::size_t s = static_cast<std::size_t>(drafts[b].own); s < drafts[b].row.size(); ++s)
      pushes[static_cast<std::size_t>(drafts[b].row[s])].push_back(static_cast<std::uint32_t>(b << 16 | s));
  return pushes;
}

std::size_t rounded_up(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

template <real T>
std::size_t resident_plan<T>::shared_bytes(bool diagonal) const {
  const auto entries = static_cast<std::size_t>(stride.entries), slots = static_cast<std::size_t>(stride.slots);
  const std::size_t vectors = diagonal ? 5 : 4;  // p, r, two of q, and 1/diagonal
  std::size_t bytes = rounded_up(entries * sizeof(T)) + rounded_up(entries * sizeof(std::uint16_t)) +
                      rounded_up((static_cast<std::size_t>(stride.slices) + 1) * 4) +
                      vectors * rounded_up(slots * sizeof(T)) +
                      rounded_up(static_cast<std::size_t>(stride.own) * sizeof(T));
  if (shape.cluster)
    bytes += rounded_up((static_cast<std::size_t>(stride.own) + 1) * 4) +
             rounded_up(static_cast<std::size_t>(stride.pushes) * 4);
  else
    bytes += rounded_up(slots * 4);  // the matrix row of each slot
  return bytes;
}

template <real T>
std::optional<resident_plan<T>> plan_resident(csr_view<const T> A, const resident_shape& shape) {
  resident_plan<T> plan;
  plan.shape = shape;
  plan.rows = A.rows;
  const auto blocks = static_cast<std::size_t>(shape.blocks);
  const std::vector<std::int64_t> first = deal_rows(A, shape.blocks);
  std::vector<draft> drafts;
  std::vector<std::int32_t> slot_of_row(static_cast<std::size_t>(A.rows));
  for (std::size_t b = 0; b < blocks; ++b) {
    drafts.push_back(draft_block(A, first[b], first[b + 1], shape.lanes, slot_of_row));
    const draft& block = drafts.back();
    if (static_cast<std::int64_t>(block.row.size()) > max_slots) return std::nullopt;
    const auto slices = static_cast<std::int32_t>(block.slice.size()) - 1;
    plan.block.push_back({block.own, static_cast<std::int32_t>(block.row.size()), slices});
    plan.stride.entries = std::max(plan.stride.entries, static_cast<std::int32_t>(block.slice.back()) * 32);
    plan.stride.slices = std::max(plan.stride.slices, slices);
    plan.stride.slots = std::max(plan.stride.slots, static_cast<std::int32_t>(block.row.size()));
    plan.stride.own = std::max(plan.stride.own, block.own);
  }
  const auto pushes = shape.cluster ? collect_pushes(drafts, A.rows)
                                    : std::vector<std::vector<std::uint32_t>>(static_cast<std::size_t>(A.rows));
  for (std::size_t b = 0; b < blocks; ++b) {
    std::size_t count = 0;
    for (std::int64_t i = first[b]; i < first[b + 1]; ++i) count += pushes[static_cast<std::size_t>(i)].size();
    plan.stride.pushes = std::max(plan.stride.pushes, static_cast<std::int32_t>(count));
  }

  const auto entries = static_cast<std::size_t>(plan.stride.entries);
  const auto slices = static_cast<std::size_t>(plan.stride.slices) + 1;
  const auto slots = static_cast<std::size_t>(plan.stride.slots);
  const auto starts = static_cast<std::size_t>(plan.stride.own) + 1;
  const auto pushed = static_cast<std::size_t>(plan.stride.pushes);
  plan.val.assign(blocks * entries, T{});
  plan.col.assign(blocks * entries, 0);
  plan.slice.assign(blocks * slices, 0);
  plan.row.assign(blocks * slots, 0);
  plan.push_start.assign(blocks * starts, 0);
  plan.push.assign(blocks * pushed, 0);
  for (std::size_t b = 0; b < blocks; ++b) {
    const draft& block = drafts[b];
    fill_entries(A, first[b], block, shape.lanes, plan.val.data() + b * entries, plan.col.data() + b * entries);
    std::copy(block.slice.begin(), block.slice.end(),
              plan.slice.begin() + static_cast<std::ptrdiff_t>(b * slices));
    std::copy(block.row.begin(), block.row.end(), plan.row.begin() + static_cast<std::ptrdiff_t>(b * slots));
    std::uint32_t at = 0;
    for (std::int32_t s = 0; s < block.own; ++s) {
      plan.push_start[b * starts + static_cast<std::size_t>(s)] = at;
      for (const std::uint32_t target :
           pushes[static_cast<std::size_t>(block.row[static_cast<std::size_t>(s)])])
        plan.push[b * pushed + at++] = target;
    }
    for (std::size_t s = static_cast<std::size_t>(block.own); s < starts; ++s)
      plan.push_start[b * starts + s] = at;
  }
  return plan;
}

resident_shape choose_resident_shape(std::int64_t rows, std::int64_t nonzeros, int processors) {
  // Up to here 16 multiprocessors with their quick barrier beat all of them with a slow one.
  constexpr std::int64_t cluster_nonzeros = 160000;
  const std::int64_t mean = nonzeros / std::max<std::int64_t>(rows, 1);
  const int lanes = mean > 64 ? 16 : 8;
  if (nonzeros <= cluster_nonzeros) return {true, 16, 512, lanes};
  return {false, processors, 512, lanes};
}

template struct resident_plan<float>;
template struct resident_plan<double>;
template std::optional<resident_plan<float>> plan_resident(csr_view<const float>, const resident_shape&);
template std::optional<resident_plan<double>> plan_resident(csr_view<const double>, const resident_shape&);

}  // namespace vouch
