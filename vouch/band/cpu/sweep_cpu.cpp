#include <omp.h>

#include <numeric>
#include <vector>

#include <vouch/band/cpu/sweep.hpp>
#include <vouch/band/elimination.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail {
namespace {

template <class V>
void report(const sweep_facts<V>& swept, int lane, elimination_facts& facts) {
  const auto part = [&](const V& v) {
    if constexpr (width_of<V> == 1)
      return v;
    else
      return v[lane];
  };
  facts.largest = part(swept.largest);
  facts.broken = !(part(swept.smallest) > 0) || part(swept.doubt) != 0;
}

template <class V>
VOUCH_SIMD_INLINE void thomas_segments(const tridiagonal_view<const scalar_of<V>>& A, const scalar_of<V>* b,
                                       scalar_of<V>* x, const lane_segments<width_of<V>>& at,
                                       scalar_of<V>* kept, sweep_facts<V>& facts) {
  constexpr int width = width_of<V>;
  row_tile<V> tile;
  thomas_sweep<V> sweep;
  for (std::int64_t first = 0; first < at.length; first += tile_rows) {
    const std::int64_t count = std::min(tile_rows, at.length - first);
    tile.load(A, b, at, first, count);
    for (std::int64_t i = 0; i < count; ++i)
      sweep.down(tile, i, kept + (first + i) * thomas_sweep<V>::stored * width, facts);
  }
  substitute<V, thomas_sweep<V>>(kept, at.length, V{}, V{}, 0, at, x, facts);
}

template <class V>
VOUCH_SIMD_INLINE void pivoted_segments(const tridiagonal_view<const scalar_of<V>>& A, const scalar_of<V>* b,
                                        scalar_of<V>* x, const lane_segments<width_of<V>>& at,
                                        scalar_of<V>* kept, sweep_facts<V>& facts) {
  constexpr int step = pivoted_sweep<V>::stored * width_of<V>;
  row_tile<V> tile;
  pivoted_sweep<V> sweep;
  for (std::int64_t first = 0; first < at.length; first += tile_rows) {
    const std::int64_t count = std::min(tile_rows, at.length - first);
    tile.load(A, b, at, first, count);
    if (first == 0) sweep.begin(tile);
    for (std::int64_t i = first == 0 ? 1 : 0; i < count; ++i)
      sweep.down(tile, i, kept + (first + i - 1) * step, facts);
  }
  sweep.finish(kept + (at.length - 1) * step, facts);
  substitute<V, pivoted_sweep<V>>(kept, at.length, V{}, V{}, 0, at, x, facts);
}

#define VOUCH_SWEEP(CLONES, NAME, T, V)                                                                        \
  CLONES void NAME(const tridiagonal_view<const T>& A, const T* b, T* x, const lane_segments<width_of<V>>& at, \
                   T* kept, sweep_facts<V>& facts) {                                                           \
    NAME##_segments<V>(A, b, x, at, kept, facts);                                                              \
  }
VOUCH_SWEEP(, thomas, float, float)
VOUCH_SWEEP(, thomas, double, double)
VOUCH_SWEEP(VOUCH_ARITHMETIC_CLONES, thomas, float, lanes<float>)
VOUCH_SWEEP(VOUCH_ARITHMETIC_CLONES, thomas, double, lanes<double>)
VOUCH_SWEEP(VOUCH_SCALAR_PIVOTING_CLONES, pivoted, float, float)
VOUCH_SWEEP(VOUCH_SCALAR_PIVOTING_CLONES, pivoted, double, double)
VOUCH_SWEEP(VOUCH_SIMD_CLONES, pivoted, float, lanes<float>)
VOUCH_SWEEP(VOUCH_SIMD_CLONES, pivoted, double, lanes<double>)
#undef VOUCH_SWEEP

// Systems in the order in which they share vectors: those of like length together.
std::vector<std::int64_t> by_length(const batch_shape& shape) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(shape.systems));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (shape.offsets != nullptr)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t s, std::int64_t t) { return shape.rows(s) > shape.rows(t); });
  return order;
}

template <class V>
lane_segments<width_of<V>> take(const batch_shape& matrix, const batch_shape& rhs, const batch_shape& solution,
                                const std::int64_t* systems, std::int64_t count) {
  lane_segments<width_of<V>> at;
  at.matrix_stride = matrix.row_stride;
  at.rhs_stride = rhs.row_stride;
  at.solution_stride = solution.row_stride;
  for (std::int64_t l = 0; l < count; ++l) {
    const auto lane = static_cast<std::size_t>(l);
    at.matrix[lane] = matrix.at(systems[l], 0);
    at.rhs[lane] = rhs.at(systems[l], 0);
    at.solution[lane] = solution.at(systems[l], 0);
    at.rows[lane] = rhs.rows(systems[l]);
    at.begins[lane] = at.ends[lane] = true;
    at.length = std::max(at.length, at.rows[lane]);
  }
  return at;
}

template <class V>
void sweep_all(const device& dev, const tridiagonal_view<const scalar_of<V>>& A,
               const batch_view<const scalar_of<V>>& b, const batch_view<scalar_of<V>>& x, bool pivot,
               elimination_facts* facts) {
  using T = scalar_of<V>;
  constexpr std::int64_t width = width_of<V>;
  const std::int64_t systems = b.shape.systems, groups = ceil_div(systems, width);
  const std::vector<std::int64_t> order = by_length(b.shape);
  const int threads = static_cast<int>(std::min<std::int64_t>(dev.threads(), groups));
  const std::int64_t kept_size =
      b.shape.n * width * (pivot ? pivoted_sweep<V>::stored : thomas_sweep<V>::stored);
  array<T> kept(device::cpu(1), kept_size * threads);
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(dynamic) if (threads > 1)
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t first = g * width, count = std::min(width, systems - first);
    const lane_segments<width_of<V>> at = take<V>(A.shape, b.shape, x.shape, order.data() + first, count);
    if (at.length == 0) continue;
    sweep_facts<V> swept;
    T* const own = kept.data() + omp_get_thread_num() * kept_size;
    if (pivot)
      pivoted(A, b.data, x.data, at, own, swept);
    else
      thomas(A, b.data, x.data, at, own, swept);
    for (std::int64_t l = 0; l < count; ++l)
      report<V>(swept, static_cast<int>(l), facts[order[static_cast<std::size_t>(first + l)]]);
  }
}

template <real T>
void sweep_systems(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                   const batch_view<T>& x, bool pivot, elimination_facts* facts) {
  if (b.shape.systems == 1)
    sweep_all<T>(dev, A, b, x, pivot, facts);
  else if (b.shape.systems > 1)
    sweep_all<lanes<T>>(dev, A, b, x, pivot, facts);
}

}  // namespace

template <real T>
void solve_thomas(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                  const batch_view<T>& x, elimination_facts* facts) {
  sweep_systems(dev, A, b, x, false, facts);
}

template <real T>
void solve_pivoted(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                   const batch_view<T>& x, elimination_facts* facts) {
  sweep_systems(dev, A, b, x, true, facts);
}

template void solve_thomas(const device&, const tridiagonal_view<const float>&, const batch_view<const float>&,
                           const batch_view<float>&, elimination_facts*);
template void solve_thomas(const device&, const tridiagonal_view<const double>&,
                           const batch_view<const double>&, const batch_view<double>&, elimination_facts*);
template void solve_pivoted(const device&, const tridiagonal_view<const float>&, const batch_view<const float>&,
                            const batch_view<float>&, elimination_facts*);
template void solve_pivoted(const device&, const tridiagonal_view<const double>&,
                            const batch_view<const double>&, const batch_view<double>&, elimination_facts*);

}  // namespace vouch::detail
