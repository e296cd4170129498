#include <algorithm>

#include <vouch/solve/precond/sliced.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>

namespace vouch {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t length(const triangle& L, std::int64_t row) { return L.row_ptr[at(row) + 1] - L.row_ptr[at(row)]; }

// Steps of 32 entries that a warp takes through the slice that begins at row.
std::int64_t steps(const triangle& L, std::int64_t row, std::int64_t end, std::int64_t lanes) {
  std::int64_t most = 0;
  for (std::int64_t i = row; i < std::min(end, row + 32 / lanes); ++i) most = std::max(most, length(L, i));
  return ceil_div(most, lanes);
}

std::int64_t padded(const triangle& L, std::int64_t first, std::int64_t end, std::int64_t lanes) {
  std::int64_t entries = 0;
  for (std::int64_t i = first; i < end; i += 32 / lanes) entries += 32 * steps(L, i, end, lanes);
  return entries;
}

std::int32_t choose_lanes(const triangle& L, std::int64_t first, std::int64_t end, std::int64_t threads) {
  const std::int64_t rows = end - first;
  const std::int64_t entries = L.row_ptr[at(end)] - L.row_ptr[at(first)];
  std::int64_t longest = 0;
  for (std::int64_t i = first; i < end; ++i) longest = std::max(longest, length(L, i));
  std::int32_t lanes = 1;
  while (lanes < 32 && (8 * lanes * rows <= entries || (2 * lanes * rows <= threads && 2 * lanes <= longest)))
    lanes *= 2;
  while (lanes < 32 && 2 * padded(L, first, end, lanes) > 3 * entries + 64) lanes *= 2;
  return lanes;
}

}  // namespace

template <real T>
sliced_triangle<T> make_sliced(const triangle& L, const std::vector<std::int64_t>& start, std::int64_t threads,
                               const std::string& who) {
  sliced_triangle<T> S;
  const std::vector<T> val = narrowed<T>(L.val, who);
  for (std::size_t s = 0; s + 1 < start.size(); ++s) {
    const std::int64_t first = start[s], end = start[s + 1];
    const std::int32_t lanes = choose_lanes(L, first, end, threads);
    S.sets.push_back({static_cast<std::int64_t>(S.slice_ptr.size()) - 1, static_cast<std::int32_t>(first),
                      static_cast<std::int32_t>(end), lanes});
    for (std::int64_t i = first; i < end; i += 32 / lanes) {
      const std::int64_t from = S.slice_ptr.back();
      S.slice_ptr.push_back(from + 32 * steps(L, i, end, lanes));
      S.col.resize(at(S.slice_ptr.back()), -1);
      S.val.resize(at(S.slice_ptr.back()), T{});
      for (std::int64_t q = 0; q < 32 / lanes && i + q < end; ++q)
        for (std::int64_t e = 0; e < length(L, i + q); ++e) {
          const std::int64_t place = from + 32 * (e / lanes) + lanes * q + e % lanes;
          S.col[at(place)] = L.col[at(L.row_ptr[at(i + q)] + e)];
          S.val[at(place)] = val[at(L.row_ptr[at(i + q)] + e)];
        }
    }
  }
  return S;
}

template sliced_triangle<float> make_sliced(const triangle&, const std::vector<std::int64_t>&, std::int64_t,
                                            const std::string&);
template sliced_triangle<double> make_sliced(const triangle&, const std::vector<std::int64_t>&, std::int64_t,
                                             const std::string&);

}  // namespace vouch
