#include <vouch/solve/precond/ilut.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/incomplete_lu.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// One row at a time from those before it; U's rows are kept divided by their pivots.
class by_threshold {
 public:
  by_threshold(const sparse_rows& B, double drop, std::int64_t fill)
      : B_(B), drop_(drop), fill_(fill), value_(at(B.rows())), in_row_(at(B.rows()), false) {}

  void run() {
    const cancellation_probe stop;
    for (std::int32_t i = 0; i < B_.rows(); ++i) {
      stop.check();
      const double norm = scatter(i);
      eliminate(drop_ * norm);
      std::erase_if(upper_, [i](std::int32_t j) { return j == i; });
      const double pivot = guarded(value_[at(i)], norm);
      F_.pivots.push_back(pivot);
      keep(lower_, of_matrix_[0] + fill_, 0, 1, F_.lower);
      keep(upper_, of_matrix_[1] + fill_, drop_ * norm, pivot, F_.upper);
      value_[at(i)] = 0;
      in_row_[at(i)] = false;
    }
  }

  unit_factor take() { return std::move(F_); }
  std::int64_t raised() const { return raised_; }

 private:
  // Row i to work on. Its norm.
  double scatter(std::int32_t i) {
    lower_.clear();
    upper_.clear();
    of_matrix_[0] = of_matrix_[1] = 0;
    row_ = i;
    enter(i);
    double squares = 0;
    for (std::int64_t k = B_.row_ptr[at(i)]; k < B_.row_ptr[at(i) + 1]; ++k) {
      const std::int32_t j = B_.col[at(k)];
      if (j != i) {
        enter(j);
        ++of_matrix_[j > i];
      }
      value_[at(j)] = B_.val[at(k)];
      squares += B_.val[at(k)] * B_.val[at(k)];
    }
    return std::sqrt(squares);
  }

  void enter(std::int32_t j) {
    in_row_[at(j)] = true;
    if (j < row_)
      next_.push(j);
    else
      upper_.push_back(j);
  }

  void eliminate(double least) {
    while (!next_.empty()) {
      const std::int32_t k = next_.top();
      next_.pop();
      const double u = value_[at(k)];
      if (std::fabs(u / F_.pivots[at(k)]) <= least) {  // not NaN, which the factors are to show
        value_[at(k)] = 0;
        in_row_[at(k)] = false;
        continue;
      }
      for (std::int64_t m = F_.upper.row_ptr[at(k)]; m < F_.upper.row_ptr[at(k) + 1]; ++m) {
        const std::int32_t j = F_.upper.col[at(m)];
        if (!in_row_[at(j)]) enter(j);
        value_[at(j)] -= u * F_.upper.val[at(m)];
      }
      value_[at(k)] = u / F_.pivots[at(k)];
      lower_.push_back(k);
    }
  }

  double guarded(double pivot, double norm) {
    constexpr double least = 1e-8, raised_to = 1e-4;
    if (std::fabs(pivot) >= least * norm || !std::isfinite(pivot)) return pivot;
    ++raised_;
    return std::copysign(std::max(drop_, raised_to) * norm, pivot);
  }

  // Of these columns the largest `most`, if not below `least`, divided by pivot; the others are forgotten.
  void keep(std::vector<std::int32_t>& columns, std::int64_t most, double least, double pivot,
            sparse_rows& to) {
    for (const std::int32_t j : columns) in_row_[at(j)] = false;
    const auto dropped = [&](std::int32_t j) {
      const bool small = std::fabs(value_[at(j)]) <= least;
      if (small) value_[at(j)] = 0;
      return small;
    };
    std::erase_if(columns, dropped);
    if (std::ssize(columns) > most) {
      const auto larger = [&](std::int32_t a, std::int32_t b) {
        const double x = std::fabs(value_[at(a)]), y = std::fabs(value_[at(b)]);
        return x != y ? x > y : a < b;
      };
      std::nth_element(columns.begin(), columns.begin() + most, columns.end(), larger);
      for (auto j = columns.begin() + most; j != columns.end(); ++j) value_[at(*j)] = 0;
      columns.resize(at(most));
    }
    std::sort(columns.begin(), columns.end());
    for (const std::int32_t j : columns) {
      to.col.push_back(j);
      to.val.push_back(std::exchange(value_[at(j)], 0.0) / pivot);
    }
    to.row_ptr.push_back(std::ssize(to.col));
  }

  const sparse_rows& B_;
  double drop_;
  std::int64_t fill_;
  unit_factor F_;
  std::int64_t raised_ = 0;
  std::int32_t row_ = 0;
  std::int64_t of_matrix_[2] = {};  // entries of B's row left and right of the diagonal
  std::vector<double> value_;       // of the row at work; zero between rows
  std::vector<bool> in_row_;
  std::vector<std::int32_t> lower_, upper_;
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> next_;
};

std::string growth(const factored_matrix& F, const ilut_options& options, std::int64_t nonzeros) {
  const double entries = static_cast<double>(2 * F.triangle_entries() + F.rows());
  return string_printf("drop %g, fill %lld: %.2g times the entries", options.drop,
                       static_cast<long long>(options.fill),
                       entries / static_cast<double>(std::max<std::int64_t>(1, nonzeros)));
}

std::string raised(std::int64_t pivots) {
  if (pivots == 0) return "";
  return std::to_string(pivots) + (pivots == 1 ? " pivot raised" : " pivots raised");
}

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_ilut(const device& dev, csr_view<const T> A,
                                             const ilut_options& options) {
  const ieee_environment here;
  if (!(options.drop >= 0 && options.drop < 1))
    throw value_error("ilut: drop must be a number from 0 on, below 1");
  if (options.fill < 0) throw value_error("ilut: fill must not be negative");
  const valid_csr valid("ilut", dev, A);
  check_square("ilut", A.rows, A.cols);
  const host_matrix<T> host(dev, A);
  scaled_rows B = scale_and_match(host.all(), matching_use::always, host.cpu().threads(), "ilut");
  reorder_for_bandwidth(B);
  by_threshold factorisation(B.rows, options.drop, std::min(options.fill, A.rows));
  factorisation.run();
  const bool matched = B.matched;
  const factored_matrix F = unscaled("ilut", std::move(B), factorisation.take());
  return make_triangular_pair<T>(
      dev, F,
      with_remarks("ilut", {growth(F, options, A.nonzeros), matched ? "rows matched" : "",
                            raised(factorisation.raised()), describe_order(F, dev.is_cuda())}));
}

template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_ilut(const device&, csr_view<const float>,
                                                                       const ilut_options&);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_ilut(const device&, csr_view<const double>,
                                                                        const ilut_options&);

}  // namespace vouch
