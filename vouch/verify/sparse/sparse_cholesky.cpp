#include <vouch/verify/sparse/sparse_cholesky.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/sparse/fill.hpp>
#include <vouch/sparse/ordering.hpp>

namespace vouch::detail {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The elimination tree: of each column of L the row of its first entry below the diagonal, -1 where there is none.
std::vector<std::int32_t> elimination_tree(csr_view<const double> A) {
  std::vector<std::int32_t> parent(at(A.rows), -1), ancestor(at(A.rows), -1);
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1] && A.col[k] < i; ++k)
      for (std::int32_t j = A.col[k]; j != i;) {
        const std::int32_t next = std::exchange(ancestor[at(j)], i);
        if (next < 0) parent[at(j)] = i;
        j = next < 0 ? i : next;
      }
  return parent;
}

// The columns with all below one in the tree directly before it.
std::vector<std::int32_t> postorder(const std::vector<std::int32_t>& parent) {
  const auto n = static_cast<std::int32_t>(parent.size());
  std::vector<std::int32_t> child(parent.size(), -1), sibling(parent.size(), -1), order, waiting;
  for (std::int32_t j = n; j-- > 0;)
    if (const std::int32_t p = parent[at(j)]; p >= 0) sibling[at(j)] = std::exchange(child[at(p)], j);
  for (std::int32_t root = 0; root < n; ++root) {
    if (parent[at(root)] >= 0) continue;
    waiting.push_back(root);
    while (!waiting.empty()) {
      const std::int32_t j = waiting.back();
      if (const std::int32_t next = child[at(j)]; next >= 0) {
        child[at(j)] = sibling[at(next)];
        waiting.push_back(next);
      } else {
        order.push_back(j);
        waiting.pop_back();
      }
    }
  }
  return order;
}

// A part of a matrix by columns.
struct block {
  double* values;
  std::int64_t lead;  // between columns
};

struct workspace {
  cancellation_probe stop;
  std::vector<double> tiles;
};

constexpr std::int64_t tile = simd<double>::width;

// Rows of l in tiles of 8, each column by column; rows that are not there are 0.
void pack_rows(block l, std::int64_t rows, std::int64_t depth, std::vector<double>& tiles) {
  tiles.resize(at((rows + tile - 1) / tile * tile * depth));
  std::int64_t i = 0;
  for (; i + tile <= rows; i += tile)
    for (std::int64_t k = 0; k < depth; ++k)
      std::copy_n(l.values + k * l.lead + i, tile, tiles.data() + i * depth + k * tile);
  for (std::int64_t k = 0; k < depth && i < rows; ++k) {
    double* const last = tiles.data() + i * depth + k * tile;
    std::fill(std::copy_n(l.values + k * l.lead + i, rows - i, last), last + tile, 0.0);
  }
}

// 4 columns of x, from one row on at most 8: less sums of the tile `below` times 4 rows of the tile `here`.
VOUCH_SIMD_INLINE void subtract_tile(block x, std::int64_t rows, std::int64_t cols, const double* below,
                                     const double* here, std::int64_t depth) {
  lanes<double> sum[4] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    lanes<double> v;
    load<double>(v, below + k * tile);
    for (int c = 0; c < 4; ++c) sum[c] += v * here[k * tile + c];
  }
  for (std::int64_t c = 0; c < std::min<std::int64_t>(4, cols); ++c)
    for (std::int64_t i = 0; i < std::min(tile, rows); ++i) x.values[c * x.lead + i] -= sum[c][i];
}

// At most 8 columns of x, from row j on. It must not throw: callers' frames do not survive what unwinds a clone.
VOUCH_SIMD_CLONES void subtract_columns(block x, const double* tiles, std::int64_t j, std::int64_t rows,
                                        std::int64_t cols, std::int64_t depth) noexcept {
  for (std::int64_t i = j; i < rows; i += tile)
    for (std::int64_t c = 0; c < cols; c += 4)
      subtract_tile({x.values + (j + c) * x.lead + i, x.lead}, rows - i, cols - c, tiles + i * depth,
                    tiles + j * depth + c, depth);
}

// Columns of x less the products of the rows of l, from the diagonal down: x_ij -= sum l_ik l_jk. Near the diagonal
// entries above it change, too.
void subtract_products(block x, block l, std::int64_t rows, std::int64_t cols, std::int64_t depth,
                       workspace& work) {
  constexpr std::int64_t deepest = 256;
  for (std::int64_t from = 0; from < depth; from += deepest) {
    const std::int64_t deep = std::min(deepest, depth - from);
    pack_rows({l.values + from * l.lead, l.lead}, rows, deep, work.tiles);
    for (std::int64_t j = 0; j < cols; j += tile) {
      work.stop.check();
      subtract_columns(x, work.tiles.data(), j, rows, std::min(tile, cols - j), deep);
    }
  }
}

VOUCH_SIMD_CLONES void subtract_multiple(double factor, const double* a, double* x, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) x[k] -= factor * a[k];
}

// The first columns of a front become those of L: false where a pivot is not positive.
bool eliminate(block front, std::int64_t rows, std::int64_t cols, workspace& work) {
  constexpr std::int64_t panel = 32;
  for (std::int64_t from = 0; from < cols; from += panel) {
    const std::int64_t to = std::min(from + panel, cols);
    const block rest{front.values + from * front.lead + from, front.lead};
    subtract_products(rest, {front.values + from, front.lead}, rows - from, to - from, from, work);
    for (std::int64_t j = from; j < to; ++j) {
      double* const column = front.values + j * front.lead;
      if (!(column[j] > 0 && std::isfinite(column[j]))) return false;
      column[j] = std::sqrt(column[j]);
      for (std::int64_t i = j + 1; i < rows; ++i) column[i] /= column[j];
      for (std::int64_t c = j + 1; c < to; ++c)
        subtract_multiple(column[c], column + c, front.values + c * front.lead + c, rows - c);
    }
  }
  return true;
}

// What a front hands to that of the first of its rows: a square of which the lower triangle counts.
struct update {
  const std::int32_t* row;
  std::int64_t size;
  std::vector<double> values;
};

}  // namespace

array<std::int32_t> cholesky_order(const device& dev, csr_view<const double> A) {
  array<std::int32_t> order = minimum_degree<double>(dev, A);
  // Nested dissection takes as long as so many operations for each entry.
  constexpr double price_of_dissection = 1000;
  constexpr std::int64_t most_entries = std::int64_t{1} << 30;  // none that has more fits into memory
  const double flops = predict_elimination<double>(A, order, most_entries).flops;
  if (flops > price_of_dissection * static_cast<double>(A.nonzeros))
    if (std::optional<array<std::int32_t>> other = nested_dissection<double>(dev, A);
        other && predict_elimination<double>(A, *other, most_entries).flops < flops)
      order = std::move(*other);
  const std::vector<std::int32_t> post = postorder(elimination_tree(permute<double>(dev, A, order)));
  array<std::int32_t> result(dev, A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i) result[i] = order[post[at(i)]];
  return result;
}

// Column j stays in the front of column j - 1 where it has no rows that are not in that one.
cholesky_structure::cholesky_structure(csr_view<const double> A, std::int64_t most_entries)
    : row_start{0}, value_start{0} {
  const cancellation_probe stop;
  std::vector<std::int64_t> front_of(at(A.rows), -1);  // the last front that has the row
  std::vector<std::pair<std::int64_t, std::int64_t>>
      waiting;  // where row holds those of updates, the last on top
  const auto close_front = [&](std::int64_t end) {
    if (children.empty()) return;
    const std::int64_t begin = row_start.back(), size = std::ssize(row) - begin, width = end - first.back();
    if (width < size) waiting.emplace_back(begin + width, begin + size);
    row_start.push_back(begin + size);
    value_start.push_back(value_start.back() + size * width);
  };
  for (std::int32_t j = 0; j < A.rows && entries() <= most_entries; ++j) {
    stop.check();
    const auto updates_for_j = [&] {
      std::size_t k = waiting.size();
      while (k > 0 && row[at(waiting[k - 1].first)] == j) --k;
      return k;
    };
    const auto each_row_below = [&](auto&& each) {
      for (std::int64_t k = A.row_ptr[j]; k < A.row_ptr[j + 1]; ++k)
        if (A.col[k] > j) each(A.col[k]);
      for (std::size_t w = updates_for_j(); w < waiting.size(); ++w)
        for (std::int64_t k = waiting[w].first + 1; k < waiting[w].second; ++k) each(row[at(k)]);
    };
    bool stays = j > 0 && front_of[at(j)] == fronts() - 1;
    if (stays) each_row_below([&](std::int32_t i) { stays = stays && front_of[at(i)] == fronts() - 1; });
    if (!stays) {
      close_front(j);
      first.push_back(j);
      children.push_back(0);
      row.push_back(j);
      each_row_below([&](std::int32_t i) {
        if (std::exchange(front_of[at(i)], fronts() - 1) != fronts() - 1) row.push_back(i);
      });
      std::sort(row.begin() + row_start.back(), row.end());
    }
    children.back() += static_cast<std::int32_t>(waiting.size() - updates_for_j());
    waiting.resize(updates_for_j());
  }
  close_front(A.rows);
  first.push_back(static_cast<std::int32_t>(A.rows));
  if (entries() <= most_entries) count_terms(A.rows);
}

void cholesky_structure::count_terms(std::int64_t rows) {
  terms.assign(at(rows), 0);
  for (std::int64_t f = 0; f < fronts(); ++f) {
    const std::int64_t begin = row_start[at(f)], width = first[at(f + 1)] - first[at(f)];
    for (std::int64_t k = begin; k < row_start[at(f + 1)]; ++k)
      terms[at(row[at(k)])] += std::min(k - begin, width);
  }
}

sparse_cholesky::sparse_cholesky(csr_view<const double> A, const cholesky_structure& structure, double shift)
    : structure_(&structure), values_(at(structure.entries())) {
  workspace work;
  std::vector<std::int64_t> place(at(A.rows));  // of a row in the front at hand
  std::vector<update> waiting;                  // the last on top
  for (std::int64_t f = 0; f < structure.fronts(); ++f) {
    const std::int32_t* const row = structure.row.data() + structure.row_start[at(f)];
    const std::int32_t from = structure.first[at(f)];
    const std::int64_t rows = structure.row_start[at(f + 1)] - structure.row_start[at(f)];
    const std::int64_t cols = structure.first[at(f + 1)] - from, below = rows - cols;
    const block front{values_.data() + structure.value_start[at(f)], rows};
    for (std::int64_t k = 0; k < rows; ++k) place[at(row[k])] = k;
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t k = A.row_ptr[from + j]; k < A.row_ptr[from + j + 1]; ++k)
        if (A.col[k] >= from + j)
          front.values[j * rows + place[at(A.col[k])]] =
              A.col[k] == from + j ? sub_down(A.val[k], shift) : A.val[k];
    update made{row + cols, below, std::vector<double>(at(below * below))};
    for (std::int32_t c = 0; c < structure.children[at(f)]; ++c) {
      const update& part = waiting.back();
      for (std::int64_t j = 0; j < part.size; ++j) {
        const std::int64_t col = place[at(part.row[j])];
        double* const to =  // the entry on the diagonal
            col < cols ? front.values + col * (rows + 1) : made.values.data() + (col - cols) * (below + 1);
        for (std::int64_t i = j; i < part.size; ++i)
          to[place[at(part.row[i])] - col] += part.values[at(j * part.size + i)];
      }
      waiting.pop_back();
    }
    completed_ = eliminate(front, rows, cols, work);
    if (!completed_) return;
    subtract_products({made.values.data(), below}, {front.values + cols, rows}, below, below, cols, work);
    if (below > 0) waiting.push_back(std::move(made));
  }
}

void sparse_cholesky::solve(std::vector<double>& x) const {
  const cholesky_structure& s = *structure_;
  std::vector<double> y;
  const auto each_column = [&](std::int64_t f, auto&& each) {
    const std::int32_t* const row = s.row.data() + s.row_start[at(f)];
    const std::int64_t rows = s.row_start[at(f + 1)] - s.row_start[at(f)],
                       cols = s.first[at(f + 1)] - s.first[at(f)];
    y.resize(at(rows));
    for (std::int64_t k = 0; k < rows; ++k) y[at(k)] = x[at(row[k])];
    each(values_.data() + s.value_start[at(f)], rows, cols);
    for (std::int64_t k = 0; k < rows; ++k) x[at(row[k])] = y[at(k)];
  };
  for (std::int64_t f = 0; f < s.fronts(); ++f)
    each_column(f, [&](const double* column, std::int64_t rows, std::int64_t cols) {
      for (std::int64_t j = 0; j < cols; ++j, column += rows) {
        y[at(j)] /= column[j];
        subtract_multiple(y[at(j)], column + j + 1, y.data() + j + 1, rows - j - 1);
      }
    });
  for (std::int64_t f = s.fronts(); f-- > 0;)
    each_column(f, [&](const double* first, std::int64_t rows, std::int64_t cols) {
      for (std::int64_t j = cols; j-- > 0;) {
        double sum = 0;
        for (std::int64_t i = j + 1; i < rows; ++i) sum += first[j * rows + i] * y[at(i)];
        y[at(j)] = (y[at(j)] - sum) / first[j * rows + j];
      }
    });
}

}  // namespace vouch::detail
