// vouch/interval/canary.hpp -- refuses to compute bounds where the processor's state would make them wrong.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>

namespace vouch {

/// Evaluates every directed operation, for float and double, on operands whose results are known: rounding in
/// both directions, subnormal results and overflow. For the start of a program or of a device's use.
///
/// Cost    Below a microsecond on the CPU; one launch on a GPU.
/// Throws  value_error   an operation gives another result; the text names it
///         device_error  the launch failed
void check_directed_rounding(const device& dev);

namespace rounding {

/// The calling thread's floating-point control word, the bits of it that rounding to nearest with subnormal
/// numbers needs to be 0.
inline std::uint64_t harmful_control_bits() {
#if defined(__x86_64__)
  constexpr unsigned rounding_mode = 0x6000;
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x0040;
  return __builtin_ia32_stmxcsr() & (rounding_mode | flush_to_zero | denormals_are_zero);
#elif defined(__aarch64__)
  std::uint64_t control;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(control));
  constexpr std::uint64_t rounding_mode = std::uint64_t{3} << 22;
  constexpr std::uint64_t flush_to_zero = std::uint64_t{1} << 24;
  return control & (rounding_mode | flush_to_zero);
#else
  volatile double tiny = 0x1p-1074;
  volatile double one = 1;
  const bool subnormal = tiny * one != 0 && tiny == 0x1p-1074;
  const bool nearest = one + 0x1p-53 == 1 && -one - 0x1p-53 == -1 && one + 0x1.8p-53 == 1 + 0x1p-52;
  return !(subnormal && nearest);
#endif
}

/// Says which bit it was.
[[noreturn]] void throw_harmful_environment();

}  // namespace rounding

/// For the entry of every host kernel that computes bounds, in each of its threads.
///
/// Cost    A few nanoseconds.
/// Throws  value_error  the calling thread does not round to nearest, flushes subnormal results to zero or
/// takes
///                      subnormal operands for zero
inline void require_ieee_environment() {
  if (rounding::harmful_control_bits() != 0) [[unlikely]]
    rounding::throw_harmful_environment();
}

}  // namespace vouch
