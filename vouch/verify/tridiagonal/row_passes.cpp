#include <vouch/verify/tridiagonal/row_passes.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/verify/tridiagonal/bordered_factors.hpp>
#include <vouch/verify/tridiagonal/factors.hpp>
#include <vouch/verify/tridiagonal/row_certificate.hpp>

namespace vouch::detail {
namespace {

using vector = lanes<double>;
constexpr std::int64_t width = simd<double>::width;

// Rows of one system or, where lanes hold systems, of some; so that one long system keeps all threads busy.
struct piece {
  std::int64_t system, systems, begin, end;
};

std::vector<piece> pieces_of(const batch_shape& shape, std::int64_t systems_a_piece) {
  const std::int64_t rows = 4096 / systems_a_piece;
  std::vector<piece> all;
  for (std::int64_t s = 0; s < shape.systems; s += systems_a_piece) {
    const std::int64_t systems = std::min(systems_a_piece, shape.systems - s), n = shape.rows(s);
    for (std::int64_t begin = 0; begin < n; begin += rows)
      all.push_back({s, systems, begin, std::min(begin + rows, n)});
  }
  return all;
}

// What a pass keeps of the rows that it has seen, lane by lane.
template <class V>
struct ratio_tally {
  V ratio{}, weight{}, v{}, least_u = outward::spread<V>(HUGE_VAL);
  mask_of<V> other = V{} < V{}, proves = V{} <= V{};

  VOUCH_SIMD_INLINE void add(const certified_row<V>& row) {
    ratio = outward::larger_or_nan(ratio, row.ratio);
    weight = weight < row.weight ? row.weight : weight;
    v = v < row.v ? row.v : v;
    least_u = row.u < least_u ? row.u : least_u;
    other = other | row.other;
    proves = proves & row.proves;
  }
};
template <class V>
struct radius_tally {
  V relative{}, absolute{};

  VOUCH_SIMD_INLINE void add(const certified_element<V>& at) {
    relative = outward::larger_or_nan(relative, at.relative);
    absolute = outward::larger_or_nan(absolute, at.absolute);
  }
};

void join(ratio_tally<double>& all, const ratio_tally<double>& one) {
  certified_row<double> row;
  row.ratio = one.ratio;
  row.weight = one.weight;
  row.v = one.v;
  row.u = one.least_u;
  row.other = one.other;
  row.proves = one.proves;
  all.add(row);
}
void join(radius_tally<double>& all, const radius_tally<double>& one) { all.add({one.relative, one.absolute}); }

VOUCH_SIMD_INLINE ratio_tally<double> lane(const ratio_tally<vector>& all, int l) {
  return {all.ratio[l], all.weight[l], all.v[l], all.least_u[l], all.other[l] != 0, all.proves[l] != 0};
}
VOUCH_SIMD_INLINE radius_tally<double> lane(const radius_tally<vector>& all, int l) {
  return {all.relative[l], all.absolute[l]};
}

template <class Body>
struct tally_for;
template <>
struct tally_for<tridiagonal_ratio_body> {
  template <class V>
  using of = ratio_tally<V>;
};
template <>
struct tally_for<tridiagonal_radius_body> {
  template <class V>
  using of = radius_tally<V>;
};
template <class Body, class V>
using tally = typename tally_for<Body>::template of<V>;

// Adds the rows of a piece to the tally of each of its systems. Vectors take the inner rows of one system, or
// all rows of as many systems as they have lanes.
template <class Body>
VOUCH_SIMD_INLINE void certify_rows(const Body& body, const piece& of, tally<Body, double>* found) {
  const std::int64_t last = body.vectors.rows(of.system) - 1;
  const bool by_systems = of.systems == width && body.vectors_can_hold(lanes_hold::systems);
  if (by_systems) {
    tally<Body, vector> sums;
    for (std::int64_t i = of.begin; i < of.end; ++i)
      sums.add(body.template certify<vector>(of.system, i, lanes_hold::systems));
    for (int l = 0; l < width; ++l) join(found[l], lane(sums, l));
    return;
  }
  const bool by_rows = of.systems == 1 && body.vectors_can_hold(lanes_hold::rows);
  for (std::int64_t s = 0; s < of.systems; ++s) {
    std::int64_t i = of.begin;
    const auto one_row = [&] {
      found[s].add(body.template certify<double>(of.system + s, i, lanes_hold::rows));
      ++i;
    };
    if (by_rows) {
      if (i == 0 && i < of.end) one_row();
      tally<Body, vector> sums;
      for (; i + width <= std::min(of.end, last); i += width)
        sums.add(body.template certify<vector>(of.system, i, lanes_hold::rows));
      for (int l = 0; l < width; ++l) join(found[s], lane(sums, l));
    }
    while (i < of.end) one_row();
  }
}

// One function for each body, since a template cannot have clones.
VOUCH_SIMD_CLONES void run(const tridiagonal_ratio_body& body, const piece& of, ratio_tally<double>* found) {
  certify_rows(body, of, found);
}
VOUCH_SIMD_CLONES void run(const tridiagonal_radius_body& body, const piece& of, radius_tally<double>* found) {
  certify_rows(body, of, found);
}

bool ends_early(const tridiagonal_ratio_body& body, const ratio_tally<double>& found) {
  return body.until_refuted && !found.proves;
}
bool ends_early(const tridiagonal_radius_body&, const radius_tally<double>&) { return false; }

// take(system, tally) gets the pieces in their order.
template <class Body, class Take>
void certify_on_cpu(const device& dev, const batch_shape& host, const Body& body, const Take& take) {
  const std::int64_t together = body.vectors_can_hold(lanes_hold::rows) ? 1 : width;
  const std::vector<piece> pieces = pieces_of(host, together);
  std::vector<tally<Body, double>> found(pieces.size() * static_cast<std::size_t>(together));
  std::atomic<bool> enough = false;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (pieces.size() > 1)
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (enough.load(std::memory_order_relaxed)) continue;
    tally<Body, double>* const mine = &found[k * static_cast<std::size_t>(together)];
    run(body, pieces[k], mine);
    for (std::int64_t s = 0; s < pieces[k].systems; ++s)
      if (ends_early(body, mine[s])) enough.store(true, std::memory_order_relaxed);
  }
  for (std::size_t k = 0; k < pieces.size(); ++k)
    for (std::int64_t s = 0; s < pieces[k].systems; ++s)
      take(pieces[k].system + s, found[k * static_cast<std::size_t>(together) + static_cast<std::size_t>(s)]);
}

}  // namespace

ratio_totals certify(const device& dev, const batch_shape& host, const tridiagonal_ratio_body& body,
                     array<double>& ratio) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return certify_cuda(dev, host, body, ratio);
  std::fill(ratio.begin(), ratio.end(), 0.0);
  ratio_tally<double> all;
  certify_on_cpu(dev, host, body, [&](std::int64_t s, const ratio_tally<double>& found) {
    ratio[s] = outward::larger_or_nan(ratio[s], found.ratio);
    join(all, found);
  });
  return {all.ratio, all.weight, all.v, all.least_u, all.other, all.proves};
}

radius_totals certify(const device& dev, const batch_shape& host, const tridiagonal_radius_body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return certify_cuda(dev, host, body);
  radius_tally<double> all;
  certify_on_cpu(dev, host, body, [&](std::int64_t, const radius_tally<double>& found) { join(all, found); });
  return {all.relative, all.absolute};
}

template <class Body>
void for_rows_of_systems(const device& dev, const batch_shape& host, const batch_shape& shape,
                         const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_rows_of_systems_cuda(dev, host, shape, body);
  const std::vector<piece> pieces = pieces_of(host, 1);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (pieces.size() > 1)
  for (std::size_t k = 0; k < pieces.size(); ++k)
    for (std::int64_t i = pieces[k].begin; i < pieces[k].end; ++i) body(pieces[k].system, i);
}

template <class Body>
void for_systems(const device& dev, std::int64_t count, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_systems_cuda(dev, count, body);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic) if (count > 1)
  for (std::int64_t k = 0; k < count; ++k) body(k);
}

#define VOUCH_PASS(Body) \
  template void for_rows_of_systems(const device&, const batch_shape&, const batch_shape&, const Body&);
VOUCH_VERIFY_BATCH_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
#define VOUCH_PASS(Body) template void for_systems(const device&, std::int64_t, const Body&);
VOUCH_VERIFY_FACTOR_STEPS(VOUCH_PASS)
VOUCH_PASS(tridiagonal_border_body)
#undef VOUCH_PASS

}  // namespace vouch::detail
