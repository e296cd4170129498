#include <vouch/solve/krylov/vector_pass.hpp>

#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/solve/krylov/sum_pieces.hpp>
#include <vouch/solve/loop/lane_sums.hpp>

namespace vouch {
namespace {

constexpr std::int64_t block = 512;  // elements whose outputs stay in the first-level cache

// What one output is made of: inputs with a coefficient other than zero.
template <real T>
struct terms {
  int count = 0;
  bool aliased = false;  // what stands in its place is needed once more
  const T* in[combination<T>::most_inputs];
  T re[combination<T>::most_inputs], im[combination<T>::most_inputs];
};

template <real T>
terms<T> terms_of(const combination<T>& c, bool is_complex, int output) {
  terms<T> all;
  for (int k = 0; k < c.inputs; ++k) {
    if (c.re[output][k] == 0 && c.im[output][k] == 0) continue;
    all.in[all.count] = c.in[k];
    all.re[all.count] = c.re[output][k];
    all.im[all.count++] = c.im[output][k];
  }
  const T* const out = c.out[output];
  for (int k = 0; k < c.inputs; ++k)
    for (int j = output + 1; j < c.outputs; ++j)
      if (c.in[k] == out && (c.re[j][k] != 0 || c.im[j][k] != 0)) all.aliased = true;
  if (std::find(c.probe, c.probe + c.probes, out) != c.probe + c.probes) all.aliased = true;
  // By its own terms behind the first pass over it.
  const int together = is_complex ? 1 : 4;
  for (int k = together; k < all.count; ++k) all.aliased = all.aliased || all.in[k] == out;
  return all;
}

// made := terms k to k + Group - 1, or made + these, of elements i to i + n - 1; one of the terms may be made itself.
template <real T, int Group, bool First>
VOUCH_SIMD_INLINE void add_terms(const terms<T>& all, int k, std::int64_t i, std::int64_t n, T* made) {
  const T* in[Group];
  T re[Group];
  for (int g = 0; g < Group; ++g) {
    in[g] = all.in[k + g] + i;
    re[g] = all.re[k + g];
  }
#pragma GCC ivdep
  for (std::int64_t e = 0; e < n; ++e) {
    T sum = First ? re[0] * in[0][e] : made[e];
    for (int g = First ? 1 : 0; g < Group; ++g) sum += re[g] * in[g][e];
    made[e] = sum;
  }
}
template <real T, bool First>
VOUCH_SIMD_INLINE void add_some_terms(const terms<T>& all, int k, int group, std::int64_t i, std::int64_t n,
                                      T* made) {
  if (group == 1) return add_terms<T, 1, First>(all, k, i, n, made);
  if (group == 2) return add_terms<T, 2, First>(all, k, i, n, made);
  if (group == 3) return add_terms<T, 3, First>(all, k, i, n, made);
  add_terms<T, 4, First>(all, k, i, n, made);
}

template <real T, bool First>
VOUCH_SIMD_INLINE void add_complex_term(const terms<T>& all, int k, std::int64_t i, std::int64_t n, T* made) {
  const T* const in = all.in[k] + i;
  const T re = all.re[k], im = all.im[k];
#pragma GCC ivdep
  for (std::int64_t e = 0; e < n; e += 2) {
    const T a = in[e], b = in[e + 1];
    made[e] = (First ? T{} : made[e]) + (re * a - im * b);
    made[e + 1] = (First ? T{} : made[e + 1]) + (re * b + im * a);
  }
}

// Into `made`, which only the first terms may stand in.
template <real T>
VOUCH_SIMD_INLINE void make_output(const terms<T>& all, bool is_complex, std::int64_t i, std::int64_t n,
                                   T* made) {
  if (all.count == 0) {
    std::fill_n(made, n, T{});
  } else if (is_complex) {
    add_complex_term<T, true>(all, 0, i, n, made);
    for (int k = 1; k < all.count; ++k) add_complex_term<T, false>(all, k, i, n, made);
  } else {
    add_some_terms<T, true>(all, 0, std::min(4, all.count), i, n, made);
    for (int k = 4; k < all.count; k += 4)
      add_some_terms<T, false>(all, k, std::min(4, all.count - k), i, n, made);
  }
}

// Elements i to i + n - 1, n at most sum_piece; their part of the sums.
template <real T>
VOUCH_SIMD_INLINE void combine_piece(const combination<T>& c, const terms<T>* all, bool is_complex,
                                     std::int64_t i, std::int64_t n, double* sums) {
  alignas(64) T buffer[combination<T>::most_outputs][block];
  lanes<T> square{}, alike[combination<T>::most_probes] = {}, crossed[combination<T>::most_probes] = {};
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t count = std::min(block, n - first), at = i + first;
    for (int j = 0; j < c.outputs; ++j)
      make_output<T>(all[j], is_complex, at, count, all[j].aliased ? buffer[j] : c.out[j] + at);
    if (sums != nullptr) {
      const T* const made = all[0].aliased ? buffer[0] : c.out[0] + at;
      add_products<T>(made, made, count, square);
      for (int p = 0; p < c.probes; ++p) {
        const T* const probe = c.probe[p] != nullptr ? c.probe[p] + at : made;
        add_products<T>(probe, made, count, alike[p]);
        if (is_complex) add_crossed_products<T>(probe, made, count, crossed[p]);
      }
    }
    for (int j = 0; j < combination<T>::most_outputs; ++j)
      if (j < c.outputs && all[j].aliased) std::copy_n(buffer[j], count, c.out[j] + at);
  }
  if (sums == nullptr) return;
  *sums++ = total<T>(square);
  for (int p = 0; p < c.probes; ++p) {
    *sums++ = c.transposed ? alternating_total<T>(alike[p]) : total<T>(alike[p]);
    if (is_complex) *sums++ = c.transposed ? total<T>(crossed[p]) : alternating_total<T>(crossed[p]);
  }
}

// Products of Columns columns from the k-th on with all Vectors vectors, which are in the first-level cache.
template <real T, int Columns, int Vectors, class Sums>
VOUCH_SIMD_INLINE void add_block(const column_products<T>& c, int k, std::int64_t at, std::int64_t n,
                                 Sums& alike) {
  const T* from[Columns + Vectors];
  lanes<T> s[Columns][Vectors];
  for (int m = 0; m < Columns; ++m) from[m] = c.column[k + m] + at;
  for (int v = 0; v < Vectors; ++v) from[Columns + v] = c.vector[v] + at;
  for (int m = 0; m < Columns; ++m)
    for (int v = 0; v < Vectors; ++v) s[m][v] = alike[k + m][v];
  lane_by_lane<T, Columns + Vectors>(
      from, n, [&](const lanes<T>(&x)[Columns + Vectors]) __attribute__((always_inline)) {
        for (int m = 0; m < Columns; ++m)
          for (int v = 0; v < Vectors; ++v) s[m][v] += x[m] * x[Columns + v];
      });
  for (int m = 0; m < Columns; ++m)
    for (int v = 0; v < Vectors; ++v) alike[k + m][v] = s[m][v];
}

template <real T>
VOUCH_SIMD_INLINE void columns_piece(const column_products<T>& c, bool is_complex, std::int64_t i,
                                     std::int64_t n, double* sums) {
  using columns = column_products<T>;
  lanes<T> alike[columns::most_columns][columns::most_vectors] = {};
  lanes<T> crossed[columns::most_columns][columns::most_vectors] = {};
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t count = std::min(block, n - first), at = i + first;
    int k = 0;
    if (c.vectors == 2) {
      for (; k + 2 <= c.columns; k += 2) add_block<T, 2, 2>(c, k, at, count, alike);
      if (k < c.columns) add_block<T, 1, 2>(c, k, at, count, alike);
    } else {
      for (; k + 4 <= c.columns; k += 4) add_block<T, 4, 1>(c, k, at, count, alike);
      for (; k < c.columns; ++k) add_block<T, 1, 1>(c, k, at, count, alike);
    }
    for (k = 0; is_complex && k < c.columns; ++k)
      for (int v = 0; v < c.vectors; ++v)
        add_crossed_products<T>(c.column[k] + at, c.vector[v] + at, count, crossed[k][v]);
  }
  for (int k = 0; k < c.columns; ++k)
    for (int v = 0; v < c.vectors; ++v) {
      *sums++ = total<T>(alike[k][v]);
      if (is_complex) *sums++ = alternating_total<T>(crossed[k][v]);
    }
}

#define VOUCH_PIECES(T)                                                                          \
  VOUCH_SIMD_CLONES void of_piece(const combination<T>& c, const terms<T>* all, bool is_complex, \
                                  std::int64_t i, std::int64_t n, double* sums) {                \
    combine_piece<T>(c, all, is_complex, i, n, sums);                                            \
  }                                                                                              \
  VOUCH_SIMD_CLONES void of_piece(const column_products<T>& c, bool is_complex, std::int64_t i,  \
                                  std::int64_t n, double* sums) {                                \
    columns_piece<T>(c, is_complex, i, n, sums);                                                 \
  }
VOUCH_PIECES(float)
VOUCH_PIECES(double)
#undef VOUCH_PIECES

}  // namespace

template <real T>
void combine(const device& dev, const combination<T>& c, bool is_complex, std::int64_t n, sum_room& room,
             double* sums) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return combine_cuda(dev, c, is_complex, n, room, sums);
  terms<T> all[combination<T>::most_outputs];
  for (int j = 0; j < c.outputs; ++j) all[j] = terms_of(c, is_complex, j);
  in_pieces(
      dev, n, sum_piece, n, 1 + c.probes * (is_complex ? 2 : 1), room, sums,
      [&](std::int64_t i, std::int64_t count, double* part) { of_piece(c, all, is_complex, i, count, part); });
}

template <real T>
void multiply_columns(const device& dev, const column_products<T>& c, bool is_complex, std::int64_t n,
                      sum_room& room, double* sums) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_columns_cuda(dev, c, is_complex, n, room, sums);
  in_pieces(dev, n, sum_piece, n, c.columns * c.vectors * (is_complex ? 2 : 1), room, sums,
            [&](std::int64_t i, std::int64_t count, double* part) { of_piece(c, is_complex, i, count, part); });
}

#define VOUCH_VECTOR_PASS(T)                                                                              \
  template void combine(const device&, const combination<T>&, bool, std::int64_t, sum_room&, double*);    \
  template void multiply_columns(const device&, const column_products<T>&, bool, std::int64_t, sum_room&, \
                                 double*);
VOUCH_VECTOR_PASS(float)
VOUCH_VECTOR_PASS(double)
#undef VOUCH_VECTOR_PASS

sum_room::sum_room(const device& dev) : dev_(dev), ticket_(array<unsigned>::zeros(dev, dev.is_cuda() ? 1 : 0)) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) mailbox_ = pinned_sums_cuda();
}

double* sum_room::parts(std::int64_t count) {
  if (parts_.size() < count) parts_ = array<double>(dev_, count);
  return parts_.data();
}

}  // namespace vouch
