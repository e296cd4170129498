#include <algorithm>

#include <vouch/solve/stationary/independent_rows.hpp>
#include <vouch/sparse/transpose.hpp>

namespace vouch {
namespace {

// Rows by the number of their set, rows of one set ascending.
independent_rows sort_by_set(const std::vector<std::int32_t>& set, std::size_t count) {
  independent_rows sets{std::vector<std::int64_t>(count + 1, 0), std::vector<std::int32_t>(set.size())};
  for (const std::int32_t s : set) ++sets.start[static_cast<std::size_t>(s) + 1];
  for (std::size_t s = 1; s <= count; ++s) sets.start[s] += sets.start[s - 1];
  std::vector<std::int64_t> next(sets.start.begin(), sets.start.end() - 1);
  for (std::size_t i = 0; i < set.size(); ++i)
    sets.rows[static_cast<std::size_t>(next[static_cast<std::size_t>(set[i])]++)] =
        static_cast<std::int32_t>(i);
  return sets;
}

}  // namespace

template <class T>
independent_rows find_independent_rows(csr_view<const T> A) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<std::int32_t> level(n, 0);
  std::int32_t last = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
    std::int64_t k = begin;
    for (; k < end && static_cast<std::size_t>(A.col[k]) < i; ++k)
      level[i] = std::max(level[i], level[static_cast<std::size_t>(A.col[k])] + 1);
    for (; k < end; ++k)
      if (const auto j = static_cast<std::size_t>(A.col[k]); j > i) level[j] = std::max(level[j], level[i] + 1);
    last = std::max(last, level[i]);
  }
  return sort_by_set(level, static_cast<std::size_t>(last + 1));
}

template <real T>
independent_rows colour_rows(const device& cpu, csr_view<const T> A) {
  const auto n = static_cast<std::size_t>(A.rows);
  const csr<T> mirrored = transpose(cpu, A);
  std::vector<std::int32_t> colour(n, -1);
  std::vector<std::int64_t> taken;  // taken[c] == i: a neighbour of row i has colour c
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (const csr_view<const T>& pattern : {A, mirrored.all()})
      for (std::int64_t k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k)
        if (const std::int32_t c = colour[static_cast<std::size_t>(pattern.col[k])]; c >= 0)
          taken[static_cast<std::size_t>(c)] = i;
    const auto free = std::find_if(taken.begin(), taken.end(), [i](std::int64_t t) { return t != i; });
    colour[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(free - taken.begin());
    if (free == taken.end()) taken.push_back(-1);
  }
  return sort_by_set(colour, taken.size());
}

#define VOUCH_INSTANTIATE(T)                                          \
  template independent_rows find_independent_rows(csr_view<const T>); \
  template independent_rows colour_rows(const device&, csr_view<const T>);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
