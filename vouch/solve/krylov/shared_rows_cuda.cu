#include <algorithm>
#include <limits>

#include <vouch/core/device_group.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/solve/krylov/shared_rows.hpp>

namespace vouch {
namespace {

// needed_by[j] gets bit `reader` for every column j that rows of its own refer to. One reader at a time.
template <class T>
void mark_reader(const device& home, csr_view<const T> A, const row_range& rows, int reader,
                 std::uint8_t* needed_by) {
  const std::uint8_t bit = static_cast<std::uint8_t>(1U << reader);
  const row_range own = rows;
  detail::parallel_for(home, "mark_needed_rows", rows.count, [=] __device__(std::int64_t local) {
    const std::int64_t i = own.first + local;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = A.col[k];
      if (j >= own.first && j < own.first + own.count) continue;
      // Whoever else writes here now sets the same bit on the same old value.
      if ((needed_by[j] & bit) == 0) needed_by[j] |= bit;
    }
  });
}

// Between two blocks that share, the largest stretch of others is left out.
void set_stretch(const std::vector<std::int32_t>& readers_of_block, shared_rows& to) {
  const std::int64_t blocks = std::ssize(readers_of_block);
  std::vector<std::int64_t> sharing;
  for (std::int64_t b = 0; b < blocks; ++b)
    if (readers_of_block[static_cast<std::size_t>(b)] != 0) sharing.push_back(b);
  std::int64_t longest = -1;
  for (std::size_t k = 0; k < sharing.size(); ++k) {
    const std::int64_t before = k > 0 ? sharing[k - 1] : sharing.back() - blocks;
    const std::int64_t between = sharing[k] - before - 1;
    if (between <= longest) continue;
    longest = between;
    to.first_sharing_block = sharing[k];
    to.sharing_blocks = blocks - between;
  }
}

}  // namespace

template <real T>
std::vector<shared_rows> find_shared_rows(const device& home, csr_view<const T> A,
                                          std::span<const row_range> parts) {
  static_assert(most_gpus <= std::numeric_limits<std::uint8_t>::digits, "needed_by has a bit for each GPU");
  constexpr std::int64_t block = shared_rows_block<T>;
  const device cpu = device::cpu(1);
  array<std::uint8_t> needed_by = array<std::uint8_t>::zeros(home, A.rows);
  for (std::size_t g = 0; g < parts.size(); ++g)
    mark_reader(home, A, parts[g], static_cast<int>(g), needed_by.data());

  std::vector<shared_rows> all(parts.size());
  for (std::size_t g = 0; g < parts.size(); ++g) {
    const row_range rows = parts[g];
    const std::int64_t blocks = ceil_div(rows.count, block);
    shared_rows& mine = all[g];
    mine.needed_by = array<std::uint8_t>::zeros(home, blocks * block);
    array<std::int32_t> readers(home, blocks);
    detail::parallel_for(home, "gather_readers", blocks,
                         [=, from = needed_by.data() + rows.first, to = mine.needed_by.data(),
                          readers = readers.data()] __device__(std::int64_t b) {
                           unsigned any = 0;
                           for (std::int64_t i = b * block; i < min((b + 1) * block, rows.count); ++i) {
                             to[i] = from[i];
                             any |= from[i];
                           }
                           readers[b] = static_cast<std::int32_t>(any);
                         });
    const std::vector<std::int32_t> of_block = readers.to_vector();
    for (const std::int32_t who : of_block) mine.readers |= static_cast<unsigned>(who);
    set_stretch(of_block, mine);
  }
  for (std::size_t g = 0; g < parts.size(); ++g)
    for (std::size_t h = 0; h < parts.size(); ++h)
      if ((all[h].readers >> g & 1U) != 0) all[g].writers |= 1U << h;
  // Somebody has to wait, also where a pattern is not symmetric.
  for (shared_rows& mine : all)
    if (mine.writers != 0 && mine.sharing_blocks == 0) mine.sharing_blocks = 1;
  return all;
}

template std::vector<shared_rows> find_shared_rows(const device&, csr_view<const float>,
                                                   std::span<const row_range>);
template std::vector<shared_rows> find_shared_rows(const device&, csr_view<const double>,
                                                   std::span<const row_range>);

}  // namespace vouch
