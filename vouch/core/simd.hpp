// vouch/core/simd.hpp -- vectors of 64 bytes in portable source, and functions compiled for several
// instruction sets at once; private.
//
// Sums over lanes have a written order and products are never contracted, so every clone gives the same bits.
#pragma once
#include <cstring>

#include <vouch/core/types.hpp>

// A function so marked exists once for each instruction set; the loader picks. Sanitizers cannot live with
// the loader's early call.
#if defined(__x86_64__) && !defined(VOUCH_SANITIZED)
#define VOUCH_SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
// The same for functions that fuse products and sums by name.
#define VOUCH_FMA_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define VOUCH_SIMD_CLONES
#define VOUCH_FMA_CLONES
#endif

// For the bodies called from such functions: they must take their instruction set.
#define VOUCH_SIMD_INLINE [[gnu::always_inline]] inline

namespace vouch {

template <real T>
struct simd {
  typedef T type __attribute__((vector_size(64)));
  static constexpr int width = 64 / static_cast<int>(sizeof(T));
};

/// 8 doubles or 16 floats; + - * act lane by lane, a scalar operand is spread.
template <real T>
using lanes = typename simd<T>::type;

template <real T>
VOUCH_SIMD_INLINE void load(lanes<T>& v, const T* from) {
  std::memcpy(&v, from, sizeof v);
}

template <real T>
VOUCH_SIMD_INLINE void store(T* to, const lanes<T>& v) {
  std::memcpy(to, &v, sizeof v);
}

/// Lane by lane from the first, in double.
template <real T>
VOUCH_SIMD_INLINE double total(const lanes<T>& v) {
  double sum = 0;
  for (int l = 0; l < simd<T>::width; ++l) sum += v[l];
  return sum;
}

}  // namespace vouch
