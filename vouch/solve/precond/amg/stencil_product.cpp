#include <vouch/solve/precond/amg/stencil_product.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/precond/amg/stencil_lines.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>

namespace vouch::multigrid {
namespace {

constexpr int width = simd<float>::width;
constexpr std::size_t most_ways = 26;

// Couplings of some rows in order, for rows that have them all.
struct row_products {
  std::size_t count = 0;
  const float* entries[most_ways];  // of the first row
  const float* others[most_ways];   // elements of w
  combination terms;                // from the first row on
};

template <int batch>
VOUCH_SIMD_INLINE void combine_batch(const row_products& p, std::int64_t i) {
  const combination& t = p.terms;
  lanes<float> sum[batch], x, y;
  for (int b = 0; b < batch; ++b) load<float>(sum[b], t.w + i + b * width);
  for (std::size_t k = 0; k < p.count; ++k)
    for (int b = 0; b < batch; ++b) {
      load<float>(x, p.entries[k] + i + b * width);
      load<float>(y, p.others[k] + i + b * width);
      sum[b] += x * y;
    }
  for (int b = 0; b < batch; ++b) {
    sum[b] *= t.c;
    if (t.v != nullptr) {
      load<float>(x, t.v + i + b * width);
      sum[b] = t.b * x + sum[b];
    }
    if (t.u != nullptr) {
      load<float>(x, t.u + i + b * width);
      sum[b] = t.a * x + sum[b];
    }
    store<float>(t.out + i + b * width, sum[b]);
  }
}

VOUCH_SIMD_CLONES void combine_rows(const row_products& p, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width) combine_batch<4>(p, i);
  for (; i + width <= n; i += width) combine_batch<1>(p, i);
  for (; i < n; ++i) {
    float sum = p.terms.w[i];
    for (std::size_t k = 0; k < p.count; ++k) sum += p.entries[k][i] * p.others[k][i];
    p.terms.out[i] = combined(p.terms, i, sum);
  }
}

// out[i] = values[i] / sqrt(one[i] other[i])
VOUCH_SIMD_CLONES void scale_line(std::int64_t n, const double* __restrict__ values,
                                  const double* __restrict__ one, const double* __restrict__ other,
                                  float* __restrict__ out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = scaled_coupling(values[i], one[i], other[i]);
}
// out[i] = weights[i] sqrt(fine[stride i] / coarse[i])
VOUCH_SIMD_CLONES void scale_weights(std::int64_t n, std::int64_t stride, const double* __restrict__ weights,
                                     const double* __restrict__ fine, const double* __restrict__ coarse,
                                     float* __restrict__ out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = scaled_weight(weights[i], fine[stride * i], coarse[i]);
}

// The lines that an element is made of.
struct line_products {
  int count = 0;
  line_terms of[9];

  void add(const weight_table& weights, int y, int z, std::int64_t at, const float* elements) {
    line_terms& line = of[count++];
    line.here = weights[place_in_table(0, y, z)] + at;
    line.vector = elements;
    if (weights[place_in_table(-1, y, z)] == nullptr) return;
    line.back = weights[place_in_table(-1, y, z)] + at;
    line.ahead = weights[place_in_table(1, y, z)] + at;
  }
};

VOUCH_SIMD_INLINE void even_of(lanes<float>& out, const lanes<float>& low, const lanes<float>& high) {
  out = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
VOUCH_SIMD_INLINE void odd_of(lanes<float>& out, const lanes<float>& low, const lanes<float>& high) {
  out = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
VOUCH_SIMD_INLINE void add_product(lanes<float>& sum, const float* weights, const lanes<float>& v) {
  lanes<float> w;
  load<float>(w, weights);
  sum += w * v;
}

// A coarse line of n points from fine lines of nx. Vectors of it may be read from the element before the line on where
// may_begin, and all that is in front of `readable`.
VOUCH_SIMD_CLONES void restrict_halved(const line_products& p, std::int64_t n, std::int64_t nx, bool may_begin,
                                       std::int64_t readable, float* out) {
  const auto at = [&](std::int64_t i) {
    float sum = 0;
    for (int k = 0; k < p.count; ++k) add_restricted(sum, p.of[k], i, nx);
    out[i] = sum;
  };
  std::int64_t i = 0;
  if (!may_begin) at(i++);
  for (; i + width <= n && 2 * i + 2 * width + 1 <= readable; i += width) {
    lanes<float> sum{}, low, high, v;
    for (int k = 0; k < p.count; ++k) {
      const float* const from = p.of[k].vector + 2 * i;
      load<float>(low, from - 1);
      load<float>(high, from - 1 + width);
      even_of(v, low, high);
      add_product(sum, p.of[k].back + i, v);
      odd_of(v, low, high);
      add_product(sum, p.of[k].here + i, v);
      load<float>(low, from + 1);
      load<float>(high, from + 1 + width);
      even_of(v, low, high);
      add_product(sum, p.of[k].ahead + i, v);
    }
    store<float>(out + i, sum);
  }
  for (; i < n; ++i) at(i);
}

VOUCH_SIMD_CLONES void restrict_plain(const line_products& p, std::int64_t n, float* out) {
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    lanes<float> sum{}, v;
    for (int k = 0; k < p.count; ++k) {
      load<float>(v, p.of[k].vector + i);
      add_product(sum, p.of[k].here + i, v);
    }
    store<float>(out + i, sum);
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < p.count; ++k) add_plain(sum, p.of[k], i);
    out[i] = sum;
  }
}

// A fine line of nx points from coarse lines of n, a u besides. Where a whole line may be read with the element behind it,
// that meets a weight of zero.
VOUCH_SIMD_CLONES void prolongate_halved(const line_products& p, std::int64_t n, std::int64_t nx, bool may_end,
                                         float a, const float* u, float* out) {
  const std::int64_t in_vectors = may_end && nx == 2 * n ? n : n - 1;
  std::int64_t i = 0;
  for (; i + width <= in_vectors; i += width) {
    lanes<float> even{}, odd{}, v, next, low, high;
    for (int k = 0; k < p.count; ++k) {
      load<float>(v, p.of[k].vector + i);
      load<float>(next, p.of[k].vector + i + 1);
      add_product(even, p.of[k].here + i, v);
      add_product(odd, p.of[k].ahead + i, v);
      add_product(odd, p.of[k].back + i + 1, next);
    }
    low = __builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = __builtin_shufflevector(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    load<float>(v, u + 2 * i);
    low = a * v + low;
    load<float>(v, u + 2 * i + width);
    high = a * v + high;
    store<float>(out + 2 * i, low);
    store<float>(out + 2 * i + width, high);
  }
  for (; i < n; ++i) {
    float even = 0, odd = 0;
    for (int k = 0; k < p.count; ++k) add_prolongated(even, odd, p.of[k], i, n);
    out[2 * i] = a * u[2 * i] + even;
    if (2 * i + 1 < nx) out[2 * i + 1] = a * u[2 * i + 1] + odd;
  }
}

VOUCH_SIMD_CLONES void prolongate_plain(const line_products& p, std::int64_t n, float a, const float* u,
                                        float* out) {
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    lanes<float> sum{}, v;
    for (int k = 0; k < p.count; ++k) {
      load<float>(v, p.of[k].vector + i);
      add_product(sum, p.of[k].here + i, v);
    }
    load<float>(v, u + i);
    sum = a * v + sum;
    store<float>(out + i, sum);
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < p.count; ++k) add_plain(sum, p.of[k], i);
    out[i] = a * u[i] + sum;
  }
}

}  // namespace

unit_stencil::unit_stencil(const device& dev, const stencil_matrix& A)
    : upper_(dev, A.grid, {A.steps.begin() + 1, A.steps.end()}), ways_(couplings_of(A.grid, upper_.steps)) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      scale_stencil_cuda(dev, A, upper_);
      return;
    }
  const std::int64_t nx = A.grid.size[0];
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.grid.points())) schedule(static)
  for (std::int64_t line = 0; line < A.grid.lines(); ++line) {
    const line_place here = place_of_line(A.grid, line);
    for (std::size_t k = 0; k < upper_.steps.size(); ++k) {
      const step& s = upper_.steps[k];
      float* const out = upper_.of(k) + line * nx;
      if (!has_line(A.grid, here.beside(s))) {
        std::fill_n(out, nx, 0.0F);
        continue;
      }
      const std::int64_t begin = s[0] < 0 ? 1 : 0, end = s[0] > 0 ? nx - 1 : nx;  // points with that neighbour
      std::fill_n(out, begin, 0.0F);
      std::fill_n(out + end, nx - end, 0.0F);
      const std::int64_t first = line * nx + begin;
      const double* const diagonal = A.of(0) + first;
      scale_line(end - begin, A.of(k + 1) + first, diagonal, diagonal + distance(A.grid, s), out + begin);
    }
  }
}

std::int64_t unit_stencil::bytes() const {
  return static_cast<std::int64_t>(sizeof(float)) * (static_cast<std::int64_t>(upper_.steps.size()) + 2) *
         rows();
}

double unit_stencil::largest_ritz_value(const device& dev) const {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return largest_ritz_value_cuda(dev, upper_);
  const auto multiply = [&](const array<float>& x, array<float>& y) {
    combine(dev, {0, nullptr, 0, nullptr, 1, x.data(), y.data()});
  };
  return vouch::largest_ritz_value<float>(dev, rows(), multiply);
}

namespace {

constexpr std::int64_t chunk = 2048;  // rows

}  // namespace

void unit_stencil::combine(const device& dev, const combination& terms) const {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return combine_stencil_cuda(dev, steps_of(upper_), {0, rows()}, terms);
  const std::int64_t n = rows();
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, bytes() / 16)) schedule(static)
  for (std::int64_t first = 0; first < n; first += chunk)
    combine_range(terms, first, std::min(n, first + chunk));
}

// The other product follows the first at the distance of its farthest coupling, while entries and elements are in cache;
// rows at the ends of a thread's part, which need those of its neighbours, come last.
void unit_stencil::combine_both(const device& dev, const combination& one, const combination& other) const {
  const std::int64_t n = rows(), reach = ways_.count > 0 ? ways_[ways_.count - 1].distance : 0;
  const int threads = loop_threads(dev, bytes() / 16);
  if (dev.is_cuda() || n < 4 * reach * threads) {
    combine(dev, one);
    combine(dev, other);
    return;
  }
#pragma omp parallel firstprivate(ieee) num_threads(threads)
  {
    const std::int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
    const std::int64_t begin = n * part / parts, end = n * (part + 1) / parts;
    const std::int64_t start = begin == 0 ? 0 : begin + reach;
    std::int64_t done = start;
    for (std::int64_t first = begin; first < end; first += chunk) {
      const std::int64_t last = std::min(end, first + chunk), known = last == n ? n : last - reach;
      combine_range(one, first, last);
      if (known <= done) continue;
      combine_range(other, done, known);
      done = known;
    }
#pragma omp barrier
    combine_range(other, begin, start);
    combine_range(other, done, end);
  }
}

void unit_stencil::combine_range(const combination& terms, std::int64_t begin, std::int64_t end) const {
  const std::int64_t n = rows();
  // Which couplings rows have changes at few of them: those of a run are a range.
  std::size_t low = ways_.count, high = ways_.count;
  for (std::int64_t i = begin; i < end;) {
    while (low > 0 && ways_[low - 1].distance + i >= 0) --low;
    while (high > low && ways_[high - 1].distance + i >= n) --high;
    std::int64_t last = end;
    if (low > 0) last = std::min(last, -ways_[low - 1].distance);
    if (high > low) last = std::min(last, n - ways_[high - 1].distance);
    row_products p;
    p.terms = terms;
    if (terms.u != nullptr) p.terms.u += i;
    if (terms.v != nullptr) p.terms.v += i;
    p.terms.w += i;
    p.terms.out += i;
    for (std::size_t k = low; k < high; ++k) {
      p.entries[p.count] = upper_.of(ways_[k].diagonal) + i + ways_[k].shift;
      p.others[p.count++] = terms.w + i + ways_[k].distance;
    }
    combine_rows(p, last - i);
    i = last;
  }
}

weight_table table_of(std::span<const step> steps, const step_view<const float>& weights) {
  weight_table table{};
  for (std::size_t k = 0; k < steps.size(); ++k)
    table[place_in_table(steps[k][0], steps[k][1], steps[k][2])] = weights.of(k);
  return table;
}

unit_interpolation::unit_interpolation(const device& dev, const step_values<double>& P, const coarsening& by,
                                       const stencil_matrix& fine, const stencil_matrix& coarse)
    : fine_(fine.grid), by_(by), weights_(dev, P.grid, P.steps), table_(table_of(P.steps, weights().view())) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      scale_interpolation_cuda(dev, P, by, fine, coarse, weights_);
      return;
    }
  const std::int64_t n = P.grid.size[0], nx = fine_.size[0];
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, fine_.points())) schedule(static)
  for (std::int64_t line = 0; line < P.grid.lines(); ++line) {
    const line_place here = place_of_line(P.grid, line);
    for (std::size_t k = 0; k < P.steps.size(); ++k) {
      const step& s = P.steps[k];
      const line_place there{by[1] * here.y + s[1], by[2] * here.z + s[2]};
      float* const out = weights_.of(k) + line * n;
      if (!has_line(fine_, there)) {
        std::fill_n(out, n, 0.0F);
        continue;
      }
      const std::int64_t begin = s[0] < 0 ? 1 : 0, end = by[0] * (n - 1) + s[0] < nx ? n : n - 1;
      std::fill_n(out, begin, 0.0F);
      std::fill_n(out + end, n - end, 0.0F);
      scale_weights(end - begin, by[0], P.of(k) + line * n + begin,
                    fine.of(0) + first_of(fine_, there) + by[0] * begin + s[0], coarse.of(0) + line * n + begin,
                    out + begin);
    }
  }
}

std::int64_t unit_interpolation::bytes() const {
  return static_cast<std::int64_t>(sizeof(float)) *
         (static_cast<std::int64_t>(weights_.steps.size() + 1) * weights_.grid.points() + fine_.points());
}

void unit_interpolation::restrict_to(const device& dev, const float* fine, float* coarse) const {
  if constexpr (built_with_cuda)
    if (dev.is_cuda())
      return restrict_cuda(dev, fine_, weights_.grid, by_, table_, {0, weights_.grid.points()}, fine, coarse);
  const std::int64_t n = weights_.grid.size[0], nx = fine_.size[0], points = fine_.points();
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, points)) schedule(static)
  for (std::int64_t line = 0; line < weights_.grid.lines(); ++line) {
    const line_place here = place_of_line(weights_.grid, line);
    line_products p;
    std::int64_t first = points, last = 0;
    for (int z = 1 - by_[2]; z < by_[2]; ++z)
      for (int y = 1 - by_[1]; y < by_[1]; ++y) {
        const line_place there{by_[1] * here.y + y, by_[2] * here.z + z};
        if (!has_line(fine_, there)) continue;
        const std::int64_t from = first_of(fine_, there);
        first = std::min(first, from);
        last = std::max(last, from);
        p.add(table_, y, z, line * n, fine + from);
      }
    const std::int64_t readable = points - last;
    if (by_[0] == 2)
      restrict_halved(p, n, nx, first > 0, readable, coarse + line * n);
    else
      restrict_plain(p, n, coarse + line * n);
  }
}

void unit_interpolation::prolongate(const device& dev, const float* coarse, float a, const float* u,
                                    float* out) const {
  if constexpr (built_with_cuda)
    if (dev.is_cuda())
      return prolongate_cuda(dev, fine_, weights_.grid, by_, table_, {0, fine_.lines()}, coarse, a, u, out);
  const std::int64_t n = weights_.grid.size[0], nx = fine_.size[0];
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, fine_.points())) schedule(static)
  for (std::int64_t line = 0; line < fine_.lines(); ++line) {
    const line_place here = place_of_line(fine_, line);
    line_products p;
    std::int64_t last = 0;
    const auto offset = [](std::int64_t at, std::int64_t halved) { return halved == 2 ? at % 2 : 0; };
    const auto most_z = static_cast<int>(offset(here.z, by_[2])),
               most_y = static_cast<int>(offset(here.y, by_[1]));
    for (int z = -most_z; z <= most_z; z += 2)
      for (int y = -most_y; y <= most_y; y += 2) {
        const line_place there{(here.y - y) / by_[1], (here.z - z) / by_[2]};
        if (!has_line(weights_.grid, there)) continue;
        const std::int64_t from = first_of(weights_.grid, there);
        last = std::max(last, from);
        p.add(table_, y, z, from, coarse + from);
      }
    if (by_[0] == 2)
      prolongate_halved(p, n, nx, last + n < weights_.grid.points(), a, u + line * nx, out + line * nx);
    else
      prolongate_plain(p, n, a, u + line * nx, out + line * nx);
  }
}

}  // namespace vouch::multigrid
