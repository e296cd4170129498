#include <algorithm>

#include <vouch/solve/precond/sliced.hpp>

#include <vouch/core/ieee_environment.hpp>

namespace vouch {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t length(const sparse_rows& L, std::int64_t row) {
  return L.row_ptr[at(row) + 1] - L.row_ptr[at(row)];
}

// Steps of 32 entries that a warp takes through the slice that begins at row.
std::int64_t steps(const sparse_rows& L, std::int64_t row, std::int64_t end, std::int64_t lanes) {
  std::int64_t most = 0;
  for (std::int64_t i = row; i < std::min(end, row + 32 / lanes); ++i) most = std::max(most, length(L, i));
  return ceil_div(most, lanes);
}

std::int64_t padded(const sparse_rows& L, std::int64_t first, std::int64_t end, std::int64_t lanes) {
  std::int64_t entries = 0;
  for (std::int64_t i = first; i < end; i += 32 / lanes) entries += 32 * steps(L, i, end, lanes);
  return entries;
}

std::int32_t choose_lanes(const sparse_rows& L, std::int64_t first, std::int64_t end, std::int64_t threads) {
  const std::int64_t rows = end - first;
  const std::int64_t entries = L.row_ptr[at(end)] - L.row_ptr[at(first)];
  std::int64_t longest = 0;
  for (std::int64_t i = first; i < end; ++i) longest = std::max(longest, length(L, i));
  std::int32_t lanes = 1;
  while (lanes < 32 && (8 * lanes * rows <= entries || (2 * lanes * rows <= threads && 2 * lanes <= longest)))
    lanes *= 2;
  if (2 * padded(L, first, end, lanes) <= 3 * entries + 64) return lanes;
  std::int64_t least = padded(L, first, end, lanes);
  for (std::int32_t other = 32; other > 0; other /= 2)
    if (const std::int64_t places = padded(L, first, end, other); places < least) {
      least = places;
      lanes = other;
    }
  return lanes;
}

// The entries of the rows from row on, up to end, into the slice that begins at from.
template <real T>
void fill_slice(const sparse_rows& L, std::int64_t row, std::int64_t end, std::int64_t lanes, std::int64_t from,
                sliced_triangle<T>& S) {
  for (std::int64_t q = 0; q < 32 / lanes && row + q < end; ++q)
    for (std::int64_t e = 0; e < length(L, row + q); ++e) {
      const std::size_t place = at(from + 32 * (e / lanes) + lanes * q + e % lanes);
      const std::size_t source = at(L.row_ptr[at(row + q)] + e);
      S.col[place] = L.col[source];
      S.val[place] = static_cast<T>(L.val[source]);
    }
}

}  // namespace

template <real T>
sliced_triangle<T> make_sliced(const sparse_rows& L, const std::vector<std::int64_t>& start,
                               std::int64_t threads) {
  sliced_triangle<T> S;
  for (std::size_t s = 0; s + 1 < start.size(); ++s) {
    const std::int32_t lanes = choose_lanes(L, start[s], start[s + 1], threads);
    S.sets.push_back({static_cast<std::int64_t>(S.slice_ptr.size()) - 1, static_cast<std::int32_t>(start[s]),
                      static_cast<std::int32_t>(start[s + 1]), lanes});
    for (std::int64_t i = start[s]; i < start[s + 1]; i += 32 / lanes)
      S.slice_ptr.push_back(S.slice_ptr.back() + 32 * steps(L, i, start[s + 1], lanes));
  }
  S.col.assign(at(S.slice_ptr.back()), -1);
  S.val.assign(at(S.slice_ptr.back()), T{});
  for (const sweep_set& set : S.sets) {
#pragma omp parallel for firstprivate(ieee) num_threads(device::cpu().threads()) schedule(static)
    for (std::int64_t k = 0; k < set.slices(); ++k)
      fill_slice(L, set.first_row + k * (32 / set.lanes), set.end_row, set.lanes,
                 S.slice_ptr[at(set.first_slice + k)], S);
  }
  return S;
}

template sliced_triangle<float> make_sliced(const sparse_rows&, const std::vector<std::int64_t>&, std::int64_t);
template sliced_triangle<double> make_sliced(const sparse_rows&, const std::vector<std::int64_t>&,
                                             std::int64_t);

}  // namespace vouch
