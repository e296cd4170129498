// vouch/fingerprint/batch.hpp -- one print after the other, by all threads; private.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::fingerprint {

/// Throws shape_error unless an operand has `each` elements for every one of n prints.
inline void require_elements(const char* stage, const char* operand, std::size_t elements, std::size_t n,
                             std::size_t each) {
  if (elements != n * each)
    throw shape_error(std::string(stage) + ": " + std::to_string(n) + " prints have " +
                      std::to_string(n * each) + " elements of " + operand + ", not " +
                      std::to_string(elements));
}

/// How many prints an operand of so many elements is.
inline std::size_t prints_in(const char* stage, const char* operand, std::size_t elements, std::size_t each) {
  require_elements(stage, operand, elements, elements / each, each);
  return elements / each;
}

/// work(i) for each print; it must not throw.
template <class Work>
void for_each_print(const device& dev, std::size_t prints, const Work& work) {
  const auto count = static_cast<std::int64_t>(prints);
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(count > 1 ? dev.threads() : 1) schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i)
    if (!stop.requested()) work(static_cast<std::size_t>(i));
  stop.check();
}

}  // namespace vouch::fingerprint
