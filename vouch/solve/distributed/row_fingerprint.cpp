#include <vouch/solve/distributed/row_fingerprint.hpp>

#include <array>
#include <cstddef>

#include <vouch/core/random.hpp>
#include <vouch/verify/fingerprint_sums.hpp>

namespace vouch::distributed {
namespace {

using detail::bits_of;
using detail::mixed;

template <std::size_t count>
std::array<std::uint64_t, count> add_up(communicator& ranks, const std::array<std::uint64_t, count>& mine) {
  std::array<std::uint64_t, count> totals{};
  for (const auto& theirs : gather(ranks, mine))
    for (std::size_t k = 0; k < count; ++k) totals[k] += theirs[k];
  return totals;
}

// Of entries on the ranks before this one.
std::int64_t entries_before(const row_matrix& A) {
  std::int64_t before = 0;
  const std::vector<std::int64_t> counts = gather(A.ranks(), A.local().nonzeros);
  for (int rank = 0; rank < A.ranks().rank(); ++rank) before += counts[static_cast<std::size_t>(rank)];
  return before;
}

}  // namespace

matrix_fingerprint fingerprint_of(const row_matrix& A) {
  const csr_view<const double> local = A.local();
  const std::int64_t before = entries_before(A), rows = A.all_rows();
  std::uint64_t offsets = A.ranks().rank() == 0 ? mixed(0, 0) : 0, columns = 0, values = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    offsets += mixed(bits_of(before + local.row_ptr[i + 1]), A.first_row() + i + 1);
    for (std::int64_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k) {
      columns += mixed(bits_of(static_cast<std::int32_t>(A.column(local.col[k]))), before + k);
      values += mixed(bits_of(local.val[k]), before + k);
    }
  }
  const auto sums = add_up(A.ranks(), std::array{offsets, columns, values});
  return {rows, rows, A.all_nonzeros(), random_bits(sums[0], sums[1]), sums[2]};
}

matrix_fingerprint fingerprint_of(const row_matrix& A, view<const double> v) {
  std::uint64_t values = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) values += mixed(bits_of(v[i]), A.first_row() + i);
  return {A.all_rows(), 1, A.all_rows(), 0, add_up(A.ranks(), std::array{values})[0]};
}

}  // namespace vouch::distributed
