#include <omp.h>

#include <vector>

#include <vouch/band/cpu/sweep.hpp>
#include <vouch/band/elimination.hpp>
#include <vouch/band/reduced_block.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t rows_in_cache = 4096;

// The segments of a system of n rows; their number depends on n alone, their lengths differ by one at most.
template <real T>
struct segment_cut {
  std::int64_t n, segments;

  explicit segment_cut(std::int64_t rows) : n(rows) {
    constexpr std::int64_t width = simd<T>::width;
    segments = n < partition_least ? 1 : width * ceil_div(n, width * rows_in_cache);
  }
  std::int64_t begin(std::int64_t p) const { return p * (n / segments) + std::min(p, n % segments); }
  std::int64_t longest() const { return ceil_div(n, segments); }
};

template <class V>
VOUCH_SIMD_INLINE band_row<V> balanced_row(const row_tile<V>& tile, std::int64_t i) {
  band_row<V> row{row_of<V>(tile.a, i), row_of<V>(tile.d, i), row_of<V>(tile.c, i), row_of<V>(tile.f, i)};
  const V power = balancing_power(row.a, row.d, row.c);
  row.a *= power;
  row.d *= power;
  row.c *= power;
  row.f *= power;
  return row;
}

// All lanes have as many rows.
template <class V>
VOUCH_SIMD_INLINE void reduce_segments(const tridiagonal_view<const scalar_of<V>>& A, const scalar_of<V>* b,
                                       const lane_segments<width_of<V>>& at, reduced_block<V>& made) {
  row_tile<V> tile;
  for (std::int64_t first = 0; first < at.length; first += tile_rows) {
    const std::int64_t count = std::min(tile_rows, at.length - first);
    tile.load(A, b, at, first, count);
    std::int64_t i = 0;
    if (first == 0) {
      made = at.length == 1 ? reduced_block_of(balanced_row(tile, 0))
                            : reduced_block_of(balanced_row(tile, 0), balanced_row(tile, 1));
      i = 2;
    }
    for (; i < count; ++i) append(made, balanced_row(tile, i));
  }
}

// The way back for a segment whose boundary unknowns are known: what was eliminated is eliminated again,
// with the same pivots.
template <class V>
VOUCH_SIMD_INLINE void fill_segments(const tridiagonal_view<const scalar_of<V>>& A, const scalar_of<V>* b,
                                     scalar_of<V>* x, const lane_segments<width_of<V>>& at,
                                     const boundary_unknowns<V>& known, scalar_of<V>* kept,
                                     sweep_facts<V>& facts) {
  using T = scalar_of<V>;
  using eliminated = typename known_left<V>::eliminated;
  constexpr int width = width_of<V>;
  row_tile<V> tile;
  known_left<V> inner{};
  for (std::int64_t first = 0; first < at.length && at.length > 1; first += tile_rows) {
    const std::int64_t count = std::min(tile_rows, at.length - first);
    tile.load(A, b, at, first, count);
    std::int64_t i = 0;
    if (first == 0) {
      inner = start_known(balanced_row(tile, 0), balanced_row(tile, 1), known.left, known.first);
      i = 2;
    }
    for (; i < count; ++i) {
      const eliminated e = inner.append(balanced_row(tile, i));
      std::memcpy(kept + (first + i - 1) * 3 * width, &e, sizeof e);
      for (int k = 0; k < 2; ++k)
        facts.largest = larger(facts.largest, larger(magnitude(inner.last[k]), magnitude(inner.right[k])));
    }
  }
  alignas(64) T answer[tile_rows * width];
  V x1 = known.last, x2 = known.right;
  for (std::int64_t end = at.length; end > 0;) {
    const std::int64_t begin = (end - 1) / tile_rows * tile_rows;
    for (std::int64_t i = end - 1; i >= begin; --i) {
      V now = i == 0 ? known.first : known.last;
      if (i > 0 && i + 1 < at.length) {
        eliminated e;
        std::memcpy(&e, kept + i * 3 * width, sizeof e);
        now = e.rhs - e.next * x1 - e.after * x2;
        x2 = x1;
        x1 = now;
      }
      facts.see_solution(now);
      set_row<V>(answer, i - begin, now);
    }
    unpack<T, width>(answer, at.solution, at.solution_stride, {}, at.rows, begin, end - begin, x);
    end = begin;
  }
}

#define VOUCH_PARTITION(CLONES, T, V)                                                                          \
  CLONES void reduce(const tridiagonal_view<const T>& A, const T* b, const lane_segments<width_of<V>>& at,     \
                     reduced_block<V>& made) {                                                                 \
    reduce_segments<V>(A, b, at, made);                                                                        \
  }                                                                                                            \
  CLONES void fill(const tridiagonal_view<const T>& A, const T* b, T* x, const lane_segments<width_of<V>>& at, \
                   const boundary_unknowns<V>& known, T* kept, sweep_facts<V>& facts) {                        \
    fill_segments<V>(A, b, x, at, known, kept, facts);                                                         \
  }
VOUCH_PARTITION(VOUCH_SCALAR_PIVOTING_CLONES, float, float)
VOUCH_PARTITION(VOUCH_SCALAR_PIVOTING_CLONES, double, double)
VOUCH_PARTITION(VOUCH_SIMD_CLONES, float, lanes<float>)
VOUCH_PARTITION(VOUCH_SIMD_CLONES, double, lanes<double>)
#undef VOUCH_PARTITION

template <class V>
void set_lane(V& v, int lane, scalar_of<V> to) {
  if constexpr (width_of<V> == 1)
    v = to;
  else
    v[lane] = to;
}
template <class V>
scalar_of<V> lane_of(const V& v, int lane) {
  if constexpr (width_of<V> == 1)
    return v;
  else
    return v[lane];
}

// One system of a batch, in segments.
template <real T>
struct partitioned {
  const tridiagonal_view<const T>& A;
  const batch_view<const T>& b;
  const batch_view<T>& x;
  std::int64_t system;
  segment_cut<T> cut;
  bool periodic;
  std::vector<reduced_block<T>> blocks;
  std::vector<boundary_unknowns<T>> known;

  partitioned(const tridiagonal_view<const T>& matrix, const batch_view<const T>& rhs, const batch_view<T>& to,
              std::int64_t s)
      : A(matrix),
        b(rhs),
        x(to),
        system(s),
        cut(rhs.shape.rows(s)),
        periodic(matrix.periodic),
        blocks(static_cast<std::size_t>(cut.segments)),
        known(static_cast<std::size_t>(cut.segments)) {}

  template <int Width>
  lane_segments<Width> take(std::int64_t first) const {
    lane_segments<Width> at;
    at.matrix_stride = A.shape.row_stride;
    at.rhs_stride = b.shape.row_stride;
    at.solution_stride = x.shape.row_stride;
    for (std::int64_t l = 0; l < Width; ++l) {
      const auto lane = static_cast<std::size_t>(l);
      const std::int64_t begin = cut.begin(first + l);
      at.matrix[lane] = A.shape.at(system, begin);
      at.rhs[lane] = b.shape.at(system, begin);
      at.solution[lane] = x.shape.at(system, begin);
      at.rows[lane] = cut.begin(first + l + 1) - begin;
      at.begins[lane] = !periodic && first + l == 0;
      at.ends[lane] = !periodic && first + l + 1 == cut.segments;
      at.length = std::max(at.length, at.rows[lane]);
    }
    return at;
  }

  template <class V>
  void reduce_from(std::int64_t first) {
    reduced_block<V> made;
    reduce(A, b.data, take<width_of<V>>(first), made);
    for (int l = 0; l < width_of<V>; ++l) {
      reduced_block<T>& to = blocks[static_cast<std::size_t>(first + l)];
      for (int k = 0; k < 2; ++k)
        to.left[k] = lane_of(made.left[k], l), to.first[k] = lane_of(made.first[k], l),
        to.last[k] = lane_of(made.last[k], l), to.right[k] = lane_of(made.right[k], l),
        to.rhs[k] = lane_of(made.rhs[k], l);
    }
  }
  template <class V>
  void fill_from(std::int64_t first, T* kept, elimination_facts& facts) {
    boundary_unknowns<V> at;
    for (int l = 0; l < width_of<V>; ++l) {
      const boundary_unknowns<T>& from = known[static_cast<std::size_t>(first + l)];
      set_lane(at.left, l, from.left);
      set_lane(at.first, l, from.first);
      set_lane(at.last, l, from.last);
      set_lane(at.right, l, from.right);
    }
    sweep_facts<V> swept;
    fill(A, b.data, x.data, take<width_of<V>>(first), at, kept, swept);
    for (int l = 0; l < width_of<V>; ++l) {
      facts.largest = std::max(facts.largest, static_cast<double>(lane_of(swept.largest, l)));
      facts.broken = facts.broken || lane_of(swept.doubt, l) != 0;
    }
  }
  // Calls f with a vector's or a number's type for segments of equal length side by side.
  template <class OnLanes, class OnOne>
  void in_groups(std::int64_t group, const OnLanes& on_lanes, const OnOne& on_one) {
    constexpr std::int64_t width = simd<T>::width;
    const std::int64_t first = group * width, last = std::min(first + width, cut.segments);
    const auto rows = [&](std::int64_t p) { return cut.begin(p + 1) - cut.begin(p); };
    if (last - first == width && rows(first) == rows(last - 1)) return on_lanes(first);
    for (std::int64_t p = first; p < last; ++p) on_one(p);
  }
};

// Joins the segments two by two, closes the system and hands its boundary unknowns down again. False: no
// answer.
template <real T>
bool solve_boundaries(std::vector<reduced_block<T>>& blocks, std::vector<boundary_unknowns<T>>& known,
                      bool periodic) {
  std::vector<std::vector<separator_pair<T>>> separators;
  bool regular = true;
  while (blocks.size() > 1) {
    const std::size_t pairs = blocks.size() / 2;
    std::vector<separator_pair<T>>& level = separators.emplace_back(pairs);
    for (std::size_t k = 0; k < pairs; ++k) {
      blocks[k] = join(blocks[2 * k], blocks[2 * k + 1], level[k]);
      regular = regular && !level[k].broken;
    }
    if (blocks.size() % 2 == 1) blocks[pairs] = blocks.back();
    blocks.resize(pairs + blocks.size() % 2);
  }
  std::vector<boundary_unknowns<T>> now(1), below;
  regular = close(blocks.front(), periodic, now.front()) && regular;
  const std::size_t segments = known.size();
  for (std::size_t depth = separators.size(); depth-- > 0;) {
    const std::size_t pairs = separators[depth].size();
    below.resize(depth == 0 ? segments : 2 * pairs + (now.size() > pairs));
    for (std::size_t k = 0; k < pairs; ++k) separators[depth][k].solve(now[k], below[2 * k], below[2 * k + 1]);
    if (now.size() > pairs) below.back() = now.back();
    now.swap(below);
  }
  known.swap(now);
  return regular;
}

template <real T>
void solve_one(int threads, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
               const batch_view<T>& x, std::int64_t s, elimination_facts& facts) {
  constexpr std::int64_t width = simd<T>::width;
  partitioned<T> of(A, b, x, s);
  if (of.cut.n == 0) return;
  const std::int64_t groups = ceil_div(of.cut.segments, width);
  const int team = static_cast<int>(std::min<std::int64_t>(threads, groups));
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(static) if (team > 1)
  for (std::int64_t g = 0; g < groups; ++g)
    of.in_groups(
        g, [&](std::int64_t p) { of.template reduce_from<lanes<T>>(p); },
        [&](std::int64_t p) { of.template reduce_from<T>(p); });
  facts.broken = !solve_boundaries(of.blocks, of.known, of.periodic);
  const std::int64_t kept_size = of.cut.longest() * 3 * width;
  array<T> kept(device::cpu(1), kept_size * team);
  std::vector<elimination_facts> found(static_cast<std::size_t>(groups));
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(static) if (team > 1)
  for (std::int64_t g = 0; g < groups; ++g) {
    T* own = kept.data() + (team > 1 ? omp_get_thread_num() : 0) * kept_size;
    elimination_facts& here = found[static_cast<std::size_t>(g)];
    of.in_groups(
        g, [&](std::int64_t p) { of.template fill_from<lanes<T>>(p, own, here); },
        [&](std::int64_t p) { of.template fill_from<T>(p, own, here); });
  }
  for (const elimination_facts& here : found) {
    facts.largest = std::max(facts.largest, here.largest);
    facts.broken = facts.broken || here.broken;
  }
}

}  // namespace

template <real T>
void solve_partition(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                     const batch_view<T>& x, elimination_facts* facts) {
  const std::int64_t systems = b.shape.systems;
  const bool one_thread_each = systems >= 2 * dev.threads() || b.shape.n < 8 * partition_least;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) \
    schedule(dynamic) if (one_thread_each && systems > 1)
  for (std::int64_t s = 0; s < systems; ++s)
    solve_one(one_thread_each ? 1 : dev.threads(), A, b, x, s, facts[s]);
}

template void solve_partition(const device&, const tridiagonal_view<const float>&,
                              const batch_view<const float>&, const batch_view<float>&, elimination_facts*);
template void solve_partition(const device&, const tridiagonal_view<const double>&,
                              const batch_view<const double>&, const batch_view<double>&, elimination_facts*);

}  // namespace vouch::detail
