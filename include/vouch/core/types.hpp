// vouch/core/types.hpp -- the scalar concept and small integer helpers every room uses.
#pragma once
#include <concepts>
#include <cstdint>

#include <vouch/core/visibility.hpp>

// Functions that headers define. In a program, which may be compiled with other options than ours, they have
// names of their own: a linker that keeps one copy of each then puts none of the program's into the library.
// VOUCH_LIBRARY is defined where the library itself is compiled; nvcc knows no such tags of constructors.
#if defined(VOUCH_LIBRARY) || defined(__CUDACC__)
#define VOUCH_SIDE
#else
#define VOUCH_SIDE __attribute__((abi_tag("program")))
#endif
#if defined(__CUDACC__)
#define VOUCH_HOST_DEVICE VOUCH_SIDE __host__ __device__
#else
#define VOUCH_HOST_DEVICE VOUCH_SIDE
#endif

// Between these two a program's compiler rounds every operation as it stands, whatever parts of -ffast-math it was
// given. What g++ does not tell, a pragma before the include, is found by compiled_as_written() (rounding_host.hpp).
#if defined(__clang__) && !defined(VOUCH_LIBRARY) && !defined(__CUDACC__)
#define VOUCH_AS_WRITTEN_BEGIN _Pragma("float_control(precise, on, push)")
#define VOUCH_AS_WRITTEN_END _Pragma("float_control(pop)")
#elif (defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)) && !defined(__CUDACC__)
#define VOUCH_OPTIONS _Pragma("GCC optimize(\"no-unsafe-math-optimizations,no-reciprocal-math\")")
#define VOUCH_AS_WRITTEN_BEGIN _Pragma("GCC push_options") VOUCH_OPTIONS
#define VOUCH_AS_WRITTEN_END _Pragma("GCC pop_options")
#else
#define VOUCH_AS_WRITTEN_BEGIN
#define VOUCH_AS_WRITTEN_END
#endif

namespace VOUCH_PUBLIC vouch {

template <class T>
concept real = std::same_as<T, float> || std::same_as<T, double>;

/// Rounds a/b up, for a >= 0 and b > 0.
template <std::integral I>
VOUCH_HOST_DEVICE constexpr I ceil_div(I a, I b) {
  return (a + b - 1) / b;
}

}  // namespace vouch
