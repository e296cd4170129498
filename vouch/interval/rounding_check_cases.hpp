// vouch/interval/rounding_check_cases.hpp -- directed operations with known results; private to rounding_check.cpp.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/interval/rounding.hpp>

namespace vouch::rounding {

/// The operands; read from memory, so that no compiler evaluates the operations beforehand.
template <real T>
struct check_operands {
  T one = 1;
  T two = 2;
  T three = 3;
  T epsilon = std::numeric_limits<T>::epsilon();
  T tiny = least_positive<T>;
  T least_normal = std::numeric_limits<T>::min();
  T most = largest<T>;
};

/// 1/3 and the root of 2, rounded down.
template <real T>
inline constexpr T third_down = sizeof(T) == 8 ? static_cast<T>(0x1.5555555555555p-2)
                                               : static_cast<T>(0x1.555554p-2);
template <real T>
inline constexpr T root_down = sizeof(T) == 8 ? static_cast<T>(0x1.6a09e667f3bccp+0)
                                              : static_cast<T>(0x1.6a09e6p+0);

inline constexpr const char* checked_operations[] = {
    "add", "sub", "mul", "div", "sqrt", "fma", "gradual underflow"};

/// One bit for each operation of checked_operations that is wrong.
template <real T>
VOUCH_HOST_DEVICE inline unsigned wrong_operations(const volatile check_operands<T>& v) {
  const T one = v.one;
  const T two = v.two;
  const T three = v.three;
  const T epsilon = v.epsilon;
  const T tiny = v.tiny;
  const T least = v.least_normal;
  const T most = v.most;
  const T above = one + epsilon;
  const bool add = add_down(one, tiny) == one && add_up(one, tiny) == above && add_down(most, most) == most &&
                   add_up(most, most) == infinity<T> && add_up(-one, -tiny) == -one;
  const bool sub =
      sub_up(above, tiny) == above && sub_down(above, tiny) == one && sub_down(-most, most) < -most;
  const bool mul = mul_down(above, above) == one + 2 * epsilon && mul_up(above, above) == one + 3 * epsilon &&
                   mul_up(tiny, tiny) == tiny && mul_down(tiny, tiny) == 0 && mul_down(most, two) == most;
  const bool div = div_down(one, three) == third_down<T> && div_up(one, three) == third_down<T> + epsilon / 4 &&
                   div_up(tiny, three) == tiny && div_down(tiny, two) == 0;
  const bool root = sqrt_down(two) == root_down<T> && sqrt_up(two) == root_down<T> + epsilon;
  const bool fused = fma_up(above, above, -above) == epsilon + epsilon * epsilon &&
                     fma_down(tiny, tiny, one) == one && fma_up(tiny, tiny, one) == above;
  const bool gradual = add_down(least + tiny, -least) == tiny && mul_up(least, one / two) == least / 2;
  return (add ? 0U : 1U) | (sub ? 0U : 2U) | (mul ? 0U : 4U) | (div ? 0U : 8U) | (root ? 0U : 16U) |
         (fused ? 0U : 32U) | (gradual ? 0U : 64U);
}

/// The same on a GPU; defined only in CUDA builds.
unsigned wrong_operations_cuda(const device& dev);

}  // namespace vouch::rounding
