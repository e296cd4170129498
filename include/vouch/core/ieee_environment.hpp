// vouch/core/ieee_environment.hpp -- the floating-point environment that every result of ours stands on.
#pragma once
#include <cfenv>
#include <cstdint>
#include <type_traits>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// While it lives, its thread rounds to nearest, keeps subnormal numbers and traps nothing, whatever the caller
/// set or a library built with -ffast-math left behind; its end puts back what it found.
///
/// A public function that computes begins with `const ieee_environment here;`. Every parallel region has the
/// clause firstprivate(ieee): a worker has the environment of the thread that happened to create it, and the
/// copy that OpenMP makes for each thread acts like any other. Functions of the caller that we call run in it,
/// too.
///
/// The compiler does not know that arithmetic depends on the control word. Begin and end are each a conditional
/// jump around a call, which no operation is moved across in practice (tests/core/ieee_environment_test.cpp).
///
/// Cost  A nanosecond, before which earlier operations end; 20 ns where the caller's environment is another one.
class ieee_environment {
 public:
  ieee_environment() noexcept : found_(control()) {
    if (settings(found_) != needed) [[unlikely]]
      set(needed);
  }
  ieee_environment(const ieee_environment&) noexcept : ieee_environment() {}
  ieee_environment& operator=(const ieee_environment&) = delete;
  constexpr ~ieee_environment() {
    if (!std::is_constant_evaluated() && settings(control()) != settings(found_)) [[unlikely]]
      set(found_);
  }

  /// Only there to be copied; does nothing itself.
  struct original {};
  constexpr explicit ieee_environment(original) noexcept {}

  /// Whether the calling thread has what is needed already.
  [[gnu::always_inline]] static bool holds() noexcept { return settings(control()) == needed; }
  /// Whether not, where a program runs: no compiler that evaluates a constant is elsewhere.
  [[gnu::always_inline]] static constexpr bool is_elsewhere() noexcept {
    return !std::is_constant_evaluated() && !holds();
  }

 private:
#if defined(__x86_64__)
  using word = std::uint32_t;
  static constexpr word needed = 0x1f80;                            // all exceptions masked
  static word settings(word control) { return control & 0xffc0U; }  // all but the flags of what happened
  static word control() { return __builtin_ia32_stmxcsr(); }
#elif defined(__aarch64__)
  using word = std::uint64_t;
  static constexpr word needed = 0;
  // Rounding mode, flushing to zero in its three forms, traps.
  static word settings(word control) { return control & 0x01c09f03U; }
  static word control() {
    word value;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(value));
    return value;
  }
#else
  using word = int;
  static constexpr word needed = FE_TONEAREST;
  static word settings(word control) { return control; }
  static word control() { return std::fegetround(); }
#endif
  static void set(word control) noexcept;

  word found_{};
};

/// For the clause firstprivate(ieee).
inline constexpr ieee_environment ieee{ieee_environment::original{}};

/// work() in it: a call, so that nothing moves into it or out of it.
template <class Work>
[[gnu::noinline]] auto in_ieee_environment(const Work& work) {
  const ieee_environment here;
  return work();
}

}  // namespace vouch

// First in a function that a header defines, with the call that led to it: where the program's environment is
// another one, the call is made once more in ours. What the compiler moves up past the question was for nothing
// then. In the library callers have seen to it.
// Not asked where `immune` holds: the result is then the same in every environment.
#if defined(VOUCH_LIBRARY) || defined(__CUDA_ARCH__)
#define VOUCH_IN_IEEE_UNLESS(immune, call)
#else
#define VOUCH_IN_IEEE_UNLESS(immune, call)                               \
  if (!(immune) && vouch::ieee_environment::is_elsewhere()) [[unlikely]] \
  return vouch::in_ieee_environment([=] { return call; })
#endif
#define VOUCH_IN_IEEE(call) VOUCH_IN_IEEE_UNLESS(false, call)
