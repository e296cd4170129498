#include <vouch/core/ieee_environment.hpp>

namespace vouch {

void ieee_environment::set(word control) noexcept {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(control);
#elif defined(__aarch64__)
  __asm__ __volatile__("msr fpcr, %0" : : "r"(control) : "memory");
#else
  std::fesetround(control);
#endif
}

}  // namespace vouch
