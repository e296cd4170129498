#include <vouch/sparse/matching.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The cost of an entry is log2 of the largest in its row over itself: 0 and more, infinite where it is zero.
struct entry_costs {
  std::vector<double> cost;
  std::vector<double> largest;  // log2 of the largest entry of each row, 0 in rows of zeros
};

template <real T>
entry_costs costs_of(csr_view<const T> A, int threads) {
  entry_costs found{std::vector<double>(at(A.nonzeros)), std::vector<double>(at(A.rows))};
  std::int64_t bad = A.rows;
  const int team = loop_threads(threads, A.nonzeros);
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(static) reduction(min : bad)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double most = -infinity;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      if (!std::isfinite(A.val[k])) bad = std::min(bad, i);
      found.cost[at(k)] = std::log2(std::fabs(static_cast<double>(A.val[k])));
      most = std::max(most, found.cost[at(k)]);
    }
    found.largest[at(i)] = std::isfinite(most) ? most : 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      found.cost[at(k)] = found.largest[at(i)] - found.cost[at(k)];
  }
  if (bad < A.rows)
    throw value_error("matching: row " + std::to_string(bad + 1) + " holds an entry that is NaN or infinite",
                      "rows count from 1");
  return found;
}

// Matched entries of least total cost, and potentials with u_i + v_j <= cost_ij, equal where matched.
class assignment {
 public:
  assignment(std::int64_t n, const std::int64_t* row_ptr, const std::int32_t* col, std::vector<double> cost)
      : n_(n),
        row_ptr_(row_ptr),
        col_(col),
        cost_(std::move(cost)),
        u_(at(n), infinity),
        v_(at(n), infinity),
        row_of_(at(n), -1),
        column_of_(at(n), -1),
        distance_(at(n), infinity),
        from_(at(n)),
        settled_(at(n), false) {}

  void solve() {
    begin_anew();
    const bool moved = bid();
    augment_all();
    if (moved && deficient_ >= 0) {  // rows that bid for too few columns have moved their potentials far
      begin_anew();
      augment_all();
    }
    end_potentials();
  }

  const std::vector<double>& rows() const { return u_; }
  const std::vector<double>& columns() const { return v_; }
  const std::vector<std::int32_t>& row_of() const { return row_of_; }
  const std::vector<std::int32_t>& column_of() const { return column_of_; }
  std::int64_t deficient() const { return deficient_; }

 private:
  std::int64_t begin(std::int64_t i) const { return row_ptr_[i]; }
  std::int64_t end(std::int64_t i) const { return row_ptr_[i + 1]; }

  void begin_anew() {
    std::fill(v_.begin(), v_.end(), infinity);
    std::fill(row_of_.begin(), row_of_.end(), -1);
    std::fill(column_of_.begin(), column_of_.end(), -1);
    settled_.assign(at(n_), false);
    deficient_ = -1;
    find_potentials();
    for (std::int32_t i = 0; i < n_; ++i) take_tight(i);
  }

  void augment_all() {
    const cancellation_probe stop;
    for (std::int32_t i = 0; i < n_; ++i) {
      if (column_of_[at(i)] >= 0) continue;
      stop.check();
      if (!augment(i) && deficient_ < 0) deficient_ = i;
    }
  }

  // Rows without a column bid for their best one, in turns: it becomes as dear as the second best, and the row that
  // had it bids next: augmenting row reduction of Jonker and Volgenant, Computing 38 (1987). Few rows are left for
  // searches, which cost far more. false: there were few already.
  bool bid() {
    constexpr std::int64_t bids_a_row = 60, rows_to_search = 1000000;  // fewer take milliseconds
    std::vector<std::int32_t> bidders;
    for (std::int32_t i = 0; i < n_; ++i)
      if (column_of_[at(i)] < 0) bidders.push_back(i);
    if (std::ssize(bidders) * n_ < rows_to_search) return false;
    const cancellation_probe stop;
    std::int64_t left = bids_a_row * n_;
    while (!bidders.empty() && left > 0) {
      stop.check();
      std::vector<std::int32_t> next;
      for (const std::int32_t i : bidders)
        if (const std::int32_t displaced = take_best(i); displaced >= 0) next.push_back(displaced);
      left -= std::ssize(bidders);
      bidders = std::move(next);
    }
    return true;
  }

  // The row whose column it took, -1 where it was free or there is none to take.
  std::int32_t take_best(std::int32_t i) {
    double best = infinity, second = infinity;
    std::int64_t chosen = -1, other = -1;
    for (std::int64_t k = begin(i); k < end(i); ++k) {
      const double left = cost_[at(k)] - v_[at(col_[k])];
      if (left < best) {
        second = best;
        other = chosen;
        best = left;
        chosen = k;
      } else if (left < second) {
        second = left;
        other = k;
      }
    }
    if (chosen < 0) return -1;
    if (best < second && second < infinity)
      v_[at(col_[chosen])] -= second - best;
    else if (best == second && row_of_[at(col_[chosen])] >= 0)
      chosen = other;
    const std::int32_t j = col_[chosen], displaced = row_of_[at(j)];
    u_[at(i)] = cost_[at(chosen)] - v_[at(j)];
    match(i, j);
    if (displaced >= 0) column_of_[at(displaced)] = -1;
    return displaced;
  }

  void find_potentials() {
    for (std::int64_t k = 0; k < row_ptr_[n_]; ++k) v_[at(col_[k])] = std::min(v_[at(col_[k])], cost_[at(k)]);
    for (double& v : v_)
      if (v == infinity) v = 0;
    for (std::int64_t i = 0; i < n_; ++i) u_[at(i)] = least_left(i);
  }

  double least_left(std::int64_t i) const {
    double least = infinity;
    for (std::int64_t k = begin(i); k < end(i); ++k) least = std::min(least, cost_[at(k)] - v_[at(col_[k])]);
    return least == infinity ? 0 : least;
  }

  bool is_tight(std::int64_t i, std::int64_t k) const { return cost_[at(k)] - v_[at(col_[k])] == u_[at(i)]; }

  std::int32_t tight_free_column(std::int32_t i) const {
    for (std::int64_t k = begin(i); k < end(i); ++k)
      if (row_of_[at(col_[k])] < 0 && is_tight(i, k)) return col_[k];
    return -1;
  }

  void match(std::int32_t i, std::int32_t j) {
    row_of_[at(j)] = i;
    column_of_[at(i)] = j;
  }

  // A path of no length: to a free column, or by way of one whose row has another.
  void take_tight(std::int32_t i) {
    if (const std::int32_t j = tight_free_column(i); j >= 0) return match(i, j);
    for (std::int64_t k = begin(i); k < end(i); ++k) {
      if (!is_tight(i, k)) continue;
      const std::int32_t owner = row_of_[at(col_[k])];
      if (const std::int32_t other = tight_free_column(owner); other >= 0) {
        match(owner, other);
        return match(i, col_[k]);
      }
    }
  }

  // Dijkstra's search from a row without a column, by reduced costs, to the nearest column without a row. False where
  // it reaches none.
  bool augment(std::int32_t first) {
    double best = infinity, so_far = 0;
    std::int32_t end_column = -1;
    for (std::int32_t row = first; row >= 0;) {
      for (std::int64_t k = begin(row); k < end(row); ++k) {
        const std::int32_t j = col_[k];
        if (settled_[at(j)]) continue;
        const double d = so_far + std::max(0.0, cost_[at(k)] - u_[at(row)] - v_[at(j)]);
        if (!(d < best)) continue;
        if (row_of_[at(j)] < 0) {
          best = d;
          end_column = j;
          from_[at(j)] = row;
        } else if (d < distance_[at(j)]) {
          if (distance_[at(j)] == infinity) touched_.push_back(j);
          distance_[at(j)] = d;
          from_[at(j)] = row;
          open_.emplace(d, j);
        }
      }
      row = next_row(best, so_far);
    }
    if (end_column >= 0) {
      shift_potentials(first, best);
      take_path(first, end_column);
    }
    forget(end_column >= 0);
    return end_column >= 0;
  }

  // The row of the nearest column that is not settled, if that is nearer than best; -1 where there is none.
  std::int32_t next_row(double best, double& so_far) {
    while (!open_.empty() && open_.top().first < best) {
      const auto [d, j] = open_.top();
      open_.pop();
      if (settled_[at(j)] || d > distance_[at(j)]) continue;
      settled_[at(j)] = true;
      so_far = d;
      return row_of_[at(j)];
    }
    return -1;
  }

  void shift_potentials(std::int32_t first, double best) {
    u_[at(first)] += best;
    for (const std::int32_t j : touched_)
      if (settled_[at(j)]) {
        v_[at(j)] += distance_[at(j)] - best;
        u_[at(row_of_[at(j)])] += best - distance_[at(j)];
      }
  }

  void take_path(std::int32_t first, std::int32_t j) {
    for (;;) {
      const std::int32_t i = from_[at(j)], next = column_of_[at(i)];
      match(i, j);
      if (i == first) return;
      j = next;
    }
  }

  // Columns that a search in vain has reached lead nowhere: they stay settled.
  void forget(bool found) {
    for (const std::int32_t j : touched_) {
      distance_[at(j)] = infinity;
      settled_[at(j)] = !found;
    }
    touched_.clear();
    open_ = {};
  }

  // Rounding of the steps goes: matched entries are tight, rows without one as tight as they can be.
  void end_potentials() {
    for (std::int64_t i = 0; i < n_; ++i) {
      u_[at(i)] = least_left(i);
      for (std::int64_t k = begin(i); k < end(i); ++k)
        if (col_[k] == column_of_[at(i)]) u_[at(i)] = cost_[at(k)] - v_[at(col_[k])];
    }
  }

  using reached = std::pair<double, std::int32_t>;

  std::int64_t n_;
  const std::int64_t* row_ptr_;
  const std::int32_t* col_;
  std::vector<double> cost_, u_, v_;
  std::vector<std::int32_t> row_of_, column_of_;
  std::vector<double> distance_;    // of a column from the row at hand
  std::vector<std::int32_t> from_;  // the row before a column on its path
  std::vector<bool> settled_;
  std::vector<std::int32_t> touched_;
  std::priority_queue<reached, std::vector<reached>, std::greater<>> open_;
  std::int64_t deficient_ = -1;
};

double middle(const std::vector<double>& logs) {
  if (logs.empty()) return 0;
  const auto [least, most] = std::minmax_element(logs.begin(), logs.end());
  return *least / 2 + *most / 2;
}

array<double> scales_of(const device& dev, const std::vector<double>& logs, double moved,
                        matching_scales kind) {
  constexpr double most = 1022;
  array<double> scale(dev, std::ssize(logs));
  for (std::int64_t i = 0; i < scale.size(); ++i) {
    const double exponent = std::clamp(logs[at(i)] + moved, -most, most);
    scale[i] = kind == matching_scales::nearest ? std::exp2(exponent)
                                                : std::ldexp(1.0, static_cast<int>(std::lround(exponent)));
  }
  return scale;
}

// The permutation that a partial matching is, rows and columns left over paired as they come.
array<std::int32_t> completed(const device& dev, const assignment& found) {
  array<std::int32_t> row_of = array<std::int32_t>::from(dev, found.row_of());
  std::int64_t next = 0;
  for (std::int32_t& row : row_of) {
    if (row >= 0) continue;
    while (found.column_of()[at(next)] >= 0) ++next;
    row = static_cast<std::int32_t>(next++);
  }
  return row_of;
}

}  // namespace

template <real T>
product_matching maximum_product_matching(const device& dev, csr_view<const T> A, matching_scales scales) {
  const ieee_environment here;
  if (dev.is_cuda()) throw value_error("matching: runs on the CPU, the device is a GPU");
  const valid_csr valid("matching", dev, A);
  if (A.rows != A.cols)
    throw shape_error("matching: the matrix is " + std::to_string(A.rows) + " by " + std::to_string(A.cols) +
                      ", not square");
  entry_costs costs = costs_of(A, dev.threads());
  assignment found(A.rows, A.row_ptr, A.col, std::move(costs.cost));
  found.solve();
  std::vector<double> of_rows = found.rows();
  for (std::size_t i = 0; i < of_rows.size(); ++i) of_rows[i] -= costs.largest[i];
  // A number taken from all rows and given to all columns changes no product: both stay as near 1 as they can.
  const double moved = std::round((middle(found.columns()) - middle(of_rows)) / 2);
  product_matching result{completed(dev, found), scales_of(dev, of_rows, moved, scales),
                          scales_of(dev, found.columns(), -moved, scales), 0, found.deficient()};
  result.rank =
      std::count_if(found.row_of().begin(), found.row_of().end(), [](std::int32_t i) { return i >= 0; });
  return result;
}

template VOUCH_PUBLIC product_matching maximum_product_matching(const device&, csr_view<const float>,
                                                                matching_scales);
template VOUCH_PUBLIC product_matching maximum_product_matching(const device&, csr_view<const double>,
                                                                matching_scales);

}  // namespace vouch
