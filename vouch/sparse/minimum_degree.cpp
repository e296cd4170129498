#include <vouch/sparse/ordering.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using index_list = std::vector<std::int32_t>;

// Lists with more than this many of n members are too long to be worth following.
std::int64_t dense_from(std::int64_t n) {
  return std::max<std::int64_t>(16, std::llround(10 * std::sqrt(static_cast<double>(n))));
}

// Variables by degree, each in one list.
class degree_lists {
 public:
  explicit degree_lists(std::size_t n) : first_(n + 1, -1), next_(n, -1), previous_(n, -1), degree_(n, 0) {}

  void insert(std::int32_t i, std::int32_t degree) {
    auto& first = first_[at(degree)];
    next_[at(i)] = first;
    previous_[at(i)] = -1;
    if (first >= 0) previous_[at(first)] = i;
    first = i;
    degree_[at(i)] = degree;
    least_ = std::min(least_, degree);
  }
  void remove(std::int32_t i) {
    if (next_[at(i)] >= 0) previous_[at(next_[at(i)])] = previous_[at(i)];
    if (previous_[at(i)] >= 0)
      next_[at(previous_[at(i)])] = next_[at(i)];
    else
      first_[at(degree_[at(i)])] = next_[at(i)];
  }
  std::int32_t take_least() {
    while (first_[at(least_)] < 0) ++least_;
    const std::int32_t i = first_[at(least_)];
    remove(i);
    return i;
  }
  std::int32_t degree(std::int32_t i) const { return degree_[at(i)]; }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  index_list first_, next_, previous_, degree_;
  std::int32_t least_ = 0;
};

// What elimination leaves: variables, and elements, each of which stands for a clique of its members. Variables
// that have become indistinguishable are one variable of larger weight.
class quotient_graph {
 public:
  // neighbours: of each variable, ascending, without itself; cliques: members ascending.
  quotient_graph(std::vector<index_list> neighbours, std::vector<index_list> cliques)
      : n_(neighbours.size()),
        neighbours_(std::move(neighbours)),
        elements_(n_),
        members_(std::move(cliques)),
        weight_(n_, 1),
        mark_(n_, -1),
        degree_(n_, 0),
        merged_(n_),
        lists_(n_) {
    for (std::size_t e = 0; e < members_.size(); ++e) {
      size_.push_back(static_cast<std::int32_t>(members_[e].size()));
      for (const std::int32_t i : members_[e]) elements_[at(i)].push_back(static_cast<std::int32_t>(e));
    }
    outside_.assign(members_.size(), 0);
    seen_.assign(members_.size(), -1);
  }

  index_list order() {
    for (std::size_t i = 0; i < n_; ++i) {
      std::int64_t degree = std::ssize(neighbours_[i]);
      for (const std::int32_t e : elements_[i]) degree += size_[at(e)] - 1;
      lists_.insert(static_cast<std::int32_t>(i),
                    static_cast<std::int32_t>(std::min<std::int64_t>(degree, std::ssize(neighbours_) - 1)));
    }
    const cancellation_probe stop;
    while (order_.size() < n_) {
      stop.check();
      eliminate(lists_.take_least());
    }
    return std::move(order_);
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  // Numbers i and all that were merged into it, directly or not.
  void number(std::int32_t i) {
    weight_[at(i)] = 0;
    std::size_t k = order_.size();
    for (order_.push_back(i); k < order_.size(); ++k) {
      const index_list& merged = merged_[at(order_[k])];
      order_.insert(order_.end(), merged.begin(), merged.end());
    }
  }

  void eliminate(std::int32_t p) {
    number(p);
    const auto element = static_cast<std::int32_t>(members_.size());
    index_list border = form_border(p);
    count_outside(border);
    std::int32_t border_weight = 0;
    for (const std::int32_t i : border) border_weight += weight_[at(i)];
    members_.emplace_back();
    size_.push_back(0);
    outside_.push_back(0);
    seen_.push_back(-1);
    std::vector<std::pair<std::size_t, std::int32_t>> hashes;
    for (const std::int32_t i : border) {
      lists_.remove(i);
      update(i, element, border_weight);
      if (elements_[at(i)].size() == 1 && neighbours_[at(i)].empty()) {
        border_weight -= weight_[at(i)];  // it has no neighbours but the border: eliminated along with p
        number(i);
      } else {
        hashes.emplace_back(hash(i), i);
      }
    }
    merge_equal(hashes);
    std::erase_if(border, [this](std::int32_t i) { return weight_[at(i)] == 0; });
    const auto left = static_cast<std::int32_t>(n_ - order_.size());
    for (const std::int32_t i : border)
      lists_.insert(i, std::max(0, std::min(degree_[at(i)], left - weight_[at(i)])));
    size_[at(element)] = border_weight;
    members_[at(element)] = std::move(border);
  }

  // The variables next to p, marked with it; the elements of p are absorbed.
  index_list form_border(std::int32_t p) {
    index_list border;
    const auto add = [&](std::int32_t i) {
      if (weight_[at(i)] == 0 || mark_[at(i)] == p) return;
      mark_[at(i)] = p;
      border.push_back(i);
    };
    for (const std::int32_t i : neighbours_[at(p)]) add(i);
    for (const std::int32_t e : elements_[at(p)]) {
      for (const std::int32_t i : members_[at(e)]) add(i);
      absorb(e);
    }
    index_list().swap(neighbours_[at(p)]);
    index_list().swap(elements_[at(p)]);
    current_ = p;
    return border;
  }

  void absorb(std::int32_t e) {
    index_list().swap(members_[at(e)]);
    size_[at(e)] = 0;
  }

  // outside_[e] := weight of the members of e that are not on the border, for all elements that touch it.
  void count_outside(const index_list& border) {
    for (const std::int32_t i : border)
      for (const std::int32_t e : elements_[at(i)]) {
        if (size_[at(e)] == 0) continue;
        if (seen_[at(e)] != current_) {
          seen_[at(e)] = current_;
          outside_[at(e)] = size_[at(e)];
        }
        outside_[at(e)] -= weight_[at(i)];
      }
  }

  // Takes out of i's lists what the new element covers and bounds its degree.
  void update(std::int32_t i, std::int32_t element, std::int32_t border_weight) {
    std::int64_t degree = 0;
    std::erase_if(elements_[at(i)], [&](std::int32_t e) {
      if (size_[at(e)] == 0) return true;
      if (outside_[at(e)] == 0) absorb(e);
      degree += outside_[at(e)];
      return outside_[at(e)] == 0;
    });
    std::erase_if(neighbours_[at(i)], [&](std::int32_t j) {
      if (weight_[at(j)] == 0 || mark_[at(j)] == current_) return true;
      degree += weight_[at(j)];
      return false;
    });
    elements_[at(i)].push_back(element);
    const std::int64_t others = border_weight - weight_[at(i)];
    degree_[at(i)] = static_cast<std::int32_t>(std::min(degree, std::int64_t{lists_.degree(i)}) + others);
  }

  std::size_t hash(std::int32_t i) const {
    std::size_t sum = elements_[at(i)].size();
    for (const std::int32_t e : elements_[at(i)]) sum += at(e);
    for (const std::int32_t j : neighbours_[at(i)]) sum += 3 * at(j);
    return sum;
  }

  // Variables of the same elements and neighbours stay so until they are eliminated.
  void merge_equal(std::vector<std::pair<std::size_t, std::int32_t>>& hashes) {
    std::sort(hashes.begin(), hashes.end());
    for (std::size_t k = 0; k < hashes.size(); ++k) {
      const std::int32_t i = hashes[k].second;
      if (weight_[at(i)] == 0) continue;
      for (std::size_t l = k + 1; l < hashes.size() && hashes[l].first == hashes[k].first; ++l) {
        const std::int32_t j = hashes[l].second;
        if (weight_[at(j)] == 0 || elements_[at(i)] != elements_[at(j)] ||
            neighbours_[at(i)] != neighbours_[at(j)])
          continue;
        degree_[at(i)] -= weight_[at(j)];
        weight_[at(i)] += weight_[at(j)];
        weight_[at(j)] = 0;
        merged_[at(i)].push_back(j);
      }
    }
  }

  std::size_t n_;
  std::vector<index_list> neighbours_, elements_, members_;
  index_list size_;    // weight of an element's members; 0 where it is absorbed
  index_list weight_;  // of a variable: 0 where it is numbered or merged
  index_list mark_;    // the last pivot on whose border it was
  index_list degree_;  // bounded from above, of the variables on the border
  std::vector<index_list> merged_;
  index_list outside_, seen_;  // of elements, for the current pivot
  degree_lists lists_;
  index_list order_;
  std::int32_t current_ = -1;
};

// The order with the variables marked dense moved to its end.
array<std::int32_t> with_dense_last(const device& dev, index_list order, const std::vector<bool>& dense) {
  std::stable_partition(order.begin(), order.end(),
                        [&](std::int32_t i) { return !dense[static_cast<std::size_t>(i)]; });
  return array<std::int32_t>::from(dev, order);
}

// Which rows of A are dense.
template <real T>
std::vector<bool> dense_rows(csr_view<const T> A) {
  std::vector<bool> dense(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i)
    dense[static_cast<std::size_t>(i)] = A.row_ptr[i + 1] - A.row_ptr[i] > dense_from(A.cols);
  return dense;
}

template <real T>
void add_row(csr_view<const T> A, std::int64_t i, const std::vector<bool>& left_out, index_list& list) {
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    if (!left_out[static_cast<std::size_t>(A.col[k])]) list.push_back(A.col[k]);
}

void check_cpu(const char* routine, const device& dev) {
  if (dev.is_cuda()) throw value_error(std::string(routine) + ": runs on the CPU, the device is a GPU");
}

}  // namespace

template <real T>
array<std::int32_t> minimum_degree(const device& dev, csr_view<const T> A) {
  check_cpu("minimum_degree", dev);
  const valid_csr valid("minimum_degree", dev, A);
  if (A.rows != A.cols) throw shape_error("minimum_degree: the matrix is not square");
  const csr<T> At = transpose<T>(dev, A);
  std::vector<bool> dense = dense_rows(A);
  const std::vector<bool> other = dense_rows(At.all());
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = dense[i] || other[i];
  std::vector<index_list> neighbours(dense.size());
  for (std::int64_t i = 0; i < A.rows; ++i) {
    index_list& list = neighbours[static_cast<std::size_t>(i)];
    if (dense[static_cast<std::size_t>(i)]) continue;
    add_row(A, i, dense, list);
    add_row(At.all(), i, dense, list);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    std::erase(list, static_cast<std::int32_t>(i));
  }
  return with_dense_last(dev, quotient_graph(std::move(neighbours), {}).order(), dense);
}

template <real T>
array<std::int32_t> minimum_column_degree(const device& dev, csr_view<const T> A) {
  check_cpu("minimum_column_degree", dev);
  const valid_csr valid("minimum_column_degree", dev, A);
  const std::vector<bool> dense = dense_rows(A), dense_columns = dense_rows(transpose<T>(dev, A).all());
  std::vector<index_list> cliques;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    if (dense[static_cast<std::size_t>(i)]) continue;
    add_row(A, i, dense_columns, cliques.emplace_back());
  }
  std::vector<index_list> none(static_cast<std::size_t>(A.cols));
  return with_dense_last(dev, quotient_graph(std::move(none), std::move(cliques)).order(), dense_columns);
}

#define VOUCH_INSTANTIATE(T)                                                                  \
  template VOUCH_PUBLIC array<std::int32_t> minimum_degree(const device&, csr_view<const T>); \
  template VOUCH_PUBLIC array<std::int32_t> minimum_column_degree(const device&, csr_view<const T>);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
