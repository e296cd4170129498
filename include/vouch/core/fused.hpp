// vouch/core/fused.hpp -- a product and a sum, rounded once; a detail of public headers.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

double fused_in_library(double a, double b, double c);
float fused_in_library(float a, float b, float c);

// Where a program is compiled with -funsafe-math-optimizations for a processor without the instruction, clang
// makes two roundings of std::fma, and no macro tells.
#if defined(__clang__) && !defined(__FMA__) && !defined(VOUCH_LIBRARY) && !defined(__CUDACC__)
#define VOUCH_FUSED fused_in_library
#else
#define VOUCH_FUSED std::fma
#endif

VOUCH_HOST_DEVICE inline double fused(double a, double b, double c) { return VOUCH_FUSED(a, b, c); }
VOUCH_HOST_DEVICE inline float fused(float a, float b, float c) { return VOUCH_FUSED(a, b, c); }

#undef VOUCH_FUSED

}  // namespace vouch
