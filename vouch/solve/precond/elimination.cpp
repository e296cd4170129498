#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/elimination.hpp>

namespace vouch {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Rows in the order of their group, equal groups in the order of the rows; start receives where each begins.
std::vector<std::int32_t> sort_by_group(const std::vector<std::int32_t>& group, std::int64_t groups,
                                        std::vector<std::int64_t>& start) {
  start.assign(at(groups) + 1, 0);
  for (const std::int32_t g : group) ++start[at(g) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::int64_t> next(start.begin(), start.end() - 1);
  std::vector<std::int32_t> rows(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) rows[at(next[at(group[i])]++)] = static_cast<std::int32_t>(i);
  return rows;
}

// Each row's level, from its entries left of the diagonal, and how many levels there are.
std::vector<std::int32_t> levels_below(std::int64_t rows, const std::int64_t* row_ptr, const std::int32_t* col,
                                       std::int64_t& count) {
  std::vector<std::int32_t> level(at(rows), 0);
  count = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int32_t deepest = -1;
    for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1] && col[k] < i; ++k)
      deepest = std::max(deepest, level[at(col[k])]);
    level[at(i)] = deepest + 1;
    count = std::max<std::int64_t>(count, deepest + 2);
  }
  return level;
}

template <real T>
std::int64_t first_not_finite(csr_view<const T> A, int threads) {
  std::int64_t bad = A.rows;
  const int team = loop_threads(threads, A.nonzeros);
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(static) reduction(min : bad)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (!std::isfinite(A.val[k])) bad = std::min(bad, i);
  return bad;
}

struct entry {
  std::int32_t col;
  double val;
};

// The entries of one row of P A P^T left of its diagonal, columns ascending.
template <real T>
void gather_row(csr_view<const T> A, std::int64_t row, std::int32_t k, const std::vector<std::int32_t>& place,
                std::vector<entry>& found) {
  found.clear();
  for (std::int64_t m = A.row_ptr[row]; m < A.row_ptr[row + 1]; ++m) {
    const std::int32_t col = place.empty() ? A.col[m] : place[at(A.col[m])];
    if (col < k) found.push_back({col, static_cast<double>(A.val[m])});
  }
  if (!place.empty())
    std::sort(found.begin(), found.end(), [](const entry& a, const entry& b) { return a.col < b.col; });
}

}  // namespace

template <real T>
elimination coloured(csr_view<const T> A) {
  std::vector<std::int32_t> colour(at(A.rows), -1);
  std::vector<std::int64_t> taken;  // taken[c] == i: a neighbour of row i has colour c
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (const std::int32_t c = colour[at(A.col[k])]; c >= 0) taken[at(c)] = i;
    const auto free = std::find_if(taken.begin(), taken.end(), [i](std::int64_t t) { return t != i; });
    colour[at(i)] = static_cast<std::int32_t>(free - taken.begin());
    if (free == taken.end()) taken.push_back(-1);
  }
  elimination result;
  result.colours = static_cast<std::int64_t>(taken.size());
  std::vector<std::int64_t> start;
  result.order = sort_by_group(colour, result.colours, start);
  return result;
}

level_sets find_levels(const sparse_rows& L) {
  level_sets sets;
  std::int64_t count = 0;
  const std::vector<std::int32_t> level = levels_below(L.rows(), L.row_ptr.data(), L.col.data(), count);
  sets.rows = sort_by_group(level, count, sets.start);
  return sets;
}

level_sets find_levels(const sparse_rows& L, const sparse_rows& U) {
  std::vector<std::int32_t> level(at(L.rows()), 0);
  std::int32_t count = 0;
  for (std::int64_t i = 0; i < L.rows(); ++i) {
    std::int32_t mine = level[at(i)];
    for (std::int64_t k = L.row_ptr[at(i)]; k < L.row_ptr[at(i) + 1]; ++k)
      mine = std::max(mine, level[at(L.col[at(k)])] + 1);
    level[at(i)] = mine;
    count = std::max(count, mine + 1);
    for (std::int64_t k = U.row_ptr[at(i)]; k < U.row_ptr[at(i) + 1]; ++k)
      level[at(U.col[at(k)])] = std::max(level[at(U.col[at(k)])], mine + 1);
  }
  level_sets sets;
  sets.rows = sort_by_group(level, count, sets.start);
  return sets;
}

template <real T>
elimination order_for_gpu(csr_view<const T> A) {
  elimination colours = coloured(A);
  std::int64_t levels = 0;
  levels_below(A.rows, A.row_ptr, A.col, levels);
  return levels <= 2 * colours.colours ? elimination{} : colours;
}

template <real T>
void require_finite_entries(csr_view<const T> A, int threads, const std::string& who) {
  if (const std::int64_t bad = first_not_finite(A, threads); bad < A.rows)
    throw value_error(who + ": row " + std::to_string(bad + 1) + " holds an entry that is NaN or infinite",
                      "rows count from 1");
}

template <real T>
lower_part take_lower(csr_view<const T> A, const elimination& order, int threads, const std::string& who) {
  inverse_diagonal(device::cpu(threads), A, who);
  require_finite_entries(A, threads, who);
  const bool permuted = !order.order.empty();
  std::vector<std::int32_t> place(order.order.size());
  for (std::size_t k = 0; k < place.size(); ++k) place[at(order.order[k])] = static_cast<std::int32_t>(k);

  lower_part part;
  part.diagonal.resize(at(A.rows));
  part.lower.row_ptr.assign(at(A.rows) + 1, 0);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros)) schedule(static)
  for (std::int64_t k = 0; k < A.rows; ++k) {
    const std::int64_t row = permuted ? order.order[at(k)] : k;
    std::int64_t count = 0;
    for (std::int64_t m = A.row_ptr[row]; m < A.row_ptr[row + 1]; ++m)
      count += (permuted ? place[at(A.col[m])] : A.col[m]) < k;
    part.lower.row_ptr[at(k) + 1] = count;
    part.diagonal[at(k)] = static_cast<double>(diagonal_entry(A, row));
  }
  std::partial_sum(part.lower.row_ptr.begin(), part.lower.row_ptr.end(), part.lower.row_ptr.begin());
  part.lower.col.resize(at(part.lower.nonzeros()));
  part.lower.val.resize(at(part.lower.nonzeros()));
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(threads, A.nonzeros))
  {
    std::vector<entry> found;
#pragma omp for schedule(static)
    for (std::int64_t k = 0; k < A.rows; ++k) {
      gather_row(A, permuted ? order.order[at(k)] : k, static_cast<std::int32_t>(k), place, found);
      std::int64_t m = part.lower.row_ptr[at(k)];
      for (const entry& e : found) {
        part.lower.col[at(m)] = e.col;
        part.lower.val[at(m++)] = e.val;
      }
    }
  }
  return part;
}

sparse_rows transposed(const sparse_rows& L) {
  sparse_rows U;
  U.row_ptr.assign(L.row_ptr.size(), 0);
  U.col.resize(L.col.size());
  U.val.resize(L.val.size());
  for (const std::int32_t j : L.col) ++U.row_ptr[at(j) + 1];
  std::partial_sum(U.row_ptr.begin(), U.row_ptr.end(), U.row_ptr.begin());
  std::vector<std::int64_t> next(U.row_ptr.begin(), U.row_ptr.end() - 1);
  for (std::int64_t i = 0; i < L.rows(); ++i)
    for (std::int64_t k = L.row_ptr[at(i)]; k < L.row_ptr[at(i) + 1]; ++k) {
      const std::int64_t to = next[at(L.col[at(k)])]++;
      U.col[at(to)] = static_cast<std::int32_t>(i);
      U.val[at(to)] = L.val[at(k)];
    }
  return U;
}

sparse_rows renumbered(const sparse_rows& L, std::span<const std::int32_t> rows,
                       std::span<const std::int32_t> name, int threads) {
  sparse_rows R;
  R.row_ptr.assign(L.row_ptr.size(), 0);
  const auto row = [&](std::int64_t k) { return rows.empty() ? at(k) : at(rows[at(k)]); };
  for (std::int64_t k = 0; k < L.rows(); ++k)
    R.row_ptr[at(k) + 1] = R.row_ptr[at(k)] + L.row_ptr[row(k) + 1] - L.row_ptr[row(k)];
  R.col.resize(L.col.size());
  R.val.resize(L.val.size());
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, L.nonzeros())) schedule(static)
  for (std::int64_t k = 0; k < L.rows(); ++k) {
    std::size_t to = at(R.row_ptr[at(k)]);
    for (std::size_t m = at(L.row_ptr[row(k)]); m < at(L.row_ptr[row(k) + 1]); ++m, ++to) {
      R.col[to] = name.empty() ? L.col[m] : name[at(L.col[m])];
      R.val[to] = L.val[m];
    }
  }
  return R;
}

template elimination coloured(csr_view<const float>);
template elimination coloured(csr_view<const double>);
template elimination order_for_gpu(csr_view<const float>);
template elimination order_for_gpu(csr_view<const double>);
template void require_finite_entries(csr_view<const float>, int, const std::string&);
template void require_finite_entries(csr_view<const double>, int, const std::string&);
template lower_part take_lower(csr_view<const float>, const elimination&, int, const std::string&);
template lower_part take_lower(csr_view<const double>, const elimination&, int, const std::string&);

}  // namespace vouch
