#include <omp.h>

#include <algorithm>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/columns_product.hpp>
#include <vouch/dense/blas/pieces.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/factor/triangular_solve.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t solve_block = 64;  // unknowns that are solved together
constexpr int together = 4;               // columns that pass over the right-hand side at a time

template <class A>
A conjugated(const A& a) {
  if constexpr (scalar<A>)
    return a;
  else
    return conj(a);
}

// The right-hand side, of which the products with the unknowns found are taken away.
template <class R>
class remainders {
 public:
  explicit remainders(view<R> x) : all_(whole(x)), x_(all_.data()) {}
  R value(std::int64_t j) const { return x_[j]; }
  void set(std::int64_t j, R x) { x_[j] = x; }
  void finish() { all_.scatter(); }

  // Takes column[c] x[j[c]] from the rows given, column after column.
  template <int Columns, class A>
  void subtract(const std::int64_t* j, const A* const* column, std::int64_t ahead, range rows) {
    R negative[Columns];
    for (int c = 0; c < Columns; ++c) negative[c] = -x_[j[c]];
    axpy_columns_piece<Columns>(rows.size(), negative, column, ahead, x_ + rows.first);
  }

 private:
  gathered<R> all_;
  R* x_;
};

// Rectangles: parts in turns, less the columns times the real parts of the unknowns; beside them those times
// the imaginary parts.
template <real T>
class remainders<complex_interval<T>> {
  using part = interval<T>;

 public:
  explicit remainders(view<complex_interval<T>> x) : x_(x), direct_(parts(x.size())), crossed_(direct_.size()) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      at(direct_, 2 * i) = x[i].real();
      at(direct_, 2 * i + 1) = x[i].imag();
    }
  }
  complex_interval<T> value(std::int64_t j) {
    return {at(direct_, 2 * j) - at(crossed_, 2 * j + 1), at(direct_, 2 * j + 1) + at(crossed_, 2 * j)};
  }
  void set(std::int64_t j, complex_interval<T> x) { x_[j] = x; }
  void finish() {}

  template <int Columns>
  void subtract(const std::int64_t* j, const complex_interval<T>* const* column, std::int64_t ahead,
                range rows) {
    part real[Columns], imag[Columns];
    const part* entries[Columns];
    for (int c = 0; c < Columns; ++c) {
      real[c] = -x_[j[c]].real();
      imag[c] = -x_[j[c]].imag();
      entries[c] = reinterpret_cast<const part*>(column[c]);
    }
    const std::int64_t count = 2 * rows.size();
    axpy_columns_piece<Columns>(count, real, entries, 2 * ahead, &at(direct_, 2 * rows.first));
    axpy_columns_piece<Columns>(count, imag, entries, 2 * ahead, &at(crossed_, 2 * rows.first));
  }

 private:
  static std::size_t parts(std::int64_t n) { return static_cast<std::size_t>(2 * n); }
  static part& at(std::vector<part>& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; }

  view<complex_interval<T>> x_;
  std::vector<part> direct_, crossed_;
};

bool same(range r, range s) { return r.first == s.first && r.last == s.last; }

// Some rows and columns of op(A) without its diagonal, at most 64 of each where it is transposed, the entries
// of a column side by side: where they are, or copied to scratch.
template <class A>
class tile {
 public:
  tile(columns<const A> strict, transpose trans, range rows, range cols, A* scratch)
      : strict_(strict), trans_(trans), rows_(rows), cols_(cols), entries_(scratch) {
    if (!is_copied()) return;
    for (std::int64_t i = rows.first; i < rows.last;) {
      const range stored = strict.stored(i).clipped(cols);
      // Both ends of what a column stores move one way only, so the columns between two equal ones are equal.
      const bool several =
          i + together <= rows.last && same(stored, strict.stored(i + together - 1).clipped(cols));
      several ? copy<together>(i, stored) : copy<1>(i, stored);
      i += several ? together : 1;
    }
  }
  range stored(std::int64_t j) const {
    return (is_copied() ? strict_.touching({j, j + 1}) : strict_.stored(j)).clipped(rows_);
  }
  const A* at(std::int64_t i, std::int64_t j) const { return is_copied() ? place(i, j) : &strict_(i, j); }
  std::int64_t ahead() const { return is_copied() ? 0 : together * strict_.step; }

  static constexpr std::int64_t ld = solve_block + 4;  // columns in different sets of a cache
  static constexpr std::int64_t scratch_size = solve_block * ld;
  static constexpr std::int64_t columns_ahead = 16;

 private:
  bool is_copied() const { return trans_ != transpose::no; }
  A* place(std::int64_t i, std::int64_t j) const { return entries_ + (j - cols_.first) * ld + i - rows_.first; }

  template <int Rows>
  void copy(std::int64_t i, range stored) {
    if (stored.size() == 0) return;
    const A* from[Rows];
    for (int r = 0; r < Rows; ++r) from[r] = &strict_(stored.first, i + r);
    // A piece of a column is shorter than what the hardware needs to see coming.
    for (int r = 0; r < Rows && i + r + columns_ahead < strict_.cols; ++r)
      for (std::int64_t j = 0; j < stored.size(); j += std::max<std::int64_t>(1, 64 / sizeof(A)))
        __builtin_prefetch(&strict_(stored.first + j, i + r + columns_ahead));
    A* to = place(i, stored.first);
    for (std::int64_t j = 0; j < stored.size(); ++j, to += ld)
      for (int r = 0; r < Rows; ++r)
        to[r] = trans_ == transpose::conjugate ? conjugated(from[r][j]) : from[r][j];
  }

  columns<const A> strict_;
  transpose trans_;
  range rows_, cols_;
  A* entries_;
};

template <class R, class A>
class substitution {
 public:
  substitution(const device& dev, columns<const A> a, transpose trans, diagonal unit, view<R> x)
      : dev_(dev),
        a_(a),
        strict_(a.without_diagonal()),
        trans_(trans),
        unit_(unit == diagonal::unit),
        downwards_(a.is_lower() == (trans == transpose::no)),
        n_(x.size()),
        left_(x) {
    for (int t = 0; t < dev.threads() && trans != transpose::no; ++t)
      scratch_.emplace_back(device::cpu(1), tile<A>::scratch_size);
  }

  void run() {
    for (std::int64_t done = 0; done < n_; done += solve_block) {
      const std::int64_t size = std::min(solve_block, n_ - done);
      const range block = downwards_ ? range{done, done + size} : range{n_ - done - size, n_ - done};
      solve(block);
      eliminate(block, downwards_ ? range{block.last, n_} : range{0, block.first});
    }
    left_.finish();
  }

 private:
  // The columns of a range in the order of substitution.
  std::int64_t nth(range cols, std::int64_t k) const { return downwards_ ? cols.first + k : cols.last - 1 - k; }

  void solve(range block) {
    const tile<A> corner(strict_, trans_, block, block, scratch(0));
    for (std::int64_t k = 0; k < block.size(); ++k) {
      const std::int64_t j = nth(block, k);
      R x = left_.value(j);
      if (!unit_) x = x / diagonal_entry(j);
      left_.set(j, x);
      const range rows = corner.stored(j);
      if (rows.size() == 0) continue;
      const A* column = corner.at(rows.first, j);
      left_.template subtract<1>(&j, &column, 0, rows);
    }
  }

  A* scratch(int thread) {
    return scratch_.empty() ? nullptr : scratch_[static_cast<std::size_t>(thread)].data();
  }

  A diagonal_entry(std::int64_t j) const {
    return trans_ == transpose::conjugate ? conjugated(a_(j, j)) : a_(j, j);
  }

  // Takes the unknowns of a block from the rows that they reach of those that follow.
  void eliminate(range block, range rest) {
    const range reach =
        trans_ == transpose::no ? range{block.first - a_.above, block.last + a_.below} : a_.touching(block);
    const range rows = rest.clipped(reach);
    const std::int64_t task = trans_ == transpose::no ? row_block : solve_block;
    const std::int64_t tasks = ceil_div(rows.size(), task);
#pragma omp parallel for firstprivate(ieee) num_threads(dev_.threads()) \
    schedule(static) if (rows.size() > 4 * row_block)
    for (std::int64_t t = 0; t < tasks; ++t) {
      const std::int64_t first = rows.first + t * task;
      const range part{first, std::min(rows.last, first + task)};
      subtract(tile<A>(strict_, trans_, part, block, scratch(omp_get_thread_num())), block);
    }
  }

  void subtract(const tile<A>& part, range block) {
    for (std::int64_t k = 0; k < block.size();) {
      const range rows = part.stored(nth(block, k));
      const bool several =
          k + together <= block.size() && same(rows, part.stored(nth(block, k + together - 1)));
      const int count = several ? together : 1;
      std::int64_t j[together];
      const A* column[together];
      for (int c = 0; c < count && rows.size() > 0; ++c) {
        j[c] = nth(block, k + c);
        column[c] = part.at(rows.first, j[c]);
      }
      if (rows.size() > 0 && several)
        left_.template subtract<together>(j, column, downwards_ ? part.ahead() : -part.ahead(), rows);
      else if (rows.size() > 0)
        left_.template subtract<1>(j, column, 0, rows);
      k += count;
    }
  }

  device dev_;
  columns<const A> a_, strict_;
  transpose trans_;
  bool unit_, downwards_;
  std::int64_t n_;
  remainders<R> left_;
  std::vector<array<A>> scratch_;  // a thread's copies of entries
};

}  // namespace

template <class R, class A>
void solve_columns(const device& dev, columns<const A> a, transpose trans, diagonal unit, view<R> x) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return solve_columns_cuda(dev, a, trans, unit, x);
  substitution<R, A>(dev, a, trans, unit, x).run();
}

#define VOUCH_SOLVE(A, R) \
  template void solve_columns(const device&, columns<const A>, transpose, diagonal, view<R>);
#define VOUCH_PRECISION(T)              \
  VOUCH_SOLVE(T, T)                     \
  VOUCH_SOLVE(T, interval<T>)           \
  VOUCH_SOLVE(interval<T>, interval<T>) \
  VOUCH_SOLVE(complex_interval<T>, complex_interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
