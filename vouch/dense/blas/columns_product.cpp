#include <algorithm>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/columns_product.hpp>
#include <vouch/dense/blas/pieces.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/gemm/block_product.hpp>

namespace vouch::detail {
namespace {

// Parts of sums, part after part, each as long as the result; parts are added in their order.
template <scalar R>
class partial_sums {
 public:
  partial_sums(std::int64_t size, std::int64_t parts)
      : size_(size), parts_(parts), values_(static_cast<std::size_t>(size * parts)) {}
  R* part(std::int64_t p) { return values_.data() + p * size_; }
  void add_into(R* sums) {
    for (std::int64_t p = 0; p < parts_; ++p)
      axpy_piece(size_, R{bound_of<R>{1}}, static_cast<const R*>(part(p)), sums);
  }

 private:
  std::int64_t size_;
  std::int64_t parts_;
  std::vector<R> values_;
};

constexpr int together = 4;  // columns that pass over the sums at a time

// sums[i] += entry (i, j) x[j] for the rows and columns given.
template <scalar R, scalar A, scalar X>
void add_columns(columns<const A> a, range rows, range cols, const X* x, R* sums) {
  const auto same = [](range r, range s) { return r.first == s.first && r.last == s.last; };
  for (std::int64_t j = cols.first; j < cols.last;) {
    const range r = a.stored(j).clipped(rows);
    // Both ends of what a column stores move one way only, so the columns between two equal ones are equal.
    const bool several = j + together <= cols.last && same(r, a.stored(j + together - 1).clipped(rows));
    if (several && r.size() > 0) {
      R alpha[together];
      const A* column[together];
      for (int c = 0; c < together; ++c) {
        alpha[c] = R{x[j + c]};
        column[c] = &a(r.first, j + c);
      }
      axpy_columns_piece<together>(r.size(), alpha, column, together * a.step, sums + r.first);
    } else if (!several && r.size() > 0) {
      axpy_piece(r.size(), R{x[j]}, &a(r.first, j), sums + r.first);
    }
    j += several ? together : 1;
  }
}

// sums += A x. Tasks are blocks of rows times blocks of the columns that touch them.
template <scalar R, scalar A, scalar X>
void add_product(const device& dev, columns<const A> a, const X* x, R* sums) {
  const std::int64_t down = ceil_div(a.rows, row_block);
  const auto rows_of = [&](std::int64_t b) {
    return range{b * row_block, std::min(a.rows, (b + 1) * row_block)};
  };
  std::int64_t parts = 0;
  for (std::int64_t b = 0; b < down; ++b)
    parts = std::max(parts, ceil_div(a.touching(rows_of(b)).size(), column_block));
  partial_sums<R> partial(a.rows, parts);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (down * parts > 1)
  for (std::int64_t task = 0; task < down * parts; ++task) {
    const range rows = rows_of(task % down), touching = a.touching(rows);
    const std::int64_t part = task / down, first = touching.first + part * column_block;
    const range cols{first, std::min(touching.last, first + column_block)};
    if (cols.size() > 0) add_columns(a, rows, cols, x, partial.part(part));
  }
  partial.add_into(sums);
}

// The rows of a column's piece.
template <scalar A>
range piece_of(columns<const A> a, std::int64_t j, std::int64_t part) {
  const range all = a.stored(j);
  const std::int64_t first = all.first + part * piece_size;
  return {first, std::min(first + piece_size, all.last)};
}

// sums[j] := the inner products of a piece of the columns given with x.
template <scalar R, scalar A, scalar X>
void dot_columns(columns<const A> a, range cols, std::int64_t part, const X* x, R* sums) {
  const auto same = [](range r, range s) { return r.first == s.first && r.last == s.last; };
  for (std::int64_t j = cols.first; j < cols.last;) {
    const range r = piece_of(a, j, part);
    const bool several = j + together <= cols.last && same(r, piece_of(a, j + together - 1, part));
    if (several && r.size() > 0) {
      const A* column[together];
      for (int c = 0; c < together; ++c) column[c] = &a(r.first, j + c);
      dot_columns_piece<together>(r.size(), column, x + r.first, sums + j);
    } else if (!several && r.size() > 0) {
      sums[j] = dot_piece<R>(r.size(), &a(r.first, j), x + r.first);
    }
    j += several ? together : 1;
  }
}

// sums += A^T x. Tasks are pieces of a few columns.
template <scalar R, scalar A, scalar X>
void add_transposed_product(const device& dev, columns<const A> a, const X* x, R* sums) {
  constexpr std::int64_t columns_a_task = 4 * together;
  const std::int64_t most = a.most_stored();
  const std::int64_t parts = piece_count(most), across = ceil_div(a.cols, columns_a_task);
  partial_sums<R> partial(a.cols, parts);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) \
    schedule(static) if (a.cols * most > piece_size)
  for (std::int64_t task = 0; task < across * parts; ++task) {
    const std::int64_t first = task % across * columns_a_task, part = task / across;
    dot_columns(a, range{first, std::min(a.cols, first + columns_a_task)}, part, x, partial.part(part));
  }
  partial.add_into(sums);
}

// sums += op(A) x
template <scalar R, scalar A, scalar X>
void add_any_product(const device& dev, columns<const A> a, bool transposed, const X* x, R* sums) {
  if (transposed)
    add_transposed_product(dev, a, x, sums);
  else
    add_product(dev, a, x, sums);
}

}  // namespace

template <scalar R, scalar A, scalar X>
void multiply_columns(const device& dev, columns<const A> a, bool transposed, meaning means, R alpha,
                      view<const X> x, R beta, view<R> y) {
  if (y.size() == 0) return;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_columns_cuda(dev, a, transposed, means, alpha, x, beta, y);
  auto from = whole(x);
  auto to = whole(y);
  scale_column(beta, y.size(), to.data());
  if (!is_zero(alpha)) {
    std::vector<R> sums(static_cast<std::size_t>(y.size()));
    const auto strict = a.without_diagonal();
    const X* elements = from.data();
    add_any_product(dev, means == meaning::unit_diagonal ? strict : a, transposed, elements, sums.data());
    if (means == meaning::mirrored) add_any_product(dev, strict, !transposed, elements, sums.data());
    if (means == meaning::unit_diagonal) axpy_piece(y.size(), R{bound_of<R>{1}}, elements, sums.data());
    axpy_piece(y.size(), alpha, static_cast<const R*>(sums.data()), to.data());
  }
  to.scatter();
}

template <scalar R, scalar X, scalar Y>
void update_columns(const device& dev, columns<R> a, R alpha, view<const X> x, view<const Y> y) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return update_columns_cuda(dev, a, alpha, x, y);
  if (is_zero(alpha)) return;
  auto from = whole(x);
  const X* elements = from.data();
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (a.cols > 1)
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const range r = a.stored(j);
    if (r.size() > 0) axpy_piece(r.size(), multiply_add(alpha, y[j], R{}), elements + r.first, &a(r.first, j));
  }
}

template <scalar R, scalar X>
void update_columns(const device& dev, columns<R> a, R alpha, view<const X> x) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return update_columns_cuda(dev, a, alpha, x);
  if (is_zero(alpha)) return;
  update_columns(dev, a.without_diagonal(), alpha, x, x);
  for (std::int64_t j = 0; j < a.cols; ++j) a(j, j) = multiply_add(alpha, add_square(R{x[j]}, R{}), a(j, j));
}

#define VOUCH_THREE(A, X, R)                                                                          \
  template void multiply_columns(const device&, columns<const A>, bool, meaning, R, view<const X>, R, \
                                 view<R>);                                                            \
  template void update_columns(const device&, columns<R>, R, view<const A>, view<const X>);
#define VOUCH_TWO(A, R) template void update_columns(const device&, columns<R>, R, view<const A>);
#define VOUCH_PRECISION(T)                           \
  VOUCH_THREE(T, T, T)                               \
  VOUCH_THREE(T, T, interval<T>)                     \
  VOUCH_THREE(T, interval<T>, interval<T>)           \
  VOUCH_THREE(interval<T>, T, interval<T>)           \
  VOUCH_THREE(interval<T>, interval<T>, interval<T>) \
  VOUCH_TWO(T, T)                                    \
  VOUCH_TWO(T, interval<T>)                          \
  VOUCH_TWO(interval<T>, interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
