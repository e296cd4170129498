// vouch/fingerprint/batch.hpp -- one print after the other, by all threads; private.
#pragma once
#include <omp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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

/// work(i, scratch) for each print; a thread makes its Scratch when it first needs one, and keeps it.
///
/// Throws  what work threw for the first print, in their order, for which it threw: those before it are done
///         cancelled
template <class Scratch, class Work>
void for_each_print(const device& dev, std::size_t prints, const Work& work) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const auto count = static_cast<std::int64_t>(prints);
  const int team = count > 1 ? dev.threads() : 1;
  std::vector<std::optional<Scratch>> kept(static_cast<std::size_t>(team));
  std::atomic<std::int64_t> failed = none;
  std::exception_ptr failure;
  std::mutex failing;
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > failed.load() || stop.requested()) continue;
    try {
      std::optional<Scratch>& own = kept[static_cast<std::size_t>(omp_get_thread_num())];
      if (!own) own.emplace();
      work(static_cast<std::size_t>(i), *own);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (i < failed.load()) {
        failed.store(i);
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  stop.check();
}

/// The same of work(i).
template <class Work>
void for_each_print(const device& dev, std::size_t prints, const Work& work) {
  struct nothing {};
  for_each_print<nothing>(dev, prints, [&](std::size_t i, nothing&) { work(i); });
}

}  // namespace vouch::fingerprint
