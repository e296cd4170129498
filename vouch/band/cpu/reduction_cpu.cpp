#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/band/elimination.hpp>
#include <vouch/band/reduction_row.hpp>
#include <vouch/core/ieee_environment.hpp>

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
  reduction_view<T> view() { return {a.data(), d.data(), c.data(), f.data()}; }
  double largest(std::size_t k) const {
    return std::fmax(std::fabs(a[k]), std::fmax(std::fabs(d[k]), std::fabs(c[k])));
  }
};

// Every level halves the unknowns; the way back finds those of a level from their neighbours.
template <real T>
void cyclic_reduction(reduced_rows<T>& rows, std::int64_t n, T* x, elimination_facts& facts) {
  const reduction_view<T> view = rows.view();
  for (std::int64_t step = 1; 2 * step - 1 < n; step *= 2)
    for (std::int64_t i = 2 * step - 1; i < n; i += 2 * step) {
      reduce_row(view, view, i, step, n);
      facts.largest = std::fmax(facts.largest, rows.largest(static_cast<std::size_t>(i)));
    }
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))); step > 0;
       step /= 2)
    for (std::int64_t i = step - 1; i < n; i += 2 * step) substitute_row(view, i, step, n, x, 1);
}

// Every level doubles the distance of what each unknown is coupled to, for all of them at once.
template <real T>
void parallel_reduction(reduced_rows<T>& rows, std::int64_t n, T* x, elimination_facts& facts) {
  reduced_rows<T> next(static_cast<std::size_t>(n));
  for (std::int64_t step = 1; step < n; step *= 2) {
    for (std::int64_t i = 0; i < n; ++i) {
      reduce_row(rows.view(), next.view(), i, step, n);
      facts.largest = std::fmax(facts.largest, next.largest(static_cast<std::size_t>(i)));
    }
    std::swap(rows, next);
  }
  for (std::int64_t i = 0; i < n; ++i) substitute_row(rows.view(), i, n, n, x, 1);
}

template <real T, class Reduce>
void reduce_all(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                const batch_view<T>& x, elimination_facts* facts, const Reduce& reduce) {
  const std::int64_t systems = b.shape.systems;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic) if (systems > 1)
  for (std::int64_t s = 0; s < systems; ++s) {
    const std::int64_t rows = b.shape.rows(s);
    const auto n = static_cast<std::size_t>(rows);
    reduced_rows<T> system(n);
    system.load(A, b, s, rows);
    std::vector<T> answer(n);
    if (n > 0) reduce(system, rows, answer.data(), facts[s]);
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
