#include <vouch/solve/precond/ilut.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/precond/complex_rows.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/incomplete_lu.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using complex = std::complex<double>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool is_finite(double a) { return std::isfinite(a); }
bool is_finite(complex a) { return std::isfinite(a.real()) && std::isfinite(a.imag()); }

// One row at a time from those before it; U's rows are kept divided by their pivots. S is double or a complex number.
template <class S>
class by_threshold {
 public:
  by_threshold(const rows_of<S>& B, double drop, std::int64_t fill)
      : B_(B), drop_(drop), fill_(fill), value_(at(B.rows())), in_row_(at(B.rows()), false) {}

  void run() {
    const cancellation_probe stop;
    for (std::int32_t i = 0; i < B_.rows(); ++i) {
      stop.check();
      const double norm = scatter(i);
      eliminate(drop_ * norm);
      std::erase_if(upper_, [i](std::int32_t j) { return j == i; });
      const S pivot = guarded(value_[at(i)], norm);
      F_.pivots.push_back(pivot);
      keep(lower_, of_matrix_[0] + fill_, 0, 1, F_.lower);
      keep(upper_, of_matrix_[1] + fill_, drop_ * norm, pivot, F_.upper);
      value_[at(i)] = 0;
      in_row_[at(i)] = false;
    }
  }

  factor_of<S> take() { return std::move(F_); }
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
      squares += std::norm(B_.val[at(k)]);
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
      const S u = value_[at(k)];
      if (std::abs(u / F_.pivots[at(k)]) <= least) {  // not NaN, which the factors are to show
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

  S guarded(S pivot, double norm) {
    constexpr double least = 1e-8, raised_to = 1e-4;
    if (std::abs(pivot) >= least * norm || !is_finite(pivot)) return pivot;
    ++raised_;
    return std::max(drop_, raised_to) * norm * direction_of(pivot);
  }

  // Of these columns the largest `most`, if not below `least`, divided by pivot; the others are forgotten.
  void keep(std::vector<std::int32_t>& columns, std::int64_t most, double least, S pivot, rows_of<S>& to) {
    for (const std::int32_t j : columns) in_row_[at(j)] = false;
    const auto dropped = [&](std::int32_t j) {
      const bool small = std::abs(value_[at(j)]) <= least;
      if (small) value_[at(j)] = 0;
      return small;
    };
    std::erase_if(columns, dropped);
    if (std::ssize(columns) > most) {
      const auto larger = [&](std::int32_t a, std::int32_t b) {
        const double x = std::abs(value_[at(a)]), y = std::abs(value_[at(b)]);
        return x != y ? x > y : a < b;
      };
      std::nth_element(columns.begin(), columns.begin() + most, columns.end(), larger);
      for (auto j = columns.begin() + most; j != columns.end(); ++j) value_[at(*j)] = 0;
      columns.resize(at(most));
    }
    std::sort(columns.begin(), columns.end());
    for (const std::int32_t j : columns) {
      to.col.push_back(j);
      to.val.push_back(std::exchange(value_[at(j)], S{}) / pivot);
    }
    to.row_ptr.push_back(std::ssize(to.col));
  }

  const rows_of<S>& B_;
  double drop_;
  std::int64_t fill_;
  factor_of<S> F_;
  std::int64_t raised_ = 0;
  std::int32_t row_ = 0;
  std::int64_t of_matrix_[2] = {};  // entries of B's row left and right of the diagonal
  std::vector<S> value_;            // of the row at work; zero between rows
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

template <real T>
std::unique_ptr<preconditioner<T>> pair_of(const device& dev, const factored_matrix& F,
                                           const ilut_options& options, std::int64_t nonzeros, bool matched,
                                           std::int64_t raised_pivots) {
  return make_triangular_pair<T>(
      dev, F,
      with_remarks("ilut", {growth(F, options, nonzeros), matched ? "rows matched" : "", raised(raised_pivots),
                            describe_order(F, dev.is_cuda())}));
}

// What the numbers of a complex matrix, given by its real form, are matched, scaled and ordered by.
template <real T>
csr<double> moduli_of(const device& cpu, csr_view<const T> A) {
  const std::int64_t n = A.rows / 2;
  csr<double> B{n, n, array<std::int64_t>(cpu, n + 1), {}, {}};
  std::vector<std::int32_t> col;
  std::vector<double> val;
  B.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for_numbers_of_row(A, i, [&](std::int64_t j, const complex& a) {
      col.push_back(static_cast<std::int32_t>(j));
      val.push_back(std::abs(a));
    });
    B.row_ptr[i + 1] = std::ssize(col);
  }
  B.col = array<std::int32_t>::from(cpu, col);
  B.val = array<double>::from(cpu, val);
  return B;
}

// The row and the column of A that row and column k of B are.
std::int64_t source_row(const scaled_rows& B, std::int64_t k) { return row_of_matrix(B, k) - 1; }
std::int64_t source_column(const scaled_rows& B, std::int64_t k) {
  return B.order.order.empty() ? k : B.order.order[at(k)];
}

// B with the numbers of A in place of their moduli.
template <real T>
rows_of<complex> with_numbers(const scaled_rows& B, csr_view<const T> A) {
  rows_of<complex> C{B.rows.row_ptr, B.rows.col, std::vector<complex>(B.rows.val.size())};
  for (std::int64_t k = 0; k < C.rows(); ++k)
    for (std::int64_t m = C.row_ptr[at(k)]; m < C.row_ptr[at(k) + 1]; ++m) {
      const std::int32_t j = C.col[at(m)];
      C.val[at(m)] = number_at(A, source_row(B, k), source_column(B, j)) *
                     std::ldexp(1.0, B.row_exponent[at(k)] + B.column_exponent[at(j)]);
    }
  return C;
}

// B as rows and columns of the real form.
scaled_rows in_parts(scaled_rows B) {
  const auto twice = [](auto& all, auto number) {
    auto parts = all;
    parts.clear();
    for (const auto& of : all)
      for (int part = 0; part < 2; ++part) parts.push_back(number(of, part));
    all = std::move(parts);
  };
  const auto numbered = [](std::int32_t k, int part) { return 2 * k + part; };
  const auto same = [](int exponent, int) { return exponent; };
  twice(B.order.order, numbered);
  twice(B.sources, numbered);
  twice(B.row_exponent, same);
  twice(B.column_exponent, same);
  B.rows = {};
  return B;
}

// Each number f(row, column, number) as a block [a -b; b a].
template <class F>
sparse_rows in_parts(const rows_of<complex>& L, const F& f) {
  sparse_rows parts;
  for (std::int64_t k = 0; k < L.rows(); ++k)
    for (const int part : {0, 1}) {
      for (std::int64_t m = L.row_ptr[at(k)]; m < L.row_ptr[at(k) + 1]; ++m) {
        const std::int32_t j = L.col[at(m)];
        const complex number = f(k, j, L.val[at(m)]);
        parts.col.insert(parts.col.end(), {2 * j, 2 * j + 1});
        if (part == 0)
          parts.val.insert(parts.val.end(), {number.real(), -number.imag()});
        else
          parts.val.insert(parts.val.end(), {number.imag(), number.real()});
      }
      parts.row_ptr.push_back(std::ssize(parts.col));
    }
  return parts;
}

// M after each number was turned.
template <real T>
class behind_turns final : public preconditioner<T> {
 public:
  behind_turns(array<T> turns, std::unique_ptr<preconditioner<T>> M)
      : turns_(std::move(turns)), M_(std::move(M)), turned_(turns_.where(), turns_.size()) {}
  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    multiply_numbers<T>(dev, turns_.data(), r.data(), turned_.data(), turns_.size());
    M_->apply(dev, turned_, z);
  }
  std::string name() const override { return M_->name(); }
  std::int64_t rows() const override { return turns_.size(); }

 private:
  array<T> turns_;
  std::unique_ptr<preconditioner<T>> M_;
  mutable array<T> turned_;
};

// With the directions F of the pivots, L D U = F (F* L F) |D| U, whose real form has diagonal pivots.
template <real T>
std::unique_ptr<preconditioner<T>> make_complex_ilut(const device& dev, const host_matrix<T>& host,
                                                     const ilut_options& options) {
  const csr_view<const T> A = host.all();
  const csr<double> moduli = moduli_of(host.cpu(), A);
  scaled_rows B = scale_and_match<double>(moduli.all(), matching_use::always, host.cpu().threads(), "ilut");
  reorder_for_bandwidth(B);
  const rows_of<complex> numbers = with_numbers(B, A);
  by_threshold<complex> factorisation(numbers, options.drop, std::min(options.fill, numbers.rows()));
  factorisation.run();
  const std::int64_t raised_pivots = factorisation.raised();
  const factor_of<complex> factor = factorisation.take();
  std::vector<complex> direction;
  std::vector<T> turns(at(A.rows));
  unit_factor parts;
  for (std::size_t k = 0; k < factor.pivots.size(); ++k) {
    direction.push_back(direction_of(factor.pivots[k]));
    parts.pivots.insert(parts.pivots.end(), 2, std::abs(factor.pivots[k]));
    const std::size_t row = 2 * at(source_row(B, static_cast<std::int64_t>(k)));
    turns[row] = static_cast<T>(direction[k].real());
    turns[row + 1] = static_cast<T>(-direction[k].imag());
  }
  parts.lower = in_parts(factor.lower, [&](std::int64_t k, std::int32_t j, const complex& l) {
    return std::conj(direction[at(k)]) * l * direction[at(j)];
  });
  parts.upper = in_parts(factor.upper, [](std::int64_t, std::int32_t, const complex& u) { return u; });
  const bool matched = B.matched;
  const factored_matrix F = unscaled("ilut", in_parts(std::move(B)), std::move(parts));
  return std::make_unique<behind_turns<T>>(array<T>::from(dev, turns),
                                           pair_of<T>(dev, F, options, A.nonzeros, matched, raised_pivots));
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
  if (has_imaginary_parts<T>(host.cpu(), host.all())) return make_complex_ilut<T>(dev, host, options);
  scaled_rows B = scale_and_match(host.all(), matching_use::always, host.cpu().threads(), "ilut");
  reorder_for_bandwidth(B);
  by_threshold<double> factorisation(B.rows, options.drop, std::min(options.fill, A.rows));
  factorisation.run();
  const bool matched = B.matched;
  const factored_matrix F = unscaled("ilut", std::move(B), factorisation.take());
  return pair_of<T>(dev, F, options, A.nonzeros, matched, factorisation.raised());
}

template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_ilut(const device&, csr_view<const float>,
                                                                       const ilut_options&);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_ilut(const device&, csr_view<const double>,
                                                                        const ilut_options&);

}  // namespace vouch
