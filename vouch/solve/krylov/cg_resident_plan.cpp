#include <algorithm>
#include <numeric>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/krylov/cg_resident_plan.hpp>

namespace vouch {
namespace {

constexpr std::size_t max_slots = 65535;

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

// What a thread knows of the rows while it drafts one block after the other.
struct row_marks {
  explicit row_marks(std::int64_t rows)
      : slot(static_cast<std::size_t>(rows)), seen_by(static_cast<std::size_t>(rows), -1) {}
  std::vector<std::int32_t> slot;     // in the block at hand
  std::vector<std::int64_t> seen_by;  // first row of the block that last met this one in its halo
};

template <real T>
draft draft_block(csr_view<const T> A, std::int64_t first, std::int64_t last, int lanes, row_marks& marks) {
  draft block;
  block.own = static_cast<std::int32_t>(last - first);
  block.row.resize(static_cast<std::size_t>(block.own));
  std::iota(block.row.begin(), block.row.end(), static_cast<std::int32_t>(first));
  const auto length = [&](std::int32_t i) { return A.row_ptr[i + 1] - A.row_ptr[i]; };
  std::stable_sort(block.row.begin(), block.row.end(),
                   [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });

  std::vector<std::int32_t> halo;
  for (std::int64_t k = A.row_ptr[first]; k < A.row_ptr[last]; ++k) {
    std::int64_t& seen_by = marks.seen_by[static_cast<std::size_t>(A.col[k])];
    if ((A.col[k] >= first && A.col[k] < last) || seen_by == first) continue;
    seen_by = first;
    halo.push_back(A.col[k]);
  }
  std::sort(halo.begin(), halo.end());
  block.row.insert(block.row.end(), halo.begin(), halo.end());

  for (std::size_t s = 0; s < block.row.size(); ++s)
    marks.slot[static_cast<std::size_t>(block.row[s])] = static_cast<std::int32_t>(s);
  block.slot_of.reserve(static_cast<std::size_t>(A.row_ptr[last] - A.row_ptr[first]));
  for (std::int64_t k = A.row_ptr[first]; k < A.row_ptr[last]; ++k)
    block.slot_of.push_back(marks.slot[static_cast<std::size_t>(A.col[k])]);

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

struct sends {
  std::vector<std::uint16_t> push;
  std::vector<resident_task> task;
};

// What each block must send: the halo of every other block, cut into runs of slots whose rows it owns. A halo
// is in the order of the rows and a block owns neighbouring rows, so that each pair of blocks has one run.
std::vector<sends> collect_sends(const std::vector<draft>& drafts, const std::vector<std::int64_t>& first,
                                 std::int64_t rows) {
  std::vector<std::uint16_t> slot_at_home(static_cast<std::size_t>(rows));
  for (const draft& block : drafts)
    for (std::int32_t s = 0; s < block.own; ++s)
      slot_at_home[static_cast<std::size_t>(block.row[static_cast<std::size_t>(s)])] =
          static_cast<std::uint16_t>(s);
  std::vector<sends> all(drafts.size());
  for (std::size_t to = 0; to < drafts.size(); ++to) {
    const std::vector<std::int32_t>& row = drafts[to].row;
    std::size_t home = 0;
    for (auto s = static_cast<std::size_t>(drafts[to].own); s < row.size(); ++s) {
      while (row[s] >= first[home + 1]) ++home;
      sends& from = all[home];
      const bool extends = !from.task.empty() && from.task.back().block == to && from.task.back().count < 32;
      if (!extends)
        from.task.push_back({static_cast<std::uint16_t>(to), static_cast<std::uint16_t>(s),
                             static_cast<std::uint16_t>(from.push.size()), 0});
      ++from.task.back().count;
      from.push.push_back(slot_at_home[static_cast<std::size_t>(row[s])]);
    }
  }
  return all;
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
    bytes += rounded_up(static_cast<std::size_t>(stride.pushes) * sizeof(std::uint16_t)) +
             rounded_up(static_cast<std::size_t>(stride.tasks) * sizeof(resident_task));
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
  std::vector<draft> drafts(blocks);
#pragma omp parallel firstprivate(ieee) num_threads(device::cpu().threads())
  {
    row_marks marks(A.rows);
#pragma omp for schedule(static)
    for (std::size_t b = 0; b < blocks; ++b)
      drafts[b] = draft_block(A, first[b], first[b + 1], shape.lanes, marks);
  }
  for (const draft& block : drafts) {
    if (block.row.size() > max_slots) return std::nullopt;
    const auto slices = static_cast<std::int32_t>(block.slice.size()) - 1;
    plan.block.push_back({block.own, static_cast<std::int32_t>(block.row.size()), slices});
    plan.stride.entries = std::max(plan.stride.entries, static_cast<std::int32_t>(block.slice.back()) * 32);
    plan.stride.slices = std::max(plan.stride.slices, slices);
    plan.stride.slots = std::max(plan.stride.slots, static_cast<std::int32_t>(block.row.size()));
    plan.stride.own = std::max(plan.stride.own, block.own);
  }
  std::vector<sends> sent(blocks);
  if (shape.cluster) sent = collect_sends(drafts, first, A.rows);
  for (std::size_t b = 0; b < blocks; ++b) {
    if (sent[b].push.size() > max_slots) return std::nullopt;
    plan.block[b].tasks = static_cast<std::int32_t>(sent[b].task.size());
    plan.stride.pushes = std::max(plan.stride.pushes, static_cast<std::int32_t>(sent[b].push.size()));
    plan.stride.tasks = std::max(plan.stride.tasks, plan.block[b].tasks);
  }

  const auto entries = static_cast<std::size_t>(plan.stride.entries);
  const auto slices = static_cast<std::size_t>(plan.stride.slices) + 1;
  const auto slots = static_cast<std::size_t>(plan.stride.slots);
  const auto pushes = static_cast<std::size_t>(plan.stride.pushes);
  const auto tasks = static_cast<std::size_t>(plan.stride.tasks);
  plan.val.assign(blocks * entries, T{});
  plan.col.assign(blocks * entries, 0);
  plan.slice.assign(blocks * slices, 0);
  plan.row.assign(blocks * slots, 0);
  plan.push.assign(blocks * pushes, 0);
  plan.task.assign(blocks * tasks, {});
  const auto put = [](const auto& from, auto& to, std::size_t at) {
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
  };
#pragma omp parallel for firstprivate(ieee) num_threads(device::cpu().threads()) schedule(static)
  for (std::size_t b = 0; b < blocks; ++b) {
    fill_entries(A, first[b], drafts[b], shape.lanes, plan.val.data() + b * entries,
                 plan.col.data() + b * entries);
    put(drafts[b].slice, plan.slice, b * slices);
    put(drafts[b].row, plan.row, b * slots);
    put(sent[b].push, plan.push, b * pushes);
    put(sent[b].task, plan.task, b * tasks);
  }
  return plan;
}

namespace {

// As many threads a row as leave each warp one slice, and each thread two entries.
resident_shape with_lanes(resident_shape shape, std::int64_t rows, std::int64_t nonzeros) {
  const int most = shape.cluster ? 8 : 4;
  shape.lanes = 1;
  while (shape.lanes < most && 2 * shape.lanes * rows <= std::int64_t{shape.blocks} * shape.threads &&
         4 * shape.lanes * rows <= nonzeros)
    shape.lanes *= 2;
  return shape;
}

}  // namespace

resident_shape choose_resident_shape(std::int64_t rows, std::int64_t nonzeros, int processors) {
  // Measured on an H200: up to here 16 multiprocessors that meet quickly beat 132 that meet slowly.
  constexpr std::int64_t cluster_nonzeros = 150000;
  if (nonzeros > cluster_nonzeros) return grid_resident_shape(rows, nonzeros, processors);
  return with_lanes({true, 16, rows <= 1024 ? 256 : 512, 1}, rows, nonzeros);
}

resident_shape grid_resident_shape(std::int64_t rows, std::int64_t nonzeros, int processors) {
  return with_lanes({false, processors, 512, 1}, rows, nonzeros);
}

template struct resident_plan<float>;
template struct resident_plan<double>;
template std::optional<resident_plan<float>> plan_resident(csr_view<const float>, const resident_shape&);
template std::optional<resident_plan<double>> plan_resident(csr_view<const double>, const resident_shape&);

}  // namespace vouch
