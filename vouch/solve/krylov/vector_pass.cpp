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
  const T* in[combination<T>::most_inputs];
  T re[combination<T>::most_inputs], im[combination<T>::most_inputs];
};

template <real T>
terms<T> terms_of(const combination<T>& c, int output) {
  terms<T> all;
  for (int k = 0; k < c.inputs; ++k) {
    if (c.re[output][k] == 0 && c.im[output][k] == 0) continue;
    all.in[all.count] = c.in[k];
    all.re[all.count] = c.re[output][k];
    all.im[all.count++] = c.im[output][k];
  }
  return all;
}

// made += terms k to k + Group - 1, of elements i to i + n - 1.
template <real T, int Group>
VOUCH_SIMD_INLINE void add_terms(const terms<T>& all, int k, std::int64_t i, std::int64_t n,
                                 T* __restrict__ made) {
  const T* in[Group];
  T re[Group];
  for (int g = 0; g < Group; ++g) {
    in[g] = all.in[k + g] + i;
    re[g] = all.re[k + g];
  }
  for (std::int64_t e = 0; e < n; ++e) {
    T sum = made[e];
    for (int g = 0; g < Group; ++g) sum += re[g] * in[g][e];
    made[e] = sum;
  }
}

template <real T>
VOUCH_SIMD_INLINE void add_complex_term(const terms<T>& all, int k, std::int64_t i, std::int64_t n,
                                        T* __restrict__ made) {
  const T* const in = all.in[k] + i;
  const T re = all.re[k], im = all.im[k];
  for (std::int64_t e = 0; e < n; e += 2) {
    const T a = in[e], b = in[e + 1];
    made[e] += re * a - im * b;
    made[e + 1] += re * b + im * a;
  }
}

template <real T>
VOUCH_SIMD_INLINE void make_output(const terms<T>& all, bool is_complex, std::int64_t i, std::int64_t n,
                                   T* made) {
  std::fill_n(made, n, T{});
  int k = 0;
  if (is_complex) {
    for (; k < all.count; ++k) add_complex_term<T>(all, k, i, n, made);
    return;
  }
  for (; k + 4 <= all.count; k += 4) add_terms<T, 4>(all, k, i, n, made);
  for (; k < all.count; ++k) add_terms<T, 1>(all, k, i, n, made);
}

// Elements i to i + n - 1, n at most sum_piece; their part of the sums.
template <real T>
VOUCH_SIMD_INLINE void combine_piece(const combination<T>& c, const terms<T>* all, bool is_complex,
                                     std::int64_t i, std::int64_t n, double* sums) {
  alignas(64) T made[combination<T>::most_outputs][block];
  lanes<T> square{}, alike[combination<T>::most_probes] = {}, crossed[combination<T>::most_probes] = {};
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t count = std::min(block, n - first), at = i + first;
    for (int j = 0; j < c.outputs; ++j) make_output<T>(all[j], is_complex, at, count, made[j]);
    if (sums != nullptr) {
      add_products<T>(made[0], made[0], count, square);
      // Before what is probed with is written.
      for (int p = 0; p < c.probes; ++p) {
        add_products<T>(c.probe[p] + at, made[0], count, alike[p]);
        if (is_complex) add_crossed_products<T>(c.probe[p] + at, made[0], count, crossed[p]);
      }
    }
    for (int j = 0; j < c.outputs; ++j) std::copy_n(made[j], count, c.out[j] + at);
  }
  if (sums == nullptr) return;
  *sums++ = total<T>(square);
  for (int p = 0; p < c.probes; ++p) {
    *sums++ = total<T>(alike[p]);
    if (is_complex) *sums++ = alternating_total<T>(crossed[p]);
  }
}

template <real T>
VOUCH_SIMD_INLINE void columns_piece(const column_products<T>& c, bool is_complex, std::int64_t i,
                                     std::int64_t n, double* sums) {
  using columns = column_products<T>;
  lanes<T> alike[columns::most_columns][columns::most_vectors] = {};
  lanes<T> crossed[columns::most_columns][columns::most_vectors] = {};
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t count = std::min(block, n - first), at = i + first;
    for (int k = 0; k < c.columns; ++k)
      for (int v = 0; v < c.vectors; ++v) {
        add_products<T>(c.column[k] + at, c.vector[v] + at, count, alike[k][v]);
        if (is_complex) add_crossed_products<T>(c.column[k] + at, c.vector[v] + at, count, crossed[k][v]);
      }
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
  for (int j = 0; j < c.outputs; ++j) all[j] = terms_of(c, j);
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

}  // namespace vouch
