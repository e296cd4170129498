#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/band/elimination.hpp>

namespace vouch::detail {
namespace {

// The rows of one system, contiguous, what is not used as zeros.
template <real T>
struct reduced_rows {
  std::vector<T> a, d, c, f;

  explicit reduced_rows(std::size_t n) : a(n), d(n), c(n), f(n) {}
  void load(const tridiagonal_view<const T>& A, const batch_view<const T>& b, std::int64_t s, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const std::int64_t at = A.shape.at(s, i);
      a[k] = i > 0 ? A.dl[at] : T{0};
      d[k] = A.d[at];
      c[k] = i + 1 < n ? A.du[at] : T{0};
      f[k] = b(s, i);
    }
  }
  double largest(std::size_t k) const {
    return std::fmax(std::fabs(a[k]), std::fmax(std::fabs(d[k]), std::fabs(c[k])));
  }
};

// Row i of `to` is row i of `from` without its neighbours at a distance of `step`.
template <real T>
void reduce_row(const reduced_rows<T>& from, reduced_rows<T>& to, std::size_t i, std::size_t step,
                std::size_t n) {
  T a = 0, c = 0, d = from.d[i], f = from.f[i];
  if (i >= step) {
    const T alpha = from.a[i] / from.d[i - step];
    a = -alpha * from.a[i - step];
    d -= alpha * from.c[i - step];
    f -= alpha * from.f[i - step];
  }
  if (i + step < n) {
    const T gamma = from.c[i] / from.d[i + step];
    c = -gamma * from.c[i + step];
    d -= gamma * from.a[i + step];
    f -= gamma * from.f[i + step];
  }
  to.a[i] = a;
  to.c[i] = c;
  to.d[i] = d;
  to.f[i] = f;
}

// Every level halves the unknowns; the way back finds those of a level from their neighbours.
template <real T>
void cyclic_reduction(reduced_rows<T>& rows, std::size_t n, std::vector<T>& x, elimination_facts& facts) {
  for (std::size_t step = 1; 2 * step - 1 < n; step *= 2)
    for (std::size_t i = 2 * step - 1; i < n; i += 2 * step) {
      reduce_row(rows, rows, i, step, n);
      facts.largest = std::fmax(facts.largest, rows.largest(i));
    }
  for (std::size_t step = std::bit_floor(n); step > 0; step /= 2)
    for (std::size_t i = step - 1; i < n; i += 2 * step) {
      T f = rows.f[i];
      if (i >= step) f -= rows.a[i] * x[i - step];
      if (i + step < n) f -= rows.c[i] * x[i + step];
      x[i] = f / rows.d[i];
    }
}

// Every level halves the coupling's reach for all unknowns at once.
template <real T>
void parallel_reduction(reduced_rows<T>& rows, std::size_t n, std::vector<T>& x, elimination_facts& facts) {
  reduced_rows<T> next(n);
  for (std::size_t step = 1; step < n; step *= 2) {
    for (std::size_t i = 0; i < n; ++i) {
      reduce_row(rows, next, i, step, n);
      facts.largest = std::fmax(facts.largest, next.largest(i));
    }
    std::swap(rows, next);
  }
  for (std::size_t i = 0; i < n; ++i) x[i] = rows.f[i] / rows.d[i];
}

template <real T, class Reduce>
void reduce_all(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                const batch_view<T>& x, elimination_facts* facts, const Reduce& reduce) {
  const std::int64_t systems = b.shape.systems;
#pragma omp parallel for num_threads(dev.threads()) schedule(dynamic) if (systems > 1)
  for (std::int64_t s = 0; s < systems; ++s) {
    const std::int64_t rows = b.shape.rows(s);
    const auto n = static_cast<std::size_t>(rows);
    reduced_rows<T> system(n);
    system.load(A, b, s, rows);
    std::vector<T> answer(n);
    if (n > 0) reduce(system, n, answer, facts[s]);
    for (std::size_t i = 0; i < n; ++i) {
      facts[s].broken = facts[s].broken || !std::isfinite(answer[i]);
      x(s, static_cast<std::int64_t>(i)) = answer[i];
    }
  }
}

}  // namespace

template <real T>
void solve_cyclic_reduction(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                            const batch_view<T>& x, elimination_facts* facts) {
  reduce_all(dev, A, b, x, facts, cyclic_reduction<T>);
}

template <real T>
void solve_pcr(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
               const batch_view<T>& x, elimination_facts* facts) {
  reduce_all(dev, A, b, x, facts, parallel_reduction<T>);
}

template void solve_cyclic_reduction(const device&, const tridiagonal_view<const float>&,
                                     const batch_view<const float>&, const batch_view<float>&,
                                     elimination_facts*);
template void solve_cyclic_reduction(const device&, const tridiagonal_view<const double>&,
                                     const batch_view<const double>&, const batch_view<double>&,
                                     elimination_facts*);
template void solve_pcr(const device&, const tridiagonal_view<const float>&, const batch_view<const float>&,
                        const batch_view<float>&, elimination_facts*);
template void solve_pcr(const device&, const tridiagonal_view<const double>&, const batch_view<const double>&,
                        const batch_view<double>&, elimination_facts*);

}  // namespace vouch::detail
