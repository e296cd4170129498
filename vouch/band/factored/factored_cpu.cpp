#include <omp.h>

#include <algorithm>

#include <vouch/band/cpu/lanes.hpp>
#include <vouch/band/elimination.hpp>
#include <vouch/band/factored/factored_storage.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail {
namespace {

template <real T>
using storage_of = typename factored_tridiagonal<T>::storage;

// A run of rows of one right-hand side: the answer is kept for first to last - 1; sweeps begin `early` rows
// before and behind.
struct run {
  std::int64_t rhs = 0, first = 0, last = 0, begin = 0, end = 0;
};

// How a solve is cut into runs; it depends on the shapes alone.
template <real T>
struct cut {
  const storage_of<T>& kept;
  std::int64_t rhs_a_matrix, length, runs_a_rhs, count;
  bool across;  // neighbours in a vector are right-hand sides, not runs of one

  cut(const storage_of<T>& of, const batch_shape& b)
      : kept(of), rhs_a_matrix(b.systems / of.shape.systems), length(std::max<std::int64_t>(of.rows, 1)) {
    constexpr std::int64_t width = simd<T>::width, in_cache = 4096;
    const std::int64_t n = of.rows, h = of.decay, share = ceil_div(length, width);
    // Runs pay where a vector of them, early rows included, is at most a third of the system long.
    if (of.shape.offsets == nullptr && share + 2 * h <= n / 3 && b.systems < 4 * width * (1 + n / (1 << 16)))
      length = std::min(share, std::max(in_cache, 8 * h));
    runs_a_rhs = std::max<std::int64_t>(ceil_div(n, length), 1);
    count = runs_a_rhs * b.systems;
    across = b.system_stride == 1;
  }
  run at(std::int64_t r) const {
    const std::int64_t rhs_count = count / runs_a_rhs;
    run p;
    p.rhs = across ? r % rhs_count : r / runs_a_rhs;
    const std::int64_t part = across ? r / rhs_count : r % runs_a_rhs;
    const std::int64_t n = kept.shape.offsets != nullptr ? kept.shape.rows(p.rhs / rhs_a_matrix) : kept.rows;
    p.first = std::min(part * length, n);
    p.last = std::min(p.first + length, n);
    p.begin = std::max<std::int64_t>(p.first - kept.decay, 0);
    p.end = std::min(p.last + kept.decay, n);
    if (runs_a_rhs == 1) {
      p.begin = 0;
      p.end = n;
    }
    return p;
  }
};

// Runs side by side. All row numbers below count from each lane's begin.
template <class V>
struct lane_runs {
  static constexpr int width = width_of<V>;
  std::array<std::int64_t, width> matrix{}, from{}, to{}, rows{}, begin{}, keep_from{}, keep_to{};
  std::int64_t matrix_stride = 1, from_stride = 1, to_stride = 1, length = 0;
  bool one_matrix = true;  // the same factors in every lane

  lane_runs(const cut<scalar_of<V>>& parts, std::int64_t first, const batch_shape& b, const batch_shape& x) {
    matrix_stride = parts.kept.shape.row_stride;
    from_stride = b.row_stride;
    to_stride = x.row_stride;
    const std::int64_t count = std::min<std::int64_t>(width, parts.count - first);
    for (std::int64_t l = 0; l < count; ++l) {
      const run p = parts.at(first + l);
      const auto lane = static_cast<std::size_t>(l);
      const std::int64_t m = p.rhs / parts.rhs_a_matrix;
      const bool constant = parts.kept.constant();
      matrix[lane] = parts.kept.shape.at(m, constant ? 0 : p.begin);
      from[lane] = b.at(p.rhs, p.begin);
      to[lane] = x.at(p.rhs, p.begin);
      rows[lane] = p.end - p.begin;
      begin[lane] = p.begin;
      keep_from[lane] = p.first - p.begin;
      keep_to[lane] = p.last - p.begin;
      length = std::max(length, rows[lane]);
      one_matrix = one_matrix && matrix[lane] == matrix[0] && begin[lane] == begin[0];
    }
    one_matrix = one_matrix && count == width;
  }
};

// Rows of one array of factors for every lane; 0 behind a lane's end.
template <class V>
VOUCH_SIMD_INLINE void take_factors(const storage_of<scalar_of<V>>& kept, const scalar_of<V>* from,
                                    const lane_runs<V>& at, std::int64_t first, std::int64_t count,
                                    scalar_of<V>* tile) {
  using T = scalar_of<V>;
  constexpr int width = width_of<V>;
  const std::int64_t stored = kept.shape.n;
  if (at.one_matrix && width > 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = kept.constant() ? std::min(at.begin[0] + first + i, stored - 1) : first + i;
      set_row<V>(tile, i, V{} + from[at.matrix[0] + row * at.matrix_stride]);
    }
  } else if (!kept.constant()) {
    pack<T, width>(from, at.matrix, at.matrix_stride, at.rows, first, count, T{0}, tile);
  } else {
    for (int l = 0; l < width; ++l)
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = std::min(at.begin[l] + first + i, stored - 1);
        tile[i * width + l] = first + i < at.rows[l] ? from[at.matrix[l] + row * at.matrix_stride] : T{0};
      }
  }
}

// y: one vector a row. A lane that has ended goes on with zeros, so that nothing comes back from behind it.
template <class V>
VOUCH_SIMD_INLINE void plain_runs(const storage_of<scalar_of<V>>& kept, const lane_runs<V>& at,
                                  const scalar_of<V>* b, scalar_of<V>* x, scalar_of<V>* y) {
  using T = scalar_of<V>;
  constexpr int width = width_of<V>;
  alignas(64) T lower[tile_rows * width], inverse[tile_rows * width], rhs[tile_rows * width];
  V carried{};
  for (std::int64_t first = 0; first < at.length; first += tile_rows) {
    const std::int64_t count = std::min(tile_rows, at.length - first);
    take_factors<V>(kept, kept.lower.data(), at, first, count, lower);
    take_factors<V>(kept, kept.inverse.data(), at, first, count, inverse);
    pack<T, width>(b, at.from, at.from_stride, at.rows, first, count, T{0}, rhs);
    for (std::int64_t i = 0; i < count; ++i) {
      carried = row_of<V>(inverse, i) * row_of<V>(rhs, i) - row_of<V>(lower, i) * carried;
      set_row<V>(y, first + i, carried);
    }
  }
  carried = V{};
  for (std::int64_t end = at.length; end > 0;) {
    const std::int64_t first = (end - 1) / tile_rows * tile_rows, count = end - first;
    take_factors<V>(kept, kept.upper.data(), at, first, count, lower);
    for (std::int64_t i = count - 1; i >= 0; --i) {
      carried = row_of<V>(y, first + i) - row_of<V>(lower, i) * carried;
      set_row<V>(rhs, i, carried);
    }
    unpack<T, width>(rhs, at.to, at.to_stride, at.keep_from, at.keep_to, first, count, x);
    end = first;
  }
}

#define VOUCH_PLAIN_RUNS(CLONES, T, V)                                                           \
  CLONES void plain(const storage_of<T>& kept, const lane_runs<V>& at, const T* b, T* x, T* y) { \
    plain_runs<V>(kept, at, b, x, y);                                                            \
  }
VOUCH_PLAIN_RUNS(, float, float)
VOUCH_PLAIN_RUNS(, double, double)
VOUCH_PLAIN_RUNS(VOUCH_ARITHMETIC_CLONES, float, lanes<float>)
VOUCH_PLAIN_RUNS(VOUCH_ARITHMETIC_CLONES, double, lanes<double>)
#undef VOUCH_PLAIN_RUNS

template <class V>
void plain_all(const device& dev, const cut<scalar_of<V>>& parts, const batch_view<const scalar_of<V>>& b,
               const batch_view<scalar_of<V>>& x) {
  using T = scalar_of<V>;
  constexpr std::int64_t width = width_of<V>;
  const std::int64_t groups = ceil_div(parts.count, width);
  const int threads = static_cast<int>(std::min<std::int64_t>(dev.threads(), groups));
  const std::int64_t size = std::min(parts.length + 2 * parts.kept.decay, parts.kept.rows) * width;
  array<T> y(device::cpu(1), size * threads);
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (threads > 1)
  for (std::int64_t g = 0; g < groups; ++g) {
    const lane_runs<V> at(parts, g * width, b.shape, x.shape);
    plain(parts.kept, at, b.data, x.data, y.data() + omp_get_thread_num() * size);
  }
}

template <real T>
void solve_plain(const device& dev, const storage_of<T>& kept, const batch_view<const T>& b,
                 const batch_view<T>& x) {
  const cut<T> parts(kept, b.shape);
  if (parts.count == 1) return plain_all<T>(dev, parts, b, x);
  if (b.data != x.data || parts.runs_a_rhs == 1 || parts.count <= simd<T>::width)
    return plain_all<lanes<T>>(dev, parts, b, x);
  // A run would read its neighbour's answer.
  array<T> copy(device::cpu(1), b.shape.systems * b.shape.n);
  const batch_view<T> source{copy.data(), contiguous(b.shape.n, b.shape.systems)};
  for (std::int64_t s = 0; s < b.shape.systems; ++s)
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
    for (std::int64_t i = 0; i < b.shape.n; ++i) source(s, i) = b(s, i);
  plain_all<lanes<T>>(dev, parts, source, x);
}

template <real T>
void pivoted_run(const storage_of<T>& kept, std::int64_t s, std::int64_t m, std::int64_t n,
                 const batch_view<const T>& b, const batch_view<T>& x) {
  if (n == 0) return;
  T carried = b(s, 0);
  for (std::int64_t i = 1; i < n; ++i) {
    const std::int64_t at = kept.shape.at(m, i - 1);
    const T here = b(s, i), multiplier = kept.lower[at];
    const bool swap = kept.swapped[at] != 0;
    x(s, i - 1) = swap ? here : carried;
    carried = (swap ? carried : here) - multiplier * (swap ? here : carried);
  }
  x(s, n - 1) = carried;
  T x1 = 0, x2 = 0;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const std::int64_t at = kept.shape.at(m, i);
    const T now = (x(s, i) - kept.upper[at] * x1 - kept.after[at] * x2) * kept.inverse[at];
    x2 = x1;
    x(s, i) = x1 = now;
  }
}

// A thread a system where there are several.
template <real T>
void eliminate_again(const device& dev, const storage_of<T>& kept, const batch_view<const T>& b,
                     const batch_view<T>& x) {
  const tridiagonal_view<const T> A = kept.matrices();
  const std::int64_t systems = b.shape.systems, rhs_a_matrix = systems / A.shape.systems;
  const device one_thread = device::cpu(1);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic) if (systems > 1)
  for (std::int64_t s = 0; s < systems; ++s) {
    const std::int64_t m = s / rhs_a_matrix, n = b.shape.rows(s), first = A.shape.at(m, 0);
    const auto one_of = [n](const batch_shape& all) { return batch_shape{n, 1, all.row_stride, 0, nullptr}; };
    elimination_facts unasked;
    solve_partition<T>(
        systems > 1 ? one_thread : dev, {A.dl + first, A.d + first, A.du + first, one_of(A.shape), A.periodic},
        {b.data + b.shape.at(s, 0), one_of(b.shape)}, {x.data + x.shape.at(s, 0), one_of(x.shape)}, &unasked);
  }
}

// The last unknown from the others, and what it changes in them.
template <real T>
void close_ring(const storage_of<T>& kept, std::int64_t s, std::int64_t m, const T last_rhs,
                const batch_view<T>& x) {
  const std::int64_t n = kept.rows;
  const T* corner = kept.corner.data() + 3 * m;
  const T known = n > 0 ? corner[0] * x(s, 0) + corner[1] * x(s, n - 1) : T{0};
  const T last = (last_rhs - known) * corner[2];
  const T* border = kept.border.data() + m * n;
  for (std::int64_t i = 0; i < n; ++i) x(s, i) -= border[i] * last;
  x(s, n) = last;
}

}  // namespace

template <real T>
void solve_factored_cpu(const device& dev, const storage_of<T>& kept, bool periodic,
                        const batch_view<const T>& b, const batch_view<T>& x) {
  const std::int64_t systems = b.shape.systems;
  if (systems == 0 || b.shape.n == 0) return;
  if (kept.how == storage_of<T>::form::again) return eliminate_again<T>(dev, kept, b, x);
  const std::int64_t rhs_a_matrix = systems / kept.shape.systems;
  std::vector<T> last(static_cast<std::size_t>(periodic ? systems : 0));
  for (std::size_t s = 0; s < last.size(); ++s) last[s] = b(static_cast<std::int64_t>(s), kept.rows);
  if (kept.how == storage_of<T>::form::plain && kept.rows > 0) {
    solve_plain<T>(dev, kept, b, x);
  } else if (kept.rows > 0) {
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (systems > 1)
    for (std::int64_t s = 0; s < systems; ++s) {
      const std::int64_t m = s / rhs_a_matrix;
      pivoted_run<T>(kept, s, m, kept.shape.offsets != nullptr ? kept.shape.rows(m) : kept.rows, b, x);
    }
  }
  if (!periodic) return;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (systems > 1)
  for (std::int64_t s = 0; s < systems; ++s)
    close_ring<T>(kept, s, s / rhs_a_matrix, last[static_cast<std::size_t>(s)], x);
}

template void solve_factored_cpu(const device&, const storage_of<float>&, bool, const batch_view<const float>&,
                                 const batch_view<float>&);
template void solve_factored_cpu(const device&, const storage_of<double>&, bool,
                                 const batch_view<const double>&, const batch_view<double>&);

}  // namespace vouch::detail
