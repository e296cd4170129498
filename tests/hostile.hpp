// tests/hostile.hpp -- floating-point environments in which a caller may leave us.
#pragma once
#include <gtest/gtest.h>

#include <cfenv>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace vouch::testing {

struct hostile_environment {
  std::string name;
  bool flush;         // subnormal results and operands are zero, as after linking with -ffast-math
  int rounding;       // FE_UPWARD, ...
  bool workers_only;  // the threads of OpenMP were created in it, the caller is not
};

inline std::vector<hostile_environment> hostile_environments() {
  std::vector<hostile_environment> all{{"upward", false, FE_UPWARD, false},
                                       {"towards zero", false, FE_TOWARDZERO, false},
                                       {"workers round downward", false, FE_DOWNWARD, true}};
#if defined(__x86_64__)
  all.push_back({"flushed", true, FE_TONEAREST, false});
  all.push_back({"workers flush", true, FE_TONEAREST, true});
#endif
  return all;
}

namespace hostile {

struct settings {
  std::fenv_t environment;
  settings() { std::fegetenv(&environment); }
  void put_back() const { std::fesetenv(&environment); }
};

inline void enter(const hostile_environment& how) {
  std::fesetround(how.rounding);
#if defined(__x86_64__)
  if (how.flush) _mm_setcsr(_mm_getcsr() | 0x8040U);
#endif
}

/// Whether the calling thread is in the rounding mode and flushes as how says.
inline bool stands(const hostile_environment& how) {
#if defined(__x86_64__)
  if (((_mm_getcsr() & 0x8040U) != 0) != how.flush) return false;
#endif
  return std::fegetround() == how.rounding;
}

}  // namespace hostile

/// What work() returns there; afterwards the caller's environment is as it was on entry. Results are compared
/// outside.
template <class Work>
auto in(const hostile_environment& how, Work work) {
  const hostile::settings usual;
  constexpr int workers = 4;
#pragma omp parallel num_threads(workers)
  hostile::enter(how);
  if (how.workers_only) usual.put_back();
  auto result = work();
  EXPECT_EQ(hostile::stands(how), !how.workers_only) << how.name;
#pragma omp parallel num_threads(workers)
  usual.put_back();
  return result;
}

}  // namespace vouch::testing
