// vouch/solve/krylov/vector_pass.hpp -- several vectors made of others, and inner products of what comes out, in one pass
// over the memory; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/krylov/sum_room.hpp>

namespace vouch {

// Scalars are real, or complex for vectors of complex numbers by their parts in turns; n counts elements, parts that is.
// Vectors are contiguous, on dev. Sums have an order that n alone fixes: on the CPU the same bits for any number of
// threads, on a GPU on every GPU.

/// out[j] := the sum of re[j][k] + i im[j][k] times in[k], of the vectors as they were: an output may be an input as well,
/// overlaps no other. Where sums are wanted: the square of the first output's norm, and each probe* times it; that of
/// nullptr is itself.
template <real T>
struct combination {
  static constexpr int most_inputs = 40, most_outputs = 4, most_probes = 4;
  int inputs = 0, outputs = 0, probes = 0;
  bool transposed = false;  // complex products are probe^T times it
  const T* in[most_inputs];
  T* out[most_outputs];
  const T* probe[most_probes];
  T re[most_outputs][most_inputs];
  T im[most_outputs][most_inputs];
};

/// sums: one, then `probes` of one part or two; nullptr where they are not wanted. With sums a GPU is waited for.
///
/// Cost    Every input, probe and output once.
template <real T>
void combine(const device& dev, const combination<T>& c, bool is_complex, std::int64_t n, sum_room& room,
             double* sums);

/// column[k]* vector[v] for all of them.
template <real T>
struct column_products {
  static constexpr int most_columns = 32, most_vectors = 2;
  int columns = 0, vectors = 0;
  const T* column[most_columns];
  const T* vector[most_vectors];
};

/// sums[(k * vectors + v) * parts] and, of complex scalars, the imaginary part behind it; waits for a GPU.
///
/// Cost    Every column and vector once.
template <real T>
void multiply_columns(const device& dev, const column_products<T>& c, bool is_complex, std::int64_t n,
                      sum_room& room, double* sums);

template <real T>
void combine_cuda(const device& dev, const combination<T>& c, bool is_complex, std::int64_t n, sum_room& room,
                  double* sums);
template <real T>
void multiply_columns_cuda(const device& dev, const column_products<T>& c, bool is_complex, std::int64_t n,
                           sum_room& room, double* sums);

}  // namespace vouch
