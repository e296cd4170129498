#include <algorithm>
#include <cmath>
#include <span>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>

namespace vouch {

std::string describe_order(const factored_matrix& F, bool on_gpu) {
  if (F.order.colours > 0) return std::to_string(F.order.colours) + " colours";
  return on_gpu ? std::to_string(F.levels.count()) + " levels" : "";
}

template <real T>
std::vector<T> inverted(const std::vector<double>& pivots) {
  std::vector<T> result(pivots.size());
  std::transform(pivots.begin(), pivots.end(), result.begin(), [](double d) { return static_cast<T>(1 / d); });
  return result;
}

namespace {

// An infinity or a zero would spread without a word.
template <real T>
void check_range(const unit_factor& factor, const std::string& who) {
  const auto finite = [](const std::vector<double>& entries) {
    return std::all_of(entries.begin(), entries.end(),
                       [](double e) { return std::isfinite(static_cast<T>(e)); });
  };
  const std::vector<T> inverse = inverted<T>(factor.pivots);
  const bool regular =
      std::all_of(inverse.begin(), inverse.end(), [](T d) { return d != 0 && std::isfinite(d); });
  if (!finite(factor.lower.val) || !finite(factor.upper.val) || !regular)
    throw value_error(who + ": the factor overflows in this precision", "scale the matrix first");
}

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_triangular_pair(const device& dev, const factored_matrix& F,
                                                        std::string name) {
  check_range<T>(F.factor, name);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return triangular_pair_cuda<T>(dev, F, std::move(name));
  return triangular_pair_cpu<T>(dev, F, std::move(name));
}

#define VOUCH_INSTANTIATE(T)                                                                              \
  template std::vector<T> inverted(const std::vector<double>&);                                           \
  template std::unique_ptr<preconditioner<T>> make_triangular_pair(const device&, const factored_matrix&, \
                                                                   std::string);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

// The two sweeps on the CPU. Vectors keep the matrix's numbering, the rows of the factor are stored in the
// order in which they are solved: that of the elimination for one thread, that of the level sets for a team.
// A row's sum does not depend on which, so neither do the bits.

namespace {

// Entries in a level set, on average, from which a team's barrier (a few microseconds) is worth it.
constexpr std::int64_t entries_for_a_team = 8192;

template <real T>
struct rows_on_cpu {
  array<std::int64_t> row_ptr;
  array<std::int32_t> col;
  array<T> val;

  rows_on_cpu(const device& dev, const sparse_rows& L)
      : row_ptr(array<std::int64_t>::from(dev, L.row_ptr)),
        col(array<std::int32_t>::from(dev, L.col)),
        val(array<T>::from(dev, std::vector<T>(L.val.begin(), L.val.end()))) {}

  // Four running sums hide the latency of the addition; their order is fixed.
  T sum(std::int64_t row, const T* x) const {
    const std::int64_t end = row_ptr[row + 1];
    std::int64_t k = row_ptr[row];
    T s0{}, s1{}, s2{}, s3{};
    for (; k + 4 <= end; k += 4) {
      s0 += val[k] * x[col[k]];
      s1 += val[k + 1] * x[col[k + 1]];
      s2 += val[k + 2] * x[col[k + 2]];
      s3 += val[k + 3] * x[col[k + 3]];
    }
    for (; k < end; ++k) s0 += val[k] * x[col[k]];
    return (s0 + s1) + (s2 + s3);
  }
};

// The order in which rows are solved, as rows of the elimination; empty is that order itself.
std::span<const std::int32_t> solving_order(const device& dev, const factored_matrix& F) {
  const bool team = dev.threads() > 1 && F.levels.count() > 0 &&
                    F.triangle_entries() / F.levels.count() >= entries_for_a_team;
  return team ? std::span<const std::int32_t>(F.levels.rows) : std::span<const std::int32_t>();
}

template <class Element>
std::vector<Element> picked(const std::vector<Element>& all, std::span<const std::int32_t> rows) {
  if (rows.empty() || all.empty()) return all;
  std::vector<Element> result;
  result.reserve(all.size());
  for (const std::int32_t i : rows) result.push_back(all[static_cast<std::size_t>(i)]);
  return result;
}

// place[k]: the row of the matrix that is solved as k-th.
std::vector<std::int32_t> places(const factored_matrix& F, std::span<const std::int32_t> rows) {
  if (F.order.order.empty()) return {rows.begin(), rows.end()};
  return picked(F.order.order, rows);
}

template <real T>
class pair_on_cpu final : public preconditioner<T> {
 public:
  pair_on_cpu(const device& dev, const factored_matrix& F, std::span<const std::int32_t> rows, std::string name)
      : name_(std::move(name)),
        place_(array<std::int32_t>::from(dev, places(F, rows))),
        source_(array<std::int32_t>::from(dev, picked(F.sources, rows))),
        inverse_(array<T>::from(dev, picked(inverted<T>(F.factor.pivots), rows))),
        lower_(dev, renumbered(F.factor.lower, rows, F.order.order, dev.threads())),
        upper_(dev, renumbered(F.factor.upper, rows, F.order.order, dev.threads())) {
    if (!rows.empty()) start_ = F.levels.start;
  }

  std::string name() const override { return name_; }
  std::int64_t rows() const override { return inverse_.size(); }

  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    if (start_.empty())
      solve_alone(r.data(), z.data());
    else
      solve_as_team(dev.threads(), r.data(), z.data());
  }

 private:
  std::int64_t row(std::int64_t k) const { return place_.size() > 0 ? place_[k] : k; }
  void forward(std::int64_t k, const T* r, T* z) const {
    const std::int64_t i = row(k);
    z[i] = r[source_.size() > 0 ? source_[k] : i] - lower_.sum(k, z);
  }
  void backward(std::int64_t k, T* z) const {
    const std::int64_t i = row(k);
    z[i] = inverse_[k] * z[i] - upper_.sum(k, z);
  }

  void solve_alone(const T* r, T* z) const {
    for (std::int64_t k = 0; k < inverse_.size(); ++k) forward(k, r, z);
    for (std::int64_t k = inverse_.size() - 1; k >= 0; --k) backward(k, z);
  }

  void solve_as_team(int threads, const T* r, T* z) const {
    const auto sets = static_cast<std::int64_t>(start_.size()) - 1;
    const std::int64_t* start = start_.data();
#pragma omp parallel firstprivate(ieee) num_threads(threads)
    {
      for (std::int64_t s = 0; s < sets; ++s) {
#pragma omp for schedule(static)
        for (std::int64_t k = start[s]; k < start[s + 1]; ++k) forward(k, r, z);
      }
      for (std::int64_t s = sets - 1; s >= 0; --s) {
#pragma omp for schedule(static)
        for (std::int64_t k = start[s]; k < start[s + 1]; ++k) backward(k, z);
      }
    }
  }

  std::string name_;
  array<std::int32_t> place_;   // empty: row k is solved as k-th
  array<std::int32_t> source_;  // the element of r that belongs to it; empty: that of its place
  array<T> inverse_;
  rows_on_cpu<T> lower_, upper_;
  std::vector<std::int64_t> start_;  // of the level sets; empty: one thread solves row by row
};

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> triangular_pair_cpu(const device& dev, const factored_matrix& F,
                                                       std::string name) {
  return std::make_unique<pair_on_cpu<T>>(dev, F, solving_order(dev, F), std::move(name));
}

template std::unique_ptr<preconditioner<float>> triangular_pair_cpu(const device&, const factored_matrix&,
                                                                    std::string);
template std::unique_ptr<preconditioner<double>> triangular_pair_cpu(const device&, const factored_matrix&,
                                                                     std::string);

}  // namespace vouch
