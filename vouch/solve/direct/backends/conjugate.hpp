// vouch/solve/direct/backends/conjugate.hpp -- complex numbers as modules take them, in place.
#pragma once
#include <cstdint>

inline void conjugate(double* numbers, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) numbers[2 * k + 1] = -numbers[2 * k + 1];
}
