#include <vouch/distributed/row_matrix.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/sparse/coo.hpp>

namespace vouch {
namespace {

// On all ranks, where one has an entry outside the matrix, or none that 32-bit indices can number.
void require_inside(communicator& ranks, std::int64_t rows, std::span<const matrix_entry> entries) {
  agree(ranks, [&] {
    if (rows < 0 || rows > std::numeric_limits<std::int32_t>::max())
      throw value_error("a matrix of " + std::to_string(rows) + " rows", "from 0 to 2^31 - 1 can be numbered");
    for (const matrix_entry& e : entries)
      if (e.row < 0 || e.row >= rows || e.col < 0 || e.col >= rows)
        throw value_error("entry (" + std::to_string(e.row) + ", " + std::to_string(e.col) +
                              ") lies outside a matrix of " + std::to_string(rows) + " rows and columns",
                          "count both from 0");
  });
}

// Behind each other by rank, in their order.
std::vector<matrix_entry> bring_to_owners(communicator& ranks, const row_partition& partition,
                                          std::vector<matrix_entry> entries) {
  if (ranks.size() == 1) return entries;
  std::vector<std::int64_t> count(static_cast<std::size_t>(ranks.size()), 0);
  for (const matrix_entry& e : entries) ++count[static_cast<std::size_t>(partition.owner(e.row))];
  std::vector<std::int64_t> next(count.size(), 0);
  std::partial_sum(count.begin(), count.end() - 1, next.begin() + 1);
  std::vector<matrix_entry> sorted(entries.size());
  for (const matrix_entry& e : entries)
    sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(partition.owner(e.row))]++)] = e;
  std::vector<matrix_entry>().swap(entries);
  return distribute<matrix_entry>(ranks, sorted, count);
}

std::vector<std::int64_t> entries_of_blocks(communicator& ranks, std::int64_t rows,
                                            std::span<const matrix_entry> entries) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(row_partition::blocks_of(rows)), 0);
  for (const matrix_entry& e : entries) ++count[static_cast<std::size_t>(e.row / row_partition::block_rows)];
  ranks.sum(count);
  return count;
}

// Of `rows` rows from first_row on. Columns are still those of the whole matrix.
csr<double> csr_of(std::int64_t rows, std::int64_t cols, std::int64_t first_row,
                   std::vector<matrix_entry> entries) {
  const device cpu = device::cpu(1);
  const auto count = static_cast<std::int64_t>(entries.size());
  coo own{rows,
          cols,
          symmetry::general,
          array<std::int32_t>(cpu, count),
          array<std::int32_t>(cpu, count),
          array<double>(cpu, count)};
  for (std::int64_t k = 0; k < count; ++k) {
    const matrix_entry& e = entries[static_cast<std::size_t>(k)];
    own.row[k] = static_cast<std::int32_t>(e.row - first_row);
    own.col[k] = e.col;
    own.val[k] = e.value;
  }
  std::vector<matrix_entry>().swap(entries);
  return to_csr(cpu, std::move(own));
}

}  // namespace

row_matrix row_matrix::from_entries(communicator& ranks, std::int64_t rows, std::vector<matrix_entry> entries) {
  const ieee_environment here;
  require_inside(ranks, rows, entries);
  auto made = std::make_shared<pattern>(ranks);
  made->partition = row_partition(rows, ranks.size(), entries_of_blocks(ranks, rows, entries));
  made->first_row = made->partition.first_row(ranks.rank());
  made->rows = made->partition.rows_of(ranks.rank());
  return from_own(made, bring_to_owners(ranks, made->partition, std::move(entries)));
}

row_matrix row_matrix::from_own(std::shared_ptr<pattern> made, std::vector<matrix_entry> entries) {
  csr<double> rows = csr_of(made->rows, made->partition.rows(), made->first_row, std::move(entries));
  made->row_ptr = std::move(rows.row_ptr);
  made->make_halo({rows.col.data(), static_cast<std::size_t>(rows.col.size())});
  made->sort_blocks();
  std::int64_t nonzeros[1] = {rows.val.size()};
  made->ranks.sum(nonzeros);
  made->all_nonzeros = nonzeros[0];
  return {std::move(made), std::move(rows.val)};
}

void row_matrix::pattern::make_halo(std::span<const std::int32_t> columns) {
  const auto is_own = [&](std::int64_t j) { return j >= first_row && j < first_row + rows; };
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(halo),
               [&](std::int64_t j) { return !is_own(j); });
  std::sort(halo.begin(), halo.end());
  halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
  const std::int64_t length = rows + static_cast<std::int64_t>(halo.size());
  std::int64_t too_long[1] = {length > std::numeric_limits<std::int32_t>::max() ? 1 : 0};
  ranks.sum(too_long);
  if (too_long[0] > 0)
    throw shape_error("a rank's rows and the elements that they need of others exceed 2^31 - 1",
                      "take more ranks");

  col = array<std::int32_t>(device::cpu(1), static_cast<std::int64_t>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::int64_t j = columns[k];
    const std::int64_t local =
        is_own(j) ? j - first_row : rows + (std::lower_bound(halo.begin(), halo.end(), j) - halo.begin());
    col[static_cast<std::int64_t>(k)] = static_cast<std::int32_t>(local);
  }

  std::vector<std::int64_t> needed(static_cast<std::size_t>(ranks.size()), 0), wanted(needed.size());
  for (const std::int64_t j : halo) ++needed[static_cast<std::size_t>(partition.owner(j))];
  ranks.all_to_all(needed, wanted);
  for (const std::int64_t row : distribute<std::int64_t>(ranks, halo, needed))
    send_rows.push_back(static_cast<std::int32_t>(row - first_row));
  send_buffer.resize(send_rows.size());
  std::int64_t in = rows, out = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::int64_t theirs = needed[static_cast<std::size_t>(rank)],
                       ours = wanted[static_cast<std::size_t>(rank)];
    if (theirs > 0) from.push_back({rank, in, theirs});
    if (ours > 0) to.push_back({rank, out, ours});
    in += theirs;
    out += ours;
  }
}

void row_matrix::pattern::sort_blocks() {
  for (std::int64_t block = 0; block < row_partition::blocks_of(rows); ++block) {
    const std::int64_t begin = block * row_partition::block_rows,
                       end = std::min(rows, begin + row_partition::block_rows);
    const bool is_inner = std::all_of(col.data() + row_ptr[begin], col.data() + row_ptr[end],
                                      [&](std::int32_t j) { return j < rows; });
    (is_inner ? inner : outer).push_back(block);
  }
}

void row_matrix::begin_halo(double* x) const {
  constexpr auto each = static_cast<std::int64_t>(sizeof(double));
  const pattern& p = *pattern_;
  for (std::size_t k = 0; k < p.send_rows.size(); ++k) p.send_buffer[k] = x[p.send_rows[k]];
  p.sends.clear();
  p.receives.clear();
  for (const neighbour& n : p.to)
    p.sends.push_back({n.rank, p.send_buffer.data() + n.first, n.elements * each});
  for (const neighbour& n : p.from) p.receives.push_back({n.rank, x + n.first, n.elements * each});
  p.ranks.begin_exchange(p.sends, p.receives);
}

}  // namespace vouch
